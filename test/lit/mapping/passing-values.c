// What no one reads outside of a hexagon that is whole, and what is written again in it, stays in shared memory. Its code
// decides by the instance whether it stores to the array; the code of the others always stores.
//
// RUN: %clang -O1 -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes='print<pollyrs-mapping;strategy=hybrid;tile=5x6>' -disable-output %t.ll 2>&1 | FileCheck %s
// RUN: %opt -passes='print<pollyrs-kernel;strategy=hybrid;tile=5x6>' -disable-output %t.ll 2>&1 | FileCheck %s --check-prefix=CODE
// RUN: %opt -passes='print<pollyrs-kernel;strategy=hybrid;tile=5x6;techniques=windows>' -disable-output %t.ll 2>&1 | FileCheck %s --check-prefix=PLAIN

// CHECK: kernel K1[_h0]
// CHECK: window _in0 array {{[01]}}
// CHECK: passing {{.*}} -> _enter[]
// CHECK: full

// CODE: full:
// CODE: store:
// PLAIN-NOT: store:
void jacobi(int t, int n, double A[restrict n], double B[restrict n]) {
  for (int s = 0; s < t; s++) {
    for (int i = 1; i < n - 1; i++)
      B[i] = 0.3 * (A[i - 1] + A[i] + A[i + 1]);
    for (int i = 1; i < n - 1; i++)
      A[i] = B[i];
  }
}
