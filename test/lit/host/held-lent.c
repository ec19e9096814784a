// A caller lends its hold to functions of the file: they get its slot and what their arrays are to it, by two more parameters. Before the
// call comes back what the callee reads or writes outside of its SCoPs. One that only others may call is not called with a hold.
//
// RUN: %clang -O1 -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes='pollyrs,verify' %t.ll -S | FileCheck %s
// RUN: %opt -passes='pollyrs<hold=false>' %t.ll -S | FileCheck --check-prefix=OFF %s
void other(void);

// CHECK-DAG: [[SAME:@pollyrs.known[.0-9]*]] = private unnamed_addr constant [2 x i32] [i32 1, i32 2]
// CHECK-DAG: [[SWAPPED:@pollyrs.known[.0-9]*]] = private unnamed_addr constant [2 x i32] [i32 2, i32 1]
// OFF-NOT: pollyrs.known
// OFF-NOT: .lent
// OFF-NOT: pollyrs_rt_enter

void step(int n, float *restrict A, const float *restrict B) {
  for (int i = 0; i < n; i++)
    A[i] = A[i] * 0.5f + B[i];
}

// The function that others call passes nothing.
// CHECK-LABEL: define dso_local void @step(
// CHECK-NEXT: call void @step.lent({{.*}}, ptr null, ptr null)
// CHECK-NEXT: ret void

float peeks(int n, float *restrict A, const float *restrict B) {
  for (int i = 0; i < n; i++)
    A[i] = A[i] * 0.5f + B[i];
  return B[0];
}

// CHECK-LABEL: define dso_local void @time_steps(
// CHECK: %pollyrs.hold = alloca ptr
// CHECK: call void @step.lent({{.*}}, ptr %pollyrs.hold, ptr [[SAME]])
// CHECK-NOT: pollyrs_rt_
// CHECK: call void @step.lent({{.*}}, ptr %pollyrs.hold, ptr [[SWAPPED]])
// CHECK: call void @pollyrs_rt_release(ptr %pollyrs.hold, i32 2, i32 0)
// CHECK-NEXT: call float @peeks.lent({{.*}}, ptr %pollyrs.hold, ptr [[ALSO:@pollyrs.known[.0-9]*]])
// CHECK: call void @pollyrs_rt_leave(ptr %pollyrs.hold)
// CHECK: call void @other()
// CHECK: call void @step.lent(
// CHECK: call void @pollyrs_rt_leave(ptr %pollyrs.hold)
// CHECK-NEXT: ret void
void time_steps(int n, float *restrict A, float *restrict B) {
  step(n, A, B);
  step(n, B, A);
  B[n] = peeks(n, A, B);
  other();
  step(n, A, B);
}

// One call: nothing could stay.
// CHECK-LABEL: define dso_local void @once(
// CHECK: call void @step(
void once(int n, float *restrict A, float *restrict B) { step(n, A, B); }

// The callee's part: nothing stays unless something was lent, and what is known to the caller is the caller's at the end.
// CHECK-LABEL: define internal void @step.lent(
// CHECK-SAME: ptr %[[SLOT:[0-9]+]], ptr %[[KNOWN:[0-9]+]])
// CHECK: %[[OWN:.*]] = alloca ptr
// CHECK: %[[LENT:.*]] = call ptr @pollyrs_rt_enter(ptr %[[OWN]], ptr %[[SLOT]])
// CHECK-DAG: call ptr @pollyrs_rt_begin_held(ptr %[[LENT]],
// CHECK-DAG: call void @pollyrs_rt_return(ptr %[[LENT]], i32 2, ptr %[[KNOWN]])
