// LU of a matrix with a band whose end is a minimum: the code of its graph of tiles is beyond the budget, so that each step is launches.
// RUN: %clang -O2 -g -c %s -o /dev/null -Rpass=pollyrs -Rpass-missed=pollyrs 2>&1 | FileCheck %s

void banded(int n, int w, double a[n][n]) {
  // CHECK-NOT: not offloaded
  // CHECK: [[#@LINE+1]]:3: remark: offloaded banded{{.*}}: 3 loops, {{.*}}[PRS001]
  for (int k = 0; k < n; k++) {
    int end = k + w + 1 < n ? k + w + 1 : n;
    for (int i = k + 1; i < end; i++) {
      a[i][k] /= a[k][k];
      for (int j = k + 1; j < end; j++)
        a[i][j] -= a[i][k] * a[k][j];
    }
  }
}
