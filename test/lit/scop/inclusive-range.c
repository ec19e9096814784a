// An inclusive range, as Rust's `lo..=hi`, has a flag for its last value beside the test: on the way back it is not set, and the value is one more. The flag alone
// ends the loop, as the value cannot go beyond the end.
//
// RUN: %clang -O1 -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes='print<pollyrs-scop>' -disable-output %t.ll 2>&1 | FileCheck %s

// CHECK-LABEL: scop inclusive
// CHECK: domain {{.*}} { S0[i0] : 0 <= i0 <= -{{argument_0 \+ argument_1}} }
// CHECK-NEXT: must-write {{.*}} { S0[i0] -> argument_2[argument_0 + i0] }
void inclusive(long lo, long hi, double *a) {
  long i = lo;
  unsigned char done = 0;
  while (!(done || i > hi)) {
    long d = i;
    if (d < hi)
      i = d + 1;
    else
      done = 1;
    a[d] = 0.5;
  }
}

// The flag is set by something else as well.
// CHECK-NOT: scop searched
void searched(long lo, long hi, const double *restrict b, double *restrict a) {
  long i = lo;
  unsigned char done = 0;
  while (!(done || i > hi)) {
    long d = i;
    if (d < hi && b[d] > 0)
      i = d + 1;
    else
      done = 1;
    a[d] = 0.5;
  }
}
