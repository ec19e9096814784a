// ControlFlow: the inner loop has two entries.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-detect>" -disable-output %t.ll 2>&1 | FileCheck %s --match-full-lines

void f(int n, int k, float *A) {
  for (int t = 0; t < n; t++) {
    int i = 0;
    if (k > t)
      goto middle;
  top:
    A[2 * i] = 1;
  middle:
    A[2 * i + 1] = 2;
    if (++i < n)
      goto top;
  }
}

// CHECK: rejected ControlFlow at {{.*}}control-flow.c:{{[0-9]+}}: the control flow is not structured
