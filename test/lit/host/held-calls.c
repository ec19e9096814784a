// Calls between SCoPs: what only reads an array, by a summary of the function, or only prints, leaves the device's copy valid; the time
// and random numbers touch nothing. What may do anything ends it all.
//
// RUN: %clang -O1 -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes='print<pollyrs-host>,verify' -disable-output %t.ll 2>&1 | FileCheck %s
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

double seen;
void other(void);
FILE *file;

__attribute__((noinline)) double step(double s, double x) { return s * 0.5 + x; }

__attribute__((noinline)) static void look(int n, const double *p) {
  for (int i = 0; i < n; i++)
    seen = step(seen, p[i]);
}

__attribute__((noinline)) static void poke(double *p) { p[1] = 2; }

__attribute__((noinline)) static void locked(double *p) {
  __atomic_fetch_add((long *)p, 1, __ATOMIC_SEQ_CST);
}

// A is bit 0, B bit 1.
void reads(int n, double *restrict A, double *restrict B) {
  for (int i = 0; i < n; i++)
    A[i] = A[i] * 0.5 + B[i];
  srand(clock() + (long)sqrt(n));
  look(n, A);
  for (int i = 0; i < n; i++)
    B[i] = A[i] + 1;
  poke(B);
  for (int i = 0; i < n; i++)
    A[i] += B[i];
  puts("done");
  for (int i = 0; i < n; i++)
    A[i] += B[i] * 2;
}

// CHECK-LABEL: define {{.*}}@reads(
// CHECK-NOT: pollyrs_rt_{{release|leave}}(
// CHECK: call i64 @clock
// CHECK-NOT: pollyrs_rt_{{release|leave}}(
// CHECK: call void @pollyrs_rt_release(ptr %pollyrs.hold, i32 1, i32 0)
// CHECK-NEXT: call void @look(
// CHECK: call void @pollyrs_rt_release(ptr %pollyrs.hold, i32 0, i32 2)
// CHECK-NEXT: call void @poke(
// CHECK: call void @pollyrs_rt_release(ptr %pollyrs.hold, i32 3, i32 0)
// CHECK-NEXT: call i32 @puts(
// CHECK: call void @pollyrs_rt_leave(ptr %pollyrs.hold)
// CHECK-NEXT: ret void

void anything(int n, double *restrict A, double *restrict B) {
  for (int i = 0; i < n; i++)
    A[i] = A[i] * 0.5 + B[i];
  locked(A);
  for (int i = 0; i < n; i++)
    B[i] = A[i] + 1;
  other();
  for (int i = 0; i < n; i++)
    A[i] += B[i];
  fprintf(stderr, "%d\n", n);
  for (int i = 0; i < n; i++)
    A[i] += B[i] * 2;
  fprintf(file, "%d\n", n);
  for (int i = 0; i < n; i++)
    A[i] += B[i] * 3;
}

// A file may be the program's memory; the standard streams are taken to be files.
// CHECK-LABEL: define {{.*}}@anything(
// CHECK: call void @pollyrs_rt_leave(ptr %pollyrs.hold)
// CHECK-NEXT: call void @locked(
// CHECK: call void @pollyrs_rt_leave(ptr %pollyrs.hold)
// CHECK-NEXT: call void @other(
// CHECK: call void @pollyrs_rt_release(ptr %pollyrs.hold, i32 3, i32 0)
// CHECK-NEXT: call i32 {{.*}}@fprintf(
// CHECK: call void @pollyrs_rt_leave(ptr %pollyrs.hold)
// CHECK-NEXT: call i32 {{.*}}@fprintf(
