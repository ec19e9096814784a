// Fields of a grid one behind the other, of which only a number says which is meant: planes, not rows of one, so that they are told apart without
// a condition on the sizes.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-scop>" -disable-output %t.ll 2>&1 | FileCheck %s

void fields(int t, int n, int m, double f[2][3][n][m]) {
  for (int s = 0; s < t; s++)
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < m - 1; j++) {
        f[(s + 1) % 2][0][i][j] = f[s % 2][0][i][j - 1] + f[s % 2][2][i][j];
        f[(s + 1) % 2][1][i][j] = f[s % 2][1][i - 1][j];
        f[(s + 1) % 2][2][i][j] = f[s % 2][2][i + 1][j + 1];
      }
}

// CHECK-LABEL: scop fields
// CHECK:       array double f[*]{{.*}}(3){{.*}}(n){{.*}}(m){{.*}} (memory)
// CHECK:       must-write {{.*}} -> f[o0, 0, 1 + i1, 1 + i2]
// CHECK:       must-write {{.*}} -> f[o0, 1, 1 + i1, 1 + i2]
// CHECK:       must-write {{.*}} -> f[o0, 2, 1 + i1, 1 + i2]

// The distance is no whole number of rows of what it lies in: rows of one array.
void apart(int n, int m, double *f) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      f[i * m + j] += f[n * m + 3 + i * m + j];
}

// CHECK-LABEL: scop apart
// CHECK:       array double f[*][{{[^]]*}}] -> { [(m)] }] (memory)
