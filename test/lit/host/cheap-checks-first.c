// The checks before a launch: comparisons of numbers decide in the first block; only behind it are the touched ranges computed, and whether
// they overlap, in two comparisons and an `or` a pair. Which check failed is found out on the way to the original loop.
//
// RUN: %clang -O1 -Xclang -disable-llvm-passes -S -emit-llvm %s -o - \
// RUN:   | %opt -passes='print<pollyrs-host>,verify' -disable-output 2>&1 | FileCheck %s

void scale(int n, int m, int lda, float *A, const float *B) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      A[i * lda + j] *= B[j];
}

// The first block of checks: m <= lda, or nothing to do. No product, no choice of a reason.
// CHECK:      pollyrs.ask:
// CHECK-NOT:  mul
// CHECK-NOT:  select
// CHECK:      icmp sge i64
// CHECK-NOT:  mul
// CHECK-NOT:  select
// CHECK:      br i1 %{{[0-9]+}}, label %[[RANGES:pollyrs.pass[0-9]*]], label %[[FIRST:pollyrs.refused[0-9]*]]

// Both lead to the original, with the number of a check each.
// CHECK:      pollyrs.host.begin:
// CHECK-NEXT: phi i32 [ %{{[0-9]+}}, %[[FIRST]] ], [ %{{[0-9]+}}, %[[SECOND:pollyrs.refused[0-9]*]] ], [ -1, %{{.*}} ], [ -1, %{{.*}} ]

// CHECK:      [[RANGES]]:
// CHECK:      @llvm.smul.with.overflow.i64
// CHECK:      %[[BEFORE:[0-9]+]] = icmp ule i64
// CHECK-NEXT: %[[AFTER:[0-9]+]] = icmp ule i64
// CHECK-NEXT: %[[APART:[0-9]+]] = or i1 %[[BEFORE]], %[[AFTER]]
// CHECK-NEXT: and i1 %{{[0-9]+}}, %[[APART]]
// CHECK-NEXT: br i1 %{{[0-9]+}}, label %pollyrs.pass{{[0-9]*}}, label %[[SECOND]]

// What is found out there: which condition failed, and the values of its two sides.
// CHECK:      [[FIRST]]:
// CHECK:      call void @pollyrs_rt_sides(
// CHECK-NEXT: br label %pollyrs.host.begin
// CHECK:      [[SECOND]]:
// CHECK:      select i1 %{{[0-9]+}}, i32 4, i32 3
// CHECK:      call void @pollyrs_rt_sides(
// CHECK-NEXT: br label %pollyrs.host.begin
