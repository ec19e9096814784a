// Eight points along a column of a filter share 3 x 10 elements and nine weights, in code without loops; threads whose points are not all in the image load for each of
// them. Windows of a size that is not known are left alone; those along rows share nothing down the columns, and take four points far from each other.
//
// RUN: %clang -O1 -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes='print<pollyrs-ptx>' -disable-output %t.ll 2>&1 | FileCheck %s

// CHECK-LABEL: .entry constant_K0(
// CHECK: .reqntid 32, 4, 1
// CHECK-COUNT-39: ld.global.nc.b32
// CHECK-NOT: ld.global
// CHECK: bra.uni
void constant(int c, int h, int w, float in[c][h][w], float f[3][3], float out[c][h][w]) {
  for (int k = 0; k < c; k++)
    for (int y = 0; y < h - 2; y++)
      for (int x = 0; x < w - 2; x++) {
        float s = 0;
        for (int r = 0; r < 3; r++)
          for (int q = 0; q < 3; q++)
            s += in[k][y + r][x + q] * f[r][q];
        out[k][y][x] = s;
      }
}

// CHECK-LABEL: .entry unknown_K0(
// CHECK: .reqntid 32, 4, 1
void unknown(int c, int h, int w, int n, float in[c][h][w], float f[n][n], float out[c][h][w]) {
  for (int k = 0; k < c; k++)
    for (int y = 0; y < h - n; y++)
      for (int x = 0; x < w - n; x++) {
        float s = 0;
        for (int r = 0; r < n; r++)
          for (int q = 0; q < n; q++)
            s += in[k][y + r][x + q] * f[r][q];
        out[k][y][x] = s;
      }
}

// CHECK-LABEL: .entry rows_K0(
// CHECK: .reqntid 32, 8, 1
// CHECK-COUNT-28: ld.global.nc.b32
// CHECK: .entry rows_K1(
void rows(int h, int w, float in[h][w], float out[h][w]) {
  for (int y = 0; y < h; y++)
    for (int x = 3; x < w - 3; x++)
      out[y][x] = in[y][x - 3] + in[y][x - 2] + in[y][x - 1] + in[y][x] + in[y][x + 1] + in[y][x + 2] + in[y][x + 3];
}
