// `c ? a : b` under affine conditions: in subscripts, multiplied by a row length that LLVM moves into the arms, and in bounds.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-scop>" -disable-output %t.ll 2>&1 | FileCheck %s

void clamp(int n, int m, float *restrict o, const float *restrict a) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      o[i * m + j] = a[(i > 0 ? i - 1 : 0) * m + j];
}
// CHECK: scop clamp
// CHECK: array float a[*]{{.*}}[(m)]
// CHECK: read [n, m] -> { S0[i0, i1] -> a[-1 + i0, i1] : i0 > 0;
// CHECK-SAME: S0[0, i1] -> a[0, i1] }

// LLVM joins the two tests of a corner into one of `i | j`.
void corner(int n, int m, float *a) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      if (i == 0 && j == 0)
        a[i * m + j] = 1;
}
// CHECK: scop corner
// CHECK: domain [n, m] -> { S0[0, 0] : n > 0 and m > 0 }

// The flat loop is a SCoP of its own: joined with the other, it would be taken for the first row only.
void flat(int n, int m, float *a) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      a[i * m + j] += i;
  for (int k = 0; k < n * m; k++)
    a[k] *= 2;
}
// CHECK: scop flat
// CHECK: array float a[*]{{.*}}[(m)]
// CHECK-NOT: delinearization
// CHECK: scop flat
// CHECK: array float a[*] (memory)
// CHECK-NOT: delinearization
