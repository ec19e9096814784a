// Few results that are long sums: a point a thread, most threads of a block only help to fill long strips, a strip ahead. Short sums and many results have other tiles.
//
// RUN: %clang -O1 -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes='print<pollyrs-mapping;only-function=gram>' -disable-output %t.ll 2>&1 | FileCheck %s
// RUN: %opt -passes='print<pollyrs-mapping;only-function=factors>' -disable-output %t.ll 2>&1 | FileCheck %s --check-prefix=NESTED
// RUN: %opt -passes='print<pollyrs-mapping;only-function=known>' -disable-output %t.ll 2>&1 | FileCheck %s --check-prefix=KNOWN

// CHECK:      K2[] : 0 < argument_1 <= 127 and argument_0 >= 1024 + 8argument_1
// CHECK:      kernel K0
// CHECK:      operand tile _copy0 of 8
// CHECK:      kernel K2
// CHECK:      block _t0 size 4
// CHECK-NEXT: block _t1 size 8
// CHECK:      point _v0 of 1 by 1
// CHECK:      operand tile _copy0 of 256
void gram(int n, int m, const float A[restrict n][m], float C[restrict m][m]) {
  for (int i = 0; i < m; i++)
    for (int j = 0; j < m; j++)
      for (int k = 0; k < n; k++)
        C[i][j] += A[k][i] * A[k][j];
}

// NESTED:     kernel K1
// NESTED:     operand tile _copy0 of 128
// NESTED-NEXT: size [4, 1, 128]
// NESTED-NEXT: size [128, 8]
void factors(int n, int r, const float X[restrict n][n][n], const float B[restrict n][r], const float C[restrict n][r], float M[restrict n][r]) {
  for (int i = 0; i < n; i++)
    for (int f = 0; f < r; f++)
      for (int j = 0; j < n; j++)
        for (int k = 0; k < n; k++)
          M[i][f] += X[i][j][k] * B[j][f] * C[k][f];
}

// KNOWN:      kernel K0
// KNOWN:      operand tile _copy0 of 256
// KNOWN-NOT:  kernel
void known(float A[restrict 100000][32], float C[restrict 32][32]) {
  for (int i = 0; i < 32; i++)
    for (int j = 0; j < 32; j++)
      for (int k = 0; k < 100000; k++)
        C[i][j] += A[k][i] * A[k][j];
}
