// Tiles whose order counts: the loops over points have another one, and stay.
//
// RUN: %clang -O3 -g -mllvm -pollyrs-cubin=off -Rpass=pollyrs -Rpass-missed=pollyrs -c %s -o %t.o 2>&1 | FileCheck %s

#define MIN(a, b) ((a) < (b) ? (a) : (b))

// CHECK: offloaded front: 2 loops
void front(int n, int ts, double *restrict a) {
  for (int i = 1; i < n; i += ts)
    for (int j = 1; j < n; j += ts)
      for (int it = i; it < MIN(n, i + ts); it++)
        for (int jt = j; jt < MIN(n, j + ts); jt++)
          a[it * n + jt] = 0.5 * (a[(it - 1) * n + jt] + a[it * n + jt - 1]);
}

// CHECK: not offloaded: no loop can run in parallel: what points of different tiles do depends on the tiles' order
void skewed(int n, int ts, double *restrict a) {
  for (int i = 1; i < n; i += ts)
    for (int j = 0; j < n - 1; j += ts)
      for (int it = i; it < MIN(n, i + ts); it++)
        for (int jt = j; jt < MIN(n - 1, j + ts); jt++)
          a[it * n + jt] += 0.25 * a[(it - 1) * n + jt + 1];
}
