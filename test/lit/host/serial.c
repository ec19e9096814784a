// What one thread would run alone is said before an execution begins: sums that keep their order, with the instructions of a term. Nothing is said where all
// parts of a loop nest are parallel, nor of sums that blocks of rows have.
//
// RUN: %clang -O1 -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes='print<pollyrs-host;only-function=ordered>' -S %t.ll 2>/dev/null | FileCheck %s --check-prefix=ORDERED
// RUN: %opt -passes='print<pollyrs-host;only-function=rows>' -S %t.ll 2>/dev/null | FileCheck %s --check-prefix=PARALLEL
// RUN: %opt -passes='print<pollyrs-host;only-function=scaled>' -S %t.ll 2>/dev/null | FileCheck %s --check-prefix=PARALLEL

#include <math.h>

// ORDERED-LABEL: define {{.*}}ordered
// ORDERED: call void @pollyrs_rt_serial(ptr @pollyrs.scop{{.*}}, double %{{.*}})
// ORDERED-NEXT: call ptr @pollyrs_rt_begin(
double ordered(int n, int m, const double *restrict a, double *restrict b) {
  double sum = 0;
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < m; j++) {
      b[i * m + j] = 3 * a[i * m + j];
      sum += exp(b[i * m + j]);
    }
  }
  return sum;
}

// PARALLEL: call ptr @pollyrs_rt_begin(
// PARALLEL-NOT: call void @pollyrs_rt_serial
void rows(int n, int m, const double *restrict a, double *restrict sums) {
  for (int i = 0; i < n; i++) {
    double sum = 0;
    for (int j = 0; j < m; j++)
      sum += exp(a[i * m + j]);
    sums[i] = sum;
  }
}

void scaled(int n, const double *restrict a, double *restrict b) {
  for (int i = 0; i < n; i++)
    b[i] = 3 * a[i];
}
