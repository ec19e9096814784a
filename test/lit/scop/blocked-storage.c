// Blocks of 4 by 4, one after the other: a division of a sum with a product in it.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-scop>" -disable-output %t.ll 2>&1 | FileCheck %s

void tiled(long n, long mb, const double *rows, double *blocks) {
  for (long i = 0; i < n; i++)
    for (long j = 0; j < 4 * mb; j++)
      blocks[((i / 4) * mb + j / 4) * 16 + (i % 4) * 4 + j % 4] = rows[i * 4 * mb + j];
}

// CHECK-LABEL: scop tiled
// CHECK:       array double blocks[*]{{.*}}(mb){{.*}}(4){{.*}}(4){{.*}} (memory)
// CHECK:       must-write {{.*}} -> { S0[i0, i1] -> blocks[o0, o1, o2, o3] :
