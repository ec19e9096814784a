// Steps with conditions at the sides of a grid, and with functions that may set errno, are fused. Loads whose place is not known to be there stay under their condition.
//
// RUN: %clang -O3 -S -emit-llvm -fpass-plugin=%plugin -mllvm -pollyrs-targets=emulated -Rpass=pollyrs -Rpass-missed=pollyrs -Rpass-analysis=pollyrs %s -o %t.ll 2>&1 | FileCheck %s

double exp(double);

// CHECK: offloaded held: 5 loops, 4 statements
// CHECK: fuses steps: {{.*}} time iterations a launch
void held(int steps, int n, double a[n][n], double b[n][n]) {
  for (int t = 0; t < steps; t++) {
    double(*from)[n] = t % 2 ? b : a, (*to)[n] = t % 2 ? a : b;
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++)
        if (i == 0 || j == 0 || i == n - 1 || j == n - 1)
          to[i][j] = from[i][j];
        else
          to[i][j] = 0.25 * (from[i - 1][j] + from[i + 1][j] + from[i][j - 1] + from[i][j + 1]);
  }
}

// CHECK: offloaded cheapest
// CHECK: fuses steps: {{.*}} time iterations a launch
void cheapest(int rows, int n, int *restrict wall, int *from, int *to) {
  for (int t = 0; t < rows; t++) {
    for (int j = 0; j < n; j++) {
      int least = from[j];
      if (j > 0 && from[j - 1] < least)
        least = from[j - 1];
      if (j < n - 1 && from[j + 1] < least)
        least = from[j + 1];
      to[j] = wall[t * n + j] + least;
    }
    int *x = from;
    from = to;
    to = x;
  }
}

// CHECK: offloaded conducted
// CHECK: fuses steps: {{.*}} time iterations a launch
void conducted(int steps, int n, double *a, double *b) {
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n - 1; i++)
      b[i] = a[i] + 0.2 * exp(a[i - 1] - a[i + 1]);
    double *x = a;
    a = b;
    b = x;
  }
}

// CHECK: offloaded unseen
// CHECK: steps are not fused: a value crosses statements in a scalar
void unseen(int steps, int n, double *restrict a, double *restrict b, const double *restrict k) {
  for (int t = 0; t < steps; t++) {
    for (int j = 1; j < n - 1; j++) {
      double s = a[j - 1] + a[j + 1];
      if (j > 3)
        s += 0.25 * k[j];
      b[j] = 0.5 * s;
    }
    for (int j = 1; j < n - 1; j++)
      a[j] = b[j];
  }
}
