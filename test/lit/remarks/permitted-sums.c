// Sums and products that a pragma of their loop lets be regrouped run in parts, as clang's vectoriser would have them; the pragma says nothing of
// others.
//
// RUN: %clang -O2 -fopenmp-simd -Wno-pass-failed %s -c -o /dev/null -Rpass=pollyrs -Rpass-missed=pollyrs -fno-caret-diagnostics 2>&1 | FileCheck %s

// CHECK: permitted-sums.c:[[# @LINE + 4]]:{{.*}} offloaded sum:
double sum(int n, const double *a) {
  double s = 0;
#pragma clang loop vectorize(enable)
  for (int i = 0; i < n; i++)
    s += a[i];
  return s;
}

// CHECK: permitted-sums.c:[[# @LINE + 3]]:{{.*}} offloaded dot:
float dot(int n, const float *a, const float *b) {
  float s = 0;
#pragma omp simd reduction(+ : s)
  for (int i = 0; i < n; i++)
    s += a[i] * b[i];
  return s;
}

// CHECK: permitted-sums.c:[[# @LINE + 4]]:{{.*}} offloaded product:
double product(int n, const double *a) {
  double p = 1;
#pragma clang loop vectorize(enable)
  for (int i = 0; i < n; i++)
    p *= a[i];
  return p;
}

// CHECK: permitted-sums.c:[[# @LINE + 3]]:{{.*}} not offloaded: no loop can run in parallel: {{.*}} keeps its order without -fassociative-math [PRS118]
double in_order(int n, const double *a) {
  double s = 0;
  for (int i = 0; i < n; i++)
    s += a[i];
  return s;
}

// A pragma that forbids vectors permits nothing.
// CHECK: permitted-sums.c:[[# @LINE + 4]]:{{.*}} not offloaded: no loop can run in parallel: {{.*}} keeps its order without -fassociative-math [PRS118]
double forbidden(int n, const double *a) {
  double s = 0;
#pragma clang loop vectorize(disable)
  for (int i = 0; i < n; i++)
    s += a[i];
  return s;
}

// Each partial sum is seen.
// CHECK: permitted-sums.c:[[# @LINE + 4]]:{{.*}} not offloaded: no loop can run in parallel
double filtered(int n, double *a) {
  double s = 0;
#pragma clang loop vectorize(enable)
  for (int i = 0; i < n; i++)
    s = 0.5 * s + a[i];
  return s;
}
