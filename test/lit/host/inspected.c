// Inspections in the host's code: behind the checks of sizes, one after the other, each followed by a check that its memory could be read; what they find is used behind that. In a function with
// a hold, what only the device has of the memory comes back.
//
// RUN: %clang -O1 -Xclang -disable-llvm-passes -S -emit-llvm %s -o - \
// RUN:   | %opt -passes='print<pollyrs-host>,verify' -disable-output 2>&1 | FileCheck %s

void nested(int n, const int *restrict a, const int *restrict b, const double *restrict x, double *restrict y) {
  for (int i = 0; i < n; i++)
    y[i] = x[a[b[i]]];
}

// CHECK-LABEL: define {{.*}}@nested(
// CHECK: %pollyrs.inspected = alloca [9 x i64]
// CHECK: [[B:%[0-9]+]] = call i32 @pollyrs_rt_inspect(ptr {{.*}}, ptr %pollyrs.inspected, i32 4, ptr
// CHECK-NEXT: icmp ne i32 [[B]], 0
// CHECK-NEXT: br i1
// CHECK: [[A:%[0-9]+]] = call i32 @pollyrs_rt_inspect(ptr {{.*}}, ptr %pollyrs.inspected, i32 4, ptr
// CHECK-NEXT: icmp ne i32 [[A]], 0
// CHECK-NEXT: br i1

void steps(int n, int t, int *restrict list, const double *restrict x, double *restrict y) {
  for (int k = 0; k < t; k++) {
    for (int i = 0; i < n; i++)
      y[i] += x[list[i]];
    for (int i = 0; i < n; i++)
      list[i] = (list[i] * 5 + k) & 15;
  }
}

// CHECK-LABEL: define {{.*}}@steps(
// CHECK: call i32 @pollyrs_rt_inspect_held(ptr %pollyrs.hold, ptr
