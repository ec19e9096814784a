// Why steps are not fused is told where launches are repeated, and where a strategy was asked for.
//
// RUN: %clang -O3 -c %s -o /dev/null -Rpass=pollyrs -Rpass-analysis=pollyrs 2>&1 | FileCheck %s
// RUN: %clang -O3 -mllvm -pollyrs-strategy=streaming -c %s -o /dev/null -Rpass=pollyrs -Rpass-analysis=pollyrs 2>&1 | FileCheck %s --check-prefix=ASKED

// CHECK: remark: offloaded scale
// CHECK-NOT: steps are not fused
// ASKED: remark: offloaded scale
// ASKED: steps are not fused: the statements are not all nests of one to three dimensions under a time loop [PRS003]
void scale(int n, double *restrict a, const double *restrict b) {
  for (int i = 0; i < n; i++)
    a[i] = 2 * b[i];
}

// CHECK: remark: offloaded around
// CHECK: steps are not fused: an access to a written array is not uniform [PRS003]
void around(int steps, int n, float A[restrict n], float B[restrict n]) {
  for (int t = 0; t < steps; ++t) {
    for (int j = 0; j < n; ++j)
      B[j] = A[j > 0 ? j - 1 : n - 1] + A[j < n - 1 ? j + 1 : 0];
    for (int j = 0; j < n; ++j)
      A[j] = B[j];
  }
}
