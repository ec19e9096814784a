// A product has a kernel for large tiles and one for small ones, and the launch decides how many rows go to which: the rows behind the
// cut first, in small tiles, so that nobody touches the others' results later.
//
// RUN: %clang -O1 -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes='print<pollyrs-mapping>' -disable-output %t.ll 2>&1 | FileCheck %s

// CHECK:      K0[x0 = argument_0] : _c0 = argument_0 and
// CHECK-SAME: K0[x0 = _c0] : (_c0) mod 64 = 0 and
// CHECK-NEXT: K1[x0] : 64x0 = _c0 and
// CHECK:      sequence
// CHECK-NEXT: filter { K1[_h0] }
// CHECK-NEXT: filter { K0[_h0] }
// CHECK:      kernel K0[_h0]
// CHECK:      point _v0 of 16 by 4 {{.*}}[(0)] {{.*}}[(-1 + _h0)] }
// CHECK:      kernel K1[_h0]
// CHECK:      point _v0 of 8 by 4 {{.*}}[(64_h0)] {{.*}}[(-1 + argument_0)] }
// CHECK:      choice _c0 K0 weight {{[0-9]+}} residents 2 K1 weight {{[0-9]+}} residents 6 cut along 0 on 132
void product(int n, int m, int k, float C[restrict n][m], float A[restrict n][k], float B[restrict k][m]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      for (int l = 0; l < k; l++)
        C[i][j] += A[i][l] * B[l][j];
}
