// B may end before the last i for which the condition is false: its elements may be read and written, and nothing says that they
// exist.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-scop>" -disable-output %t.ll 2>&1 | FileCheck %s
// RUN: %opt -passes="print<pollyrs-host>" -disable-output %t.ll 2>&1 | FileCheck %s --check-prefix=HOST

void f(int n, double *restrict A, double *restrict B) {
  for (int i = 0; i < n; i++)
    if (A[i] > 0.25)
      B[i] = A[i] * 2.0;
}

// CHECK: scop f
// CHECK-NOT: assume
// CHECK: domain [n] -> { S0[i0] : 0 <= i0 < n }
// CHECK-NEXT: subregion of 1 blocks and 0 loops
// CHECK-NEXT: read [n] -> { S0[i0] -> A[i0] }
// CHECK-NEXT: may-write [n] -> { S0[i0] -> B[i0] : 0 <= i0 < n }

// In one word with the size of the elements: A is copied in (1); of B, which may not be readable (64), what changed (16) comes back (2).
// HOST-DAG: store i64 [[#%u, 1 + 34359738368]],
// HOST-DAG: store i64 [[#%u, 83 + 34359738368]],
