// Functions and loops that the source or an option switches off stay as they are; what is on is not too small.
//
// RUN: %clang -O3 -S -emit-llvm %s -o /dev/null -Rpass=pollyrs -Rpass-missed=pollyrs -fno-caret-diagnostics 2>&1 | FileCheck %s
// RUN: %clang -O3 -S -emit-llvm %s -o /dev/null -mllvm -pollyrs-ignore-function='o*,inner_off' -mllvm -pollyrs-only-function='o*,inner*,small_*' -Rpass=pollyrs -Rpass-missed=pollyrs -fno-caret-diagnostics 2>&1 | FileCheck %s --check-prefix=NAMES
// RUN: %clang -O3 -S -emit-llvm %s -o /dev/null -mllvm -pollyrs-ignore-function='none_*' 2>&1 | FileCheck %s --check-prefix=NONE
//
// NONE: warning: pollyrs: option 'ignore-function': no function of this file is named 'none_*'
//
// NAMES: switched.c:27:{{.*}}switched off [
// NAMES-NEXT: switched.c:32:{{.*}}switched off [
// NAMES-NEXT: switched.c:46:{{.*}}switched off [
// NAMES-NEXT: too little work
// NAMES-NEXT: offloaded small_on
// NAMES-NEXT: offloaded small_function
//
// Functions that are off come first. The one that is called in a loop keeps that loop from the device as well; so does one inner loop.
// CHECK: switched.c:32:{{.*}}not offloaded: switched off [
// CHECK-NEXT: switched.c:37:{{.*}}not offloaded: switched off [
// CHECK-NEXT: offloaded on:
// CHECK-NEXT: not offloaded: the call of scale may have side effects
// CHECK-NEXT: switched.c:51:{{.*}}not offloaded: switched off by a pragma of the loop
// CHECK-NEXT: switched.c:48:{{.*}}offloaded inner_off
// CHECK-NEXT: too little work
// CHECK-NEXT: offloaded small_on
// CHECK-NEXT: offloaded small_function
// CHECK-NOT: remark
void on(int n, float *A) {
  for (int i = 0; i < n; i++)
    A[i] *= 2;
}

__attribute__((annotate("pollyrs: off"))) void off(int n, float *A) {
  for (int i = 0; i < n; i++)
    A[i] *= 2;
}

__attribute__((annotate("pollyrs: off"))) static void scale(int n, float *A) {
  for (int i = 0; i < n; i++)
    A[i] *= 2;
}
void calls_off(int n, float A[][100]) {
  for (int i = 0; i < n; i++)
    scale(n, A[i]);
}

void inner_off(int n, float A[][100], float *B) {
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++)
      A[i][j] *= 2;
#pragma clang loop pipeline(disable)
    for (int j = 0; j < n; j++)
      B[j] = B[j] * 3 + A[i][j];
  }
}

void small_off(float *A) {
  for (int i = 0; i < 20; i++)
    A[i] *= 2;
}

void small_on(float *A) {
#pragma clang loop pipeline_initiation_interval(1)
  for (int i = 0; i < 20; i++)
    A[i] *= 2;
}

__attribute__((annotate("pollyrs: on"))) void small_function(float *A) {
  for (int i = 0; i < 20; i++)
    A[i] *= 2;
}
