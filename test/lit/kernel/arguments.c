// Arguments: arrays that are used, read-only ones marked; parameters; invariants in their own type; no tile bound that is constant; what a
// block's index is divided by and with; the first block of a slice.
//
// RUN: %clang -O0 -Xclang -disable-O0-optnone -emit-llvm -S %s -o - \
// RUN:   | %opt -passes='print<pollyrs-kernel>' -disable-output 2>&1 | FileCheck %s

// CHECK-LABEL: define void @scale_K0(
// CHECK-SAME:    ptr noalias readonly captures(none) %{{[a-zA-Z0-9_]+}}, ptr noalias captures(none) %{{[a-zA-Z0-9_]+}},
// CHECK-SAME:    i64 %{{[a-zA-Z0-9_]+}}, i64 %{{[a-zA-Z0-9_]+}}, float %{{[^,]+}}, i64 %_b1.count, i64 %_b1.factor, i64 %first.block)
// CHECK:         call i64 @pollyrs.block_id()
// CHECK:         call i32 @pollyrs.thread_id.x()
// CHECK:         load float, ptr %{{.*}}, align 4
// CHECK-NOT:     !tbaa
// CHECK:         store float %{{.*}}, ptr %{{.*}}, align 4
void scale(long n, long m, float alpha, float a[n][m], float b[n][m], float unused[n][m]) {
  for (long i = 0; i < n; i++)
    for (long j = 0; j < m; j++)
      a[i][j] = alpha * b[i][j];
}
