// OrderedSum: what is in the way is the order of a floating-point sum.
//
// RUN: %clang -O3 -c %s -o /dev/null -Rpass=pollyrs -Rpass-missed=pollyrs 2>&1 | FileCheck %s
// RUN: %clang -O3 -fassociative-math -fno-signed-zeros -c %s -o /dev/null -Rpass=pollyrs -Rpass-missed=pollyrs 2>&1 | FileCheck --check-prefix=FAST %s

// CHECK: ordered-sum.c:[[# @LINE + 4]]:3: remark: not offloaded: no loop can run in parallel: {{.*}} is a sum of floating-point numbers, which keeps its order without -fassociative-math [PRS118] [-Rpass-missed=pollyrs]
// FAST: ordered-sum.c:[[# @LINE + 3]]:3: remark: offloaded
double norm(int n, const double *A) {
  double sum = 0;
  for (int i = 0; i < n; i++)
    sum += A[i] * A[i];
  return sum;
}

// Beside a loop that could run in parallel as well: the host adds up much faster than one thread of the device.
// CHECK: ordered-sum.c:[[# @LINE + 4]]:3: remark: not offloaded: no loop can run in parallel: {{.*}} is a sum of floating-point numbers, which keeps its order without -fassociative-math [PRS118] [-Rpass-missed=pollyrs]
// FAST: ordered-sum.c:[[# @LINE + 3]]:3: remark: offloaded
double update(int n, double a, double *restrict r, const double *restrict q) {
  double sum = 0;
  for (int i = 0; i < n; i++) {
    r[i] -= a * q[i];
    sum += r[i] * r[i];
  }
  return sum;
}
