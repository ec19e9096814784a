// A function that is searched in vain leaves something of the module's budget for those behind it.
//
// RUN: %clang -O3 -S -emit-llvm -fpass-plugin=%plugin -mllvm -pollyrs-targets=emulated -mllvm -pollyrs-module-budget=1600000 -Rpass=pollyrs -Rpass-missed=pollyrs %s -o %t.ll 2>&1 | FileCheck %s

// CHECK: not offloaded: the operation budget of {{.*}} is spent
void hard(long n, long m, double A[n][m], double B[n][m], double C[n][m]) {
  for (long t = 0; t < n; t++)
    for (long i = 3; i < n / 2; i++)
      for (long j = 2; j < m - i % 7; j += 3) {
        A[(i * 5 + t) % n][(j + t) % 13] += B[(t % 11) * 2][i % 17 + j / 5] * C[i / 3][(j + 2 * i) % 19];
        B[(i + 2 * t) % 23][j % 29] = A[i % 5][(j + t) / 3] - C[(t + i) % 31][j / 7];
        C[(t * 3 + j) % 37][i % 7] = A[(i + j) % 41][t % 3] + B[(i * t) % 43][j % 2];
      }
}

// CHECK: offloaded easy
void easy(long n, const double *restrict A, double *restrict B) {
  for (long i = 0; i < n; i++)
    B[i] = 2 * A[i];
}
