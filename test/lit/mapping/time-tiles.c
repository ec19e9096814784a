// Time tiles: the host runs over time tiles and launches the hexagons of one phase, then those of the other; a block's threads meet at a
// barrier behind each step.
//
// RUN: %clang -O1 -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes='print<pollyrs-mapping;strategy=hybrid;tile=3x5;techniques=windows>' -disable-output %t.ll 2>&1 | FileCheck %s
// RUN: %opt -passes='print<pollyrs-kernel;strategy=hybrid;tile=3x5;techniques=windows>' -disable-output %t.ll 2>&1 | FileCheck %s --check-prefix=CODE
// RUN: %opt -passes='print<pollyrs-mapping;strategy=hybrid;tile=3x5;techniques=none>' -disable-output %t.ll 2>&1 | FileCheck %s --check-prefix=GLOBAL
// RUN: %opt -passes='print<pollyrs-mapping;strategy=split;tile=4x3>' -disable-output %t.ll 2>&1 | FileCheck %s --check-prefix=SPLIT
// RUN: %opt -passes='print<pollyrs-mapping;strategy=diamond;tile=8>' -disable-output %t.ll 2>&1 | FileCheck %s --check-prefix=DIAMOND

// CHECK:      host
// CHECK:      sequential { K0[T] -> [T] } { K1[T] -> [T] }
// CHECK-NEXT: sequence
// CHECK-NEXT: filter { K0[T] }
// CHECK-NEXT: filter { K1[T] }
// CHECK:      kernel K0[_h0]
// Two statements an iteration: h + 1 = 4 is a multiple. Boxes are 12 + 3 + 3 points wide.
// CHECK:      block _t0 size 18
// Both arrays pass values between the steps: the points of a tile, and the neighbours that are read in A.
// CHECK:      window _in0 array 1 size [12]
// CHECK:      window _in1 array 0 size [14]
// CHECK:      filter {{.*}}{ _enter[] }
// CHECK:      { _barrier[c0] -> [c0] }
// CHECK:      kernel K1[_h0]
// CHECK-NOT:  kernel

// What the kernel writes is shared with other threads behind a barrier.
// CODE: define void @{{.*}}K0(ptr {{[^,]*}}%{{.*}}, ptr
// CODE-NOT: noalias
// CODE: call ptr @pollyrs.shared()
// CODE: call void @pollyrs.barrier()

// GLOBAL:     { _barrier[c0] -> [c0] }
// GLOBAL-NOT: window

// SPLIT:   kernel K0[_h0]
// SPLIT:   kernel K1[_h0]
// DIAMOND: kernel K0[_h0]
// DIAMOND-NOT: kernel K1
void jacobi(int t, int n, double A[restrict n], double B[restrict n]) {
  for (int s = 0; s < t; s++) {
    for (int i = 1; i < n - 1; i++)
      B[i] = 0.3 * (A[i - 1] + A[i] + A[i + 1]);
    for (int i = 1; i < n - 1; i++)
      A[i] = B[i];
  }
}
