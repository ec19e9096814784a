// What moves with a point and with a loop goes through shared memory: a tile's pixels beneath one element of the window, and the weights.
//
// RUN: %clang -O1 -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-mapping>" -disable-output %t.ll 2>&1 | FileCheck %s

// CHECK:     operand tile _copy0 of 8
// CHECK-DAG: shared array {{[0-9]+}} size [1, 1, 64, 8] order [0, 1, 3, 2] padding 4
// CHECK-DAG: shared array {{[0-9]+}} size [1, 1, 8, 64] order [0, 1, 2, 3] padding 4
void convolution(int n, int h, int w, int k, int c, float out[n][h][w][k], float in[n][h + 2][w + 2][c], float weight[3][3][c][k]) {
  for (int b = 0; b < n; ++b)
    for (int y = 0; y < h; ++y)
      for (int x = 0; x < w; ++x)
        for (int o = 0; o < k; ++o)
          for (int p = 0; p < 3; ++p)
            for (int q = 0; q < 3; ++q)
              for (int i = 0; i < c; ++i)
                out[b][y][x][o] += in[b][y + p][x + q][i] * weight[p][q][i][o];
}
