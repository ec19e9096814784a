// Four parallel loops, and blocks of one thread along the last: the other three have the axes of a block.
//
// RUN: %clang -O2 -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes='print<pollyrs-mapping;strategy=diamond;tile=64x16x1>' -disable-output %t.ll 2>&1 | FileCheck %s
// RUN: %opt -passes='print<pollyrs-ptx;strategy=diamond;tile=64x16x1>' -disable-output %t.ll 2>&1 | FileCheck %s --check-prefix=PTX

// CHECK:      block _t0 size 8
// CHECK-NEXT: block _t1 size 4
// CHECK-NEXT: block _t2 size 2
// CHECK-NEXT: block _t3 size 1
// PTX-DAG: %tid.x
// PTX-DAG: %tid.y
// PTX-DAG: %tid.z
void cells(unsigned n, double a[restrict n][16][16][16]) {
  for (long i = 0; i < n; i++) {
    for (long j = 0; j < 3; j++)
      for (long k = 0; k < 2; k++)
        for (long l = 0; l < 16; l++)
          a[i][j][k - 1][l] = (double)j;
    a[i][0][0][0] = 0.425;
  }
}
