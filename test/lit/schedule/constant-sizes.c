// A Cholesky factorisation whose size is a number: isl's scheduler sees the number as a parameter, and finds the right-looking order, in which
// whole columns and all that is to the right of them are parallel. What the dependences look like once they are simplified by the numbers hides it.
//
// RUN: %clang -O1 -fno-math-errno -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes='print<pollyrs-schedule>' -disable-output %t.ll 2>&1 | FileCheck %s

#include <math.h>

double A[4000][4000];

// CHECK:      domain
// CHECK-NOT:  size0
// CHECK:      sequential { S0[i0, i1, i2] -> [i2] } { S1[i0, i1] -> [i1] } { S2[i0, i1] -> [i1] } { S3[i0] -> [i0] }
// CHECK:      mark serial
// CHECK:      mark kernel
// CHECK:      coincident { S1[i0, i1] -> [i0] } { S2[i0, i1] -> [i0] }
// CHECK:      mark kernel
// CHECK-NEXT: band (permutable)
// CHECK-NEXT: coincident { S0[i0, i1, i2] -> [i0] }
// CHECK-NEXT: coincident { S0[i0, i1, i2] -> [i1] }
void cholesky(void) {
  for (int i = 0; i < 4000; ++i) {
    for (int j = 0; j < i; ++j) {
      for (int k = 0; k < j; ++k)
        A[i][j] -= A[i][k] * A[j][k];
      A[i][j] /= A[j][j];
    }
    for (int k = 0; k < i; ++k)
      A[i][i] -= A[i][k] * A[i][k];
    A[i][i] = sqrt(A[i][i]);
  }
}
