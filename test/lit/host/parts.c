// With the option `divide` a launch asks how many parts it is to have, and tells of each what it touches: two elements of A more than it writes of B.
//
// RUN: %clang -O1 -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: env POLLYRS_DIVIDE=true %opt -passes='print<pollyrs-host>,verify' -disable-output %t.ll 2>&1 | FileCheck %s
// RUN: %opt -passes='print<pollyrs-host>,verify' -disable-output %t.ll 2>&1 | FileCheck %s --check-prefix=ONE --implicit-check-not=pollyrs_rt_part

void step(int n, double *restrict A, double *restrict B) {
  for (int i = 1; i < n - 1; i++)
    B[i] = A[i - 1] + A[i + 1];
}

// CHECK:      %[[N:.*]] = call i64 @pollyrs_rt_parts(ptr %{{.*}}, i32 0, i64
// CHECK-NEXT: %[[SOME:.*]] = icmp ne i64 %[[N]], 0
// CHECK-NEXT: br i1 %[[SOME]], label %parts, label %undivided
// CHECK:      parts:
// CHECK:      call void @pollyrs_rt_part(ptr %{{.*}}, i64 %{{.*}}, ptr %pollyrs.scalars, i32 2, ptr %pollyrs.parts)
// CHECK:      divided:
// CHECK-NEXT: call void @pollyrs_rt_launch_parts(ptr
// CHECK-NEXT: br label %shared

// ONE: call void @pollyrs_rt_launch(
