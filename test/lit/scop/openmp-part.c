// A thread's part of a parallel loop goes from lb to min(ub, n - 1), where the OpenMP library says what lb and ub are. What is assumed are
// iterations, not that ub is beyond the loop's end, which is so in the last part only.
//
// RUN: %clang -O1 -fopenmp -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-scop>" -disable-output %t.ll 2>&1 | FileCheck %s

void share(int n, double *a) {
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      a[i * n + j] *= 2;
}

// CHECK: assume not negative: {{.*}} -> {  : [[N:[a-z_0-9]+]] > [[LB:[a-z_0-9]+]] and [[UB:[a-z_0-9]+]] >= [[LB]] }
// CHECK: domain {{.*}} -> { S0[i0, i1] : 0 <= i0 <= -[[LB]] + [[UB]] and i0 < -[[LB]] + [[N]] and 0 <= i1 < [[SIZE:[a-z_0-9]+]] }
