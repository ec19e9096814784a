// Rows of unknown length may start anywhere: then their elements are loaded one by one, those of a row by neighbouring lanes. In the loop over strips a thread of
// 64 finds its 8 elements of A eight rows apart, within the rows of the launch, and its 8 elements of B in one column, a row apart.
//
// RUN: %clang -O0 -Xclang -disable-O0-optnone -emit-llvm -S %s -o %t.ll
// RUN: %opt -passes='print<pollyrs-ptx>' -disable-output %t.ll 2>&1 | FileCheck %s

// CHECK:      .visible .entry product_K1(
// CHECK:      min.s32 [[MIN:%r[0-9]+]], [[OWN:%r[0-9]+]], [[LAST:%r[0-9]+]];
// CHECK-NEXT: max.s32 [[ROW:%r[0-9]+]], [[MIN]], 0;
// CHECK-NEXT: cvt.u64.u32 [[WIDE:%rd[0-9]+]], [[ROW]];
// CHECK-NEXT: mad.lo.s64 %rd{{[0-9]+}}, [[STRIDE:%rd[0-9]+]], [[WIDE]], [[START:%rd[0-9]+]];
// CHECK-NEXT: add.s32 [[NEXT:%r[0-9]+]], [[OWN]], 8;
// CHECK-NEXT: min.s32 %r{{[0-9]+}}, [[NEXT]], [[LAST]];
// CHECK:      mad.lo.s64 %rd{{[0-9]+}}, [[STRIDE]], %rd{{[0-9]+}}, [[START]];
// CHECK:      add.s32 %r{{[0-9]+}}, [[OWN]], 56;
// CHECK-COUNT-8: ld.global.nc.b32
void product(int n, int m, int l, float C[n][m], float A[n][l], float B[l][m]) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j)
      for (int k = 0; k < l; ++k)
        C[i][j] += A[i][k] * B[k][j];
}
