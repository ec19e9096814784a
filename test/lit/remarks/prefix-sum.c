// RunningTotal: each iteration stores what was added up so far; no flag helps. A sum of which only the end is stored is none.
//
// RUN: %clang -O3 -g -c %s -o /dev/null -Rpass=pollyrs -Rpass-missed=pollyrs 2>&1 | FileCheck %s
// RUN: %clang -O3 -g -ffast-math -c %s -o /dev/null -Rpass=pollyrs -Rpass-missed=pollyrs 2>&1 | FileCheck %s --check-prefixes=CHECK,FAST

// CHECK: prefix-sum.c:[[# @LINE + 3]]:3: remark: not offloaded: no loop can run in parallel: each iteration uses total as it was added up so far (a prefix sum) [PRS119]
void running(int n, double *restrict a, const double *restrict b) {
  double total = 0;
  for (int i = 0; i < n; i++) {
    total += b[i];
    a[i] = total;
  }
}

// CHECK: each iteration uses total as it was added up so far (a prefix sum) [PRS119]
void counts(int n, int *restrict a, const int *restrict b) {
  int total = 0;
  for (int i = 0; i < n; i++) {
    total += b[i];
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
