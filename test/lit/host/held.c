// A SCoP in a host loop has a hold: arrays are held, what the host touches is released before, calls of unknown functions and returns
// leave. In a function with one SCoP that is not in a loop there is no hold.
//
// RUN: %clang -O1 -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes='print<pollyrs-host>,verify' -disable-output %t.ll 2>&1 | FileCheck %s
// RUN: %opt -passes='pollyrs<hold=false>' %t.ll -S | FileCheck --check-prefix=OFF %s

__attribute__((malloc)) void *malloc(unsigned long);
void free(void *);

int more(void);

void alone(int n, float *restrict A) {
  for (int i = 0; i < n; i++)
    A[i] = A[i] * 2;
}

// CHECK-LABEL: define {{.*}}@alone(
// CHECK-NOT: pollyrs_rt_begin_held
// CHECK: call ptr @pollyrs_rt_begin(

float loop(int n, float *restrict A, float *restrict B, float *restrict C) {
  float sum = 0, eps = 1;
  do {
    for (int i = 0; i < n; i++)
      A[i] = A[i] * 0.5f + B[i];
    for (int i = 0; i < n; i++)
      B[i] = A[i] + C[i];
    sum += B[n / 2];
    eps *= 0.5f;
    C[0] = sum;
  } while (sum > eps);
  return sum + (more() ? A[1] : 0);
}

// The load of B and the store to C (bit 2) say which bytes they access; restrict keeps both apart from A.
// CHECK-LABEL: define {{.*}}@loop(
// CHECK: %pollyrs.hold = alloca ptr
// CHECK: store ptr null, ptr %pollyrs.hold
// CHECK: call ptr @pollyrs_rt_begin_held(ptr %pollyrs.hold, ptr @pollyrs.scop
// CHECK: call void @pollyrs_rt_access(ptr %pollyrs.hold, ptr %{{[0-9]+}}, i64 4, i64 0, i64 0, i32 0)
// CHECK-NEXT: load float
// CHECK: call void @pollyrs_rt_access(ptr %pollyrs.hold, ptr %{{[0-9]+}}, i64 4, i64 0, i64 0, i32 4)
// CHECK-NEXT: store float
// CHECK: call void @pollyrs_rt_leave(ptr %pollyrs.hold)
// CHECK-NEXT: call i32 @more()
// CHECK: call ptr @pollyrs_rt_host_begin_held(ptr %pollyrs.hold, ptr @pollyrs.scop

// OFF-NOT: _held
// OFF: define {{.*}}@loop(
// OFF-NOT: _held

// What only the device has of an object that is freed does not come back. Each release before free has a place of its own:
// behind what uses the object before.
float freed(int n, const float *restrict init) {
  float *A = malloc(n * sizeof *A), *B = malloc(n * sizeof *B), sum = 0;
  for (int i = 0; i < n; i++)
    A[i] = init[i];
  do {
    for (int i = 0; i < n; i++)
      B[i] = A[i] * 0.5f + init[i];
    for (int i = 0; i < n; i++)
      A[i] = B[i] + init[i];
    sum += B[n / 2];
  } while (sum < 100);
  free(A);
  free(B);
  return sum;
}
// CHECK-LABEL: define {{.*}}@freed(
// CHECK: call void @pollyrs_rt_access(ptr %pollyrs.hold, ptr %{{[0-9]+}}, i64 4, i64 0, i64 0, i32 0)
// CHECK-NEXT: load float
// CHECK: call void @pollyrs_rt_discard(ptr %pollyrs.hold, i32 [[A:[0-9]+]])
// CHECK-NEXT: call void @pollyrs_rt_release(ptr %pollyrs.hold, i32 [[A]], i32 [[A]])
// CHECK-NEXT: call void @free(
// CHECK: call void @pollyrs_rt_discard(ptr %pollyrs.hold, i32 [[B:[0-9]+]])
// CHECK-NEXT: call void @pollyrs_rt_release(ptr %pollyrs.hold, i32 [[B]], i32 [[B]])
// CHECK-NEXT: call void @free(

// A loop of the program says what it reads: a column, from row 1 on.
double column(int n, double *restrict a, int steps) {
  double sum = 0;
  for (int k = 0; k < steps; k++) {
    for (int i = 1; i < n; i++)
      sum = sum * 0.5 + a[i * 100 + k];
    if (sum != 0)
      for (int i = 0; i < n; i++)
        for (int j = 0; j < 100; j++)
          a[i * 100 + j] += 1.5;
  }
  return sum;
}
// CHECK-LABEL: define {{.*}}@column(
// CHECK-NOT: pollyrs_rt_release(
// CHECK: call void @pollyrs_rt_access(ptr %pollyrs.hold, ptr %{{[^,]+}}, i64 8, i64 800, i64 %{{[^,]+}}, i32 0)
