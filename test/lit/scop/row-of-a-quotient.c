// The second row of a matrix with rows of `n / 2 + 1` begins at `n / 2 + 1`: the same number in the place of an array and as the length of a row.
// Data has the subscripts of a row that is as long as the other sizes: `0` to its length less one. A pointer that is compared with null is a number that fits.
//
// RUN: %clang -O1 -Xclang -disable-llvm-passes -S -emit-llvm %s -o - | %opt -passes='print<pollyrs-scop>' -disable-output 2>&1 | FileCheck %s

// CHECK-LABEL: scop coarse
// CHECK: array double argument_1[*][{{.*}} -> { [(1 + argument_0_2)] }]
// CHECK: must-write {{.*}} -> argument_1[1 + i0, 1 + i1] }
void coarse(int n, double *c, const double *f) {
  int m = n / 2;
  for (int i = 1; i < m; i++)
    for (int j = 1; j < m; j++)
      c[i * (m + 1) + j] = f[2 * i * (n + 1) + 2 * j];
}

// CHECK-LABEL: scop emissions
// CHECK: may-read {{.*}} -> argument_2[i0, o1] : {{.*}}argument_3_min <= o1 <= argument_3_max }
void emissions(int states, int symbols, const double *emit, const int *seen, double *alpha, int k) {
  for (int j = 0; j < states; j++)
    alpha[k * states + j] = alpha[(k - 1) * states + j] * emit[j * symbols + seen[k]];
}

// CHECK-LABEL: scop bias
// CHECK: param min_1__argument_1 i64
void bias(float *w, float *b, const float *d, int n, int m) {
  for (int o = 0; o < n; o++)
    for (int k = 0; k < m; k++) {
      if (b)
        b[o] += d[k * n + o];
      for (int i = 0; i < n; i++)
        w[o * n + i] += d[k * n + o];
    }
}
