// The host plan: checks, the launch, and the original loop behind pollyrs_rt_host_begin; all in one function that verifies.
//
// RUN: %clang -O1 -Xclang -disable-llvm-passes -S -emit-llvm %s -o - \
// RUN:   | %opt -passes='print<pollyrs-host>,verify' -disable-output 2>&1 | FileCheck %s

void scale(int n, int m, float A[n][m], float *B) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      A[i][j] *= B[j];
}

// CHECK:      define {{.*}}@scale(
// CHECK:      %pollyrs.arrays = alloca

// The device's side begins.
// CHECK:      call ptr @pollyrs_rt_begin(ptr @pollyrs.scop{{.*}}, double %{{.*}}, ptr %pollyrs.arrays, i32 2)

// The original, with or without a word to the run-time library.
// CHECK:      pollyrs.host:
// CHECK-NEXT: phi ptr [ %{{[0-9]+}}, %pollyrs.host.begin ], [ null, %pollyrs.limit ]
// CHECK:      fmul float
// CHECK:      call void @pollyrs_rt_host_end(

// The checks: sizes, then whether the ranges of A and B are apart.
// CHECK:      pollyrs.ask:
// CHECK:      call { i64, i1 } @llvm.smul.with.overflow.i64(
// CHECK:      icmp ule i64
// CHECK:      br i1 %{{[0-9]+}}, label %[[OFFLOAD:.*]], label %[[HOST:.*]]
// CHECK:      pollyrs.host.begin:
// CHECK-NEXT: phi i32
// CHECK-NEXT: call ptr @pollyrs_rt_host_begin(ptr @pollyrs.scop
// CHECK-NEXT: br label %pollyrs.host

// The device's side goes on: a launch as a whole, or in slices.
// CHECK:      call i64 @pollyrs_rt_slices(ptr %{{.*}}, i32 0, i64 %{{.*}})
// CHECK:      call i32 @pollyrs_rt_end(
// CHECK:      whole:
// CHECK-NEXT: call void @pollyrs_rt_launch(ptr %{{.*}}, i32 0, i64 %{{.*}}, ptr %pollyrs.scalars)
// CHECK:      call void @pollyrs_rt_launch_slice(ptr %{{.*}}, i32 0, i64 %{{.*}}, ptr %pollyrs.scalars, ptr %pollyrs.slices, ptr %{{.*}})
