// A sum a row, in its order: 32 rows a block, and strips of the matrix and of the vector in shared memory. Where there are fewer blocks than
// multiprocessors, 16 rows, and strips that are twice as long.
//
// RUN: %clang -O1 -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes='print<pollyrs-mapping>' -disable-output %t.ll 2>&1 | FileCheck %s

// CHECK:      K0[] : {{.*}}<= 4224 and argument_1 >= 256
// CHECK:      K1[] : {{.*}}argument_1 >= 128
// CHECK:      kernel K0
// CHECK:      block _t0 size 16
// CHECK:      operand tile _copy0 of 128
// CHECK-NEXT: shared array {{.*}} size [16, 128] order [0, 1] padding 2
// CHECK:      kernel K1
// CHECK:      block _t0 size 32
// CHECK:      operand tile _copy0 of 64
// CHECK-NEXT: shared array {{.*}} size [32, 64] order [0, 1] padding 2
// CHECK-NEXT: shared array {{.*}} size [64] order [0]
void rows(int n, int m, double A[restrict n][m], double *restrict x, double *restrict y) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      y[i] += A[i][j] * x[j];
}
