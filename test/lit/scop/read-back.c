// What an iteration stores and adds to a carried sum is read back by the sum's statement, so that the store is one by itself.
// RUN: %clang -O1 -Xclang -disable-llvm-passes -S -emit-llvm -fno-math-errno %s -o %t.ll
// RUN: %opt -passes='print<pollyrs-scop>' -disable-output %t.ll 2>&1 | FileCheck %s
#include <math.h>

void exponentials(int n, int m, float A[n][m], float *s) {
  for (int i = 0; i < n; i++) {
    float sum = 0;
    for (int j = 0; j < m; j++) {
      A[i][j] = expf(A[i][j]);
      sum += A[i][j];
    }
    s[i] = sum;
  }
}

// CHECK-LABEL: scop exponentials
// CHECK: { S2[i0, i1] :
// CHECK-NEXT: read {{.*}} S2[i0, i1] -> argument_2[i0, i1]
// CHECK-NEXT: must-write {{.*}} S2[i0, i1] -> argument_2[i0, i1]
// CHECK-NEXT: statement S3
// CHECK-NEXT: { S3[i0, i1] :
// CHECK-NEXT: read {{.*}} S3[i0, i1] -> argument_2[i0, i1]
// CHECK-NEXT: read {{.*}} S3[i0, i1] -> phi
// CHECK-NEXT: must-write {{.*}} S3[i0, i1] -> phi

// Behind a second store to the same array the first value may be gone.
void stored_twice(int n, float *A, float *s) {
  float sum = 0;
  for (int i = 0; i < n; i++) {
    float v = expf(A[2 * i]);
    A[2 * i] = v;
    A[4 * i + 1] = 1;
    sum += v;
  }
  *s = sum;
}

// CHECK-LABEL: scop stored_twice
// CHECK: { S2[i0] :
// CHECK-NEXT: read {{.*}} S2[i0] -> argument_1[
// CHECK-NEXT: must-write {{.*}} S2[i0] -> argument_1[
// CHECK-NEXT: must-write {{.*}} S2[i0] -> argument_1[
// CHECK-NEXT: read {{.*}} S2[i0] -> phi
// CHECK-NEXT: must-write {{.*}} S2[i0] -> phi
