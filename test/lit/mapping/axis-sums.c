// Sums in their order over the last axes of an array: rows come through shared memory, for each of the iterations around them. No launch a row, no
// threads that read rows apart. A diagonal has no strips.
//
// RUN: %clang -O2 -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes='print<pollyrs-mapping;only-function=last>' -disable-output %t.ll 2>&1 | FileCheck %s --check-prefix=LAST
// RUN: %opt -passes='print<pollyrs-mapping;only-function=last_two>' -disable-output %t.ll 2>&1 | FileCheck %s --check-prefix=TWO
// RUN: %opt -passes='print<pollyrs-mapping;only-function=diagonals>' -disable-output %t.ll 2>&1 | FileCheck %s --check-prefix=DIAGONAL

// LAST-LABEL: kernel K0[]
// LAST:       lanes [1, 32]
// LAST:       shared array {{[0-9]+}} size [1, 32, 64]
void last(int n, int m, int l, double a[n][m][l], double *restrict out) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      double s = 0;
      for (int k = 0; k < l; k++)
        s += a[i][j][k];
      out[i * m + j] = s;
    }
}

// TWO-NOT:   [_h0]
// TWO-LABEL: kernel K0[]
// TWO:       lanes [32]
// TWO:       shared array {{[0-9]+}} size [32, 1, 64]
void last_two(int n, int m, int l, double a[n][m][l], double *restrict out) {
  for (int i = 0; i < n; i++) {
    double s = 0;
    for (int j = 0; j < m; j++)
      for (int k = 0; k < l; k++)
        s += a[i][j][k];
    out[i] = s;
  }
}

// DIAGONAL-LABEL: kernel K0[]
// DIAGONAL-NOT:   lanes
void diagonals(int n, int m, double x[n][m][n][m], double t[n][n]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < m; k++)
        t[i][j] += x[i][k][j][k];
}
