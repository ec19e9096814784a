// Loops over the same range with a call between: jump threading tests `n > 0` once, so that the ways with and without the first loop have
// the call each and meet again before the last loops. What is behind the meeting point is found once.
//
// RUN: %clang -O1 -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes='print<pollyrs-detect>' -disable-output %t.ll 2>&1 | FileCheck %s
// RUN: %opt -passes=pollyrs -pass-remarks=pollyrs -pass-remarks-missed=pollyrs -disable-output %t.ll 2>&1 | FileCheck --check-prefix=REMARK %s

int puts(const char *);

void f(int n, double *restrict A, double *restrict B) {
  for (int i = 0; i < n; i++)
    A[i] = A[i] * 0.5 + B[i];
  puts("a");
  for (int i = 0; i < n; i++)
    B[i] = A[i] * 0.5;
  for (int i = 0; i < n; i++)
    A[i] += B[i];
}

// CHECK: scop f.1 {{.*}} 1 loops
// CHECK: scop f.2 {{.*}} 1 loops
// CHECK: scop f.3 {{.*}} 1 loops
// CHECK-NOT: scop

// REMARK-NOT: internal error
// REMARK-COUNT-3: offloaded f.
// REMARK-NOT: internal error
