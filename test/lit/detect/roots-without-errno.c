// A root sets errno for arguments below zero. Where the argument is a sum of squares, a magnitude, or not below zero for another reason, nothing has to be looked at.
//
// RUN: %clang -O1 -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-scop>" -disable-output %t.ll 2>&1 | FileCheck %s

#include <math.h>

// CHECK-LABEL: scop squares
// CHECK-NOT: fault
void squares(int n, float *A, double *B) {
  for (int i = 0; i < n; i++) {
    A[i] = sqrtf(A[i] * A[i] + 0.5f);
    B[i] = sqrt(B[i] * B[i] + (double)A[i] * A[i]);
  }
}

// CHECK-LABEL: scop magnitudes
// CHECK-NOT: fault
void magnitudes(int n, float *A) {
  for (int i = 0; i < n; i++)
    A[i] = sqrtf(fabsf(A[i]));
}

// CHECK-LABEL: scop differences
// CHECK: fault
void differences(int n, float *A) {
  for (int i = 0; i < n; i++)
    A[i] = sqrtf(A[i] * A[i] - 0.5f);
}
