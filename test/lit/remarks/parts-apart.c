// Members of a structure at a constant distance are assumed to lie apart where nothing is parallel otherwise; a recurrence over a short distance, or one of any length, is none
// of two arrays.
//
// RUN: %clang -O2 -g -fpass-plugin=%plugin -mllvm -pollyrs-cubin=off -Rpass=pollyrs -Rpass-missed=pollyrs -Rpass-analysis=pollyrs -c %s -o /dev/null 2>&1 | FileCheck %s

struct line {
  double x[1000], y[1000];
};

void members(struct line *l, int n) {
  double *x = l->x, *y = l->y;
  for (int i = 0; i < n; i++)
    y[i] = 2 * x[i];
}

// CHECK: [[#@LINE-4]]:{{.*}} offloaded members
// CHECK: [[#@LINE-5]]:{{.*}} assumes delinearization: parts of {{l|x}} do not overlap

void lag(double *a, int n) {
  for (int i = 8; i < n; i++)
    a[i] = 2 * a[i - 8];
}

// CHECK: [[#@LINE-4]]:{{.*}} not offloaded: no loop can run in parallel

void any_lag(double *a, int n, int k) {
  for (int i = k; i < n; i++)
    a[i] = 2 * a[i - k];
}

// CHECK: [[#@LINE-4]]:{{.*}} not offloaded: no loop can run in parallel
