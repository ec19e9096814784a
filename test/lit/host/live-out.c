// A value of the loop that is used behind it comes back through a cell of 8 bytes and a PHI.
//
// RUN: %clang -O1 -Xclang -disable-llvm-passes -S -emit-llvm %s -o - \
// RUN:   | %opt -passes='print<pollyrs-host>,verify' -disable-output 2>&1 | FileCheck %s

float last(int n, float *A) {
  float x = 0;
  for (int i = 0; i < n; i++) {
    A[i] = A[i] * 2;
    x = A[i] + 1;
  }
  return x;
}

// CHECK: define {{.*}}@last(
// CHECK: %pollyrs.live{{.*}} = alloca i64
// Four bytes that come back, of a cell that is the calling code's own: the kernel is not asked about its memory.
// CHECK: store i64 17179869442,
// CHECK: call i32 @pollyrs_rt_end(
// CHECK: load float, ptr %pollyrs.live
