// Two triangular updates in one step: tiles that fit a launch as a whole do not fit the part that they would be for, so the launch has none. That was an internal error.
// RUN: %clang -O3 -ffp-contract=off -mllvm -pollyrs-targets=emulated -mllvm -pollyrs-graph=always -Rpass=pollyrs -Rpass-missed=pollyrs -c %s -o %t.o 2>&1 | FileCheck %s

// CHECK-NOT: internal error
// CHECK: offloaded updates
// CHECK-NOT: internal error

void updates(int n, float A[restrict][210], float B[restrict][210], float C[restrict][210], int M[restrict][210], float *restrict w) {
  for (int k = 0; k < n; k++) {
    for (int i = k + 1; i < n; i++)
      for (int j = 0; j < k + 1; j++) {
        C[i][j] -= C[i][k] * B[k][j];
        M[i][j]++;
      }
    for (int i = k; i < n; i++)
      for (int j = k + 1; j < i + 1; j++) {
        A[i][j] += B[j][k] * C[j][j] / B[k][k];
        w[k] = w[k] + 1;
      }
  }
}
