// LittleWork: the window of a filter inside of loops that stay on the host is not worth a check, let alone a launch. A small nest of
// parameters is left to the run-time library, and one beside a large nest over the same array goes with it.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes=pollyrs -disable-output %t.ll -pass-remarks=pollyrs -pass-remarks-missed=pollyrs 2>&1 | FileCheck %s
// RUN: %opt -passes="pollyrs<min-work=0>" -disable-output %t.ll -pass-remarks=pollyrs 2>&1 | FileCheck %s --check-prefix=ANY

extern int next(int);

int window(int n, const int *G) {
  int s = 0;
  for (int i = next(0); i < n; i = next(i))
    for (int a = 0; a < 3; a++)
      for (int b = 0; b < 3; b++)
        s += G[(i + a) * n + b];
  return s;
}

// CHECK: little-work.c:13:{{.*}} not offloaded: too little work for the device: at most {{[0-9]+}} executions of statements
// ANY: little-work.c:13:{{.*}} offloaded window

void parameter(int n, int *A) {
  for (int i = 0; i < n; i++)
    A[i] = 1;
}

// CHECK: little-work.c:23:{{.*}} offloaded parameter

void border(int n, float *restrict A, const float *restrict B) {
  for (int t = next(0); t < n; t = next(t)) {
    for (int i = 0; i < n; i++)
      A[i] = B[i] * t;
    if (next(t) > 3)
      for (int i = 0; i < 8; i++)
        A[i] += 1;
  }
}

// CHECK-NOT: too little work
// CHECK: little-work.c:34:{{.*}} offloaded border.2
