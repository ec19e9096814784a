// RunningTotal: each iteration stores what was added up so far. That runs in parts where it may be regrouped: integers, others with flags.
//
// RUN: %clang -O3 -g -c %s -o /dev/null -Rpass=pollyrs -Rpass-missed=pollyrs 2>&1 | FileCheck %s --check-prefixes=CHECK,STRICT
// RUN: %clang -O3 -g -ffast-math -c %s -o /dev/null -Rpass=pollyrs -Rpass-missed=pollyrs 2>&1 | FileCheck %s --check-prefixes=CHECK,FAST

// STRICT: prefix-sum.c:[[# @LINE + 4]]:3: remark: not offloaded: no loop can run in parallel: total is a sum of floating-point numbers, which keeps its order without -fassociative-math [PRS118]
// FAST: remark: offloaded running
void running(int n, double *restrict a, const double *restrict b) {
  double total = 0;
  for (int i = 0; i < n; i++) {
    total += b[i];
    a[i] = total;
  }
}

// CHECK: remark: offloaded counts
void counts(int n, int *restrict a, const int *restrict b) {
  int total = 0;
  for (int i = 0; i < n; i++) {
    total += b[i];
    a[i] = total;
  }
}

// CHECK: each iteration uses total as it was added up so far (a prefix sum) [PRS119]
void turns(int n, int *restrict a, const int *restrict b) {
  int total = 0;
  for (int i = 0; i < n; i++) {
    total = b[i] - total;
    a[i] = total;
  }
}

// FAST: remark: offloaded last
void last(int n, double *restrict a, const double *restrict b) {
  double total = 0;
  for (int i = 0; i < n; i++)
    total += b[i];
  *a = total;
}
