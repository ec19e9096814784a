// Windows of a size that is not known, and of rows of several channels: a thread computes points beside each other, so that iterations side by side share what they load. No
// shared memory: a convolution over channels has four outputs of eight rows.
//
// RUN: %clang -O1 -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes='print<pollyrs-mapping>' -disable-output %t.ll 2>&1 | FileCheck %s

// CHECK:      kernel K0
// CHECK:       block _t0 size 4
// CHECK-NEXT:  block _t1 size 32
void columns(int n, int m, int r, const float *restrict f, const float x[restrict n][m], float y[restrict n][m]) {
  for (int i = r; i < n - r; i++)
    for (int j = 0; j < m; j++) {
      float s = 0;
      for (int k = -r; k <= r; k++)
        s += f[k + r] * x[i + k][j];
      y[i][j] = s;
    }
}

// CHECK:      kernel K0
// CHECK:       block _t0 size 4
// CHECK-NEXT:  block _t1 size 1
// CHECK-NEXT:  block _t2 size 32
// CHECK-NOT:   shared array
void convolution(int k, int c, int h, int w, const float x[restrict c][h + 2][w + 2], const float f[restrict k][c][3][3], float y[restrict k][h][w]) {
  for (int o = 0; o < k; o++)
    for (int i = 0; i < h; i++)
      for (int j = 0; j < w; j++) {
        float s = 0;
        for (int d = 0; d < c; d++)
          for (int p = 0; p < 3; p++)
            for (int q = 0; q < 3; q++)
              s += x[d][i + p][j + q] * f[o][d][p][q];
        y[o][i][j] = s;
      }
}
