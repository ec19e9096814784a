// Before all checks: the original loop runs at once where the run-time library has seen that as much work takes less than anything on a device;
// in a function with a hold only if nothing is on the device.
//
// RUN: %clang -O1 -Xclang -disable-llvm-passes -S -emit-llvm %s -o - \
// RUN:   | %opt -passes='print<pollyrs-host>,verify' -disable-output 2>&1 | FileCheck %s

void scale(long n, float *A) {
  for (long i = 0; i < n; i++)
    A[i] *= 2;
}
// CHECK-LABEL: define {{.*}}@scale(
// CHECK:      %[[WORK:[0-9]+]] = fadd double
// CHECK-NEXT: %[[STATE:[0-9]+]] = load atomic i64, ptr @pollyrs.cache monotonic, align 8
// CHECK-NEXT: %[[KNOWN:[0-9]+]] = icmp ne i64 %[[STATE]], 0
// CHECK-NEXT: br i1 %[[KNOWN]], label %pollyrs.limit, label %pollyrs.ask
// CHECK:      pollyrs.host:
// CHECK-NEXT: phi ptr [ %{{[0-9]+}}, %pollyrs.host.begin ], [ null, %pollyrs.limit ]
// CHECK:      pollyrs.limit:
// CHECK-NEXT: %[[PLACE:[0-9]+]] = inttoptr i64 %[[STATE]] to ptr
// CHECK-NEXT: %[[BITS:[0-9]+]] = load atomic i64, ptr %[[PLACE]] monotonic, align 8
// CHECK-NEXT: %[[LIMIT:[0-9]+]] = bitcast i64 %[[BITS]] to double
// CHECK-NEXT: %[[SMALL:[0-9]+]] = fcmp ole double %[[WORK]], %[[LIMIT]]
// CHECK-NEXT: br i1 %[[SMALL]], label %pollyrs.host, label %pollyrs.ask

float steps(int n, float *restrict A, float *restrict B) {
  do {
    for (int i = 0; i < n; i++)
      A[i] = A[i] * 0.5f + B[i];
  } while (A[n / 2] > 1);
  return A[0];
}
// CHECK-LABEL: define {{.*}}@steps(
// CHECK:      phi ptr [ %{{[0-9]+}}, %pollyrs.host.begin ], [ null, %pollyrs.held ]
// CHECK:      br i1 %{{[0-9]+}}, label %pollyrs.held, label %pollyrs.ask
// CHECK:      pollyrs.held:
// CHECK-NEXT: %[[HOLDS:[0-9]+]] = call i32 @pollyrs_rt_holds(ptr %pollyrs.hold)
// CHECK-NEXT: %[[NOTHING:[0-9]+]] = icmp eq i32 %[[HOLDS]], 0
// CHECK-NEXT: br i1 %[[NOTHING]], label %pollyrs.host, label %pollyrs.ask
