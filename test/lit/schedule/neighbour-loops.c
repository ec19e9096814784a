// A loop over neighbours inside of a time loop is a sum of loads at constant distances: steps are fused.
// A loop that reads what no step writes (a filter) stays a loop.
// RUN: %clang -O3 -S -emit-llvm -o /dev/null -mllvm -pollyrs-cubin=off -Rpass=pollyrs -Rpass-analysis=pollyrs %s 2>&1 | FileCheck %s
// CHECK: offloaded star: 3 loops, 1 statement
// CHECK: fuses steps
void star(int steps, int n, float A[2][n][n], const float *w) {
  for (int t = 0; t < steps; ++t)
    for (int i = 2; i < n - 2; ++i)
      for (int j = 2; j < n - 2; ++j) {
        float sum = w[0] * A[t % 2][i][j];
        for (int d = 1; d <= 2; ++d)
          sum += w[d] * (A[t % 2][i - d][j] + A[t % 2][i + d][j]);
        A[(t + 1) % 2][i][j] = sum;
      }
}
// CHECK: offloaded filter: 4 loops
void filter(int images, int n, float (*restrict to)[n][n], float (*restrict from)[n][n], const float *restrict w) {
  for (int m = 0; m < images; ++m)
    for (int i = 2; i < n - 2; ++i)
      for (int j = 2; j < n - 2; ++j) {
        float sum = 0;
        for (int d = -2; d <= 2; ++d)
          sum += w[d + 2] * from[m][i + d][j];
        to[m][i][j] = sum;
      }
}
