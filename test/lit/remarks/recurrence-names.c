// NoParallelism names what iterations need of earlier ones as the program does. (A maximum with its place that takes NaNs can't be regrouped.)
//
// RUN: %clang -O3 -g -c %s -o /dev/null -Rpass=pollyrs -Rpass-missed=pollyrs 2>&1 | FileCheck %s

// CHECK: recurrence-names.c:[[# @LINE + 3]]:3: remark: not offloaded: no loop can run in parallel: iterations need best and most of earlier ones
int largest(int n, const float *x, float *value) {
  int best = 0; float most = x[0];
  for (int i = 1; i < n; i++)
    if (!(x[i] <= most)) {
      most = x[i];
      best = i;
    }
  *value = most;
  return best;
}
