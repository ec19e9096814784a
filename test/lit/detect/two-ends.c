// Loops that end where the first of several comparisons fails; one that is left by data as well is none of them.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-scop>" -disable-output %t.ll 2>&1 | FileCheck %s

void pointers(double *a, double *end, const double *b, const double *stop) {
  for (; a != end && b != stop; ++a, ++b)
    *a += *b;
}

// CHECK-LABEL: scop pointers
// CHECK: assume no wrap: {{.*}} (each end of a loop is a whole number of steps away)
// CHECK: S0[i0] : 0 <= i0 <=

void by_data(double *restrict a, double *end, const double *restrict b) {
  for (; a != end && *b > 0; ++a, ++b)
    *a += *b;
}

// CHECK-NOT: scop by_data
