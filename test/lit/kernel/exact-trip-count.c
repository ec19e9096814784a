// A sequential loop counts to its last iteration: no addition that would need a proof that it does not wrap.
//
// RUN: %clang -O0 -Xclang -disable-O0-optnone -emit-llvm -S %s -o - \
// RUN:   | %opt -passes='print<pollyrs-kernel>' -disable-output 2>&1 | FileCheck %s

// CHECK-LABEL: define void @rows_K0(
// CHECK:         %[[LAST:.*]] = sub i64 %{{.*}}, 1
// CHECK:         %[[ENTER:.*]] = icmp sle i64 0, %[[LAST]]
// CHECK:         br i1 %[[ENTER]], label %[[LOOP:.*]], label %[[AFTER:.*]]
// CHECK:       [[LOOP]]:
// CHECK-NEXT:    %[[I:.*]] = phi i64 [ 0, %{{.*}} ], [ %[[NEXT:.*]], %[[LOOP]] ]
// CHECK:         %[[NEXT]] = add i64 %[[I]], 1
// CHECK:         %[[DONE:.*]] = icmp eq i64 %[[I]], %[[LAST]]
// CHECK:         br i1 %[[DONE]], label %[[AFTER]], label %[[LOOP]]
void rows(long n, long m, double s[n], double a[m]) {
  for (long i = 0; i < n; i++)
    for (long j = 0; j < m; j++)
      s[i] += a[j];
}
