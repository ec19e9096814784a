// Two versions of a loop beside each other, of which one would have a single iteration for the shape that the other one gives an array: each is
// a model by itself. A remainder of a number that may be any is a parameter, the number is none.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-scop>" -disable-output %t.ll 2>&1 | FileCheck %s

// CHECK: scop versions.1 at
// CHECK: array double y[*] (memory)
// CHECK: scop versions.2 at
// CHECK: array double y[*]{{.*}} (memory)
void versions(long n, long s, double *restrict y, const double *restrict x, const int *restrict at) {
  if (s == 1)
    for (long i = 0; i < n; i++)
      y[i] += x[at[i]];
  else
    for (long i = 0; i < n; i++)
      y[i * s] += x[at[i]];
}

// CHECK: scop left_over at
// CHECK-NEXT: param [[P:wide___2000]] i64
// CHECK-NEXT: context {{.*}} -> {  : 0 <= [[P]] <= 1999 }
// CHECK-NOT: assume
// CHECK: domain {{.*}} -> { S0[i0] : 0 <= i0 < [[P]] }
void left_over(unsigned long wide, double *restrict y) {
  unsigned long n = wide % 2000;
  for (unsigned long i = 0; i < n; i++)
    y[i] += 1;
}
