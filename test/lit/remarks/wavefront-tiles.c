// Points of a wavefront in tiles, and one by one.
//
// RUN: %clang -O3 -Rpass=pollyrs -Rpass-analysis=pollyrs -c %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=TILES
// RUN: %clang -O3 -mllvm -pollyrs-wave-tile=none -Rpass=pollyrs -Rpass-analysis=pollyrs -c %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=POINTS

// TILES:  remark: fuses steps: tiles of a wavefront, a launch for each diagonal
// POINTS: remark: steps are not fused
void table(int n, double a[restrict n + 1][n + 1], double b[restrict n][n]) {
  for (int i = 1; i <= n; i++)
    for (int j = 1; j <= n; j++)
      a[i][j] = b[i - 1][j - 1] + a[i - 1][j] + a[i][j - 1] - a[i - 1][j - 1];
}
