// A small array on the stack becomes values, its loops being unrolled; a larger one stays an array: an iteration of the loops around has it for itself.
//
// RUN: %clang -O3 -S -emit-llvm -fpass-plugin=%plugin -mllvm -pollyrs-targets=emulated -Rpass=pollyrs -Rpass-missed=pollyrs %s -o %t.ll 2>&1 | FileCheck %s

// CHECK: offloaded small: 1 loop
void small(int n, const float a[n][4], float b[n][4]) {
  for (int i = 0; i < n; i++) {
    float t[4];
    for (int j = 0; j < 4; j++)
      t[j] = a[i][3 - j] * 2;
    for (int j = 0; j < 4; j++)
      b[i][j] = t[j] + t[(j + 1) % 4];
  }
}

// CHECK: offloaded dct: 8 loops
void dct(int h, int w, const float in[h][w], const float c[8][8], float out[h][w]) {
  for (int y = 0; y < h; y += 8)
    for (int x = 0; x < w; x += 8) {
      float t[8][8];
      for (int u = 0; u < 8; u++)
        for (int j = 0; j < 8; j++) {
          float s = 0;
          for (int i = 0; i < 8; i++)
            s += c[u][i] * in[y + i][x + j];
          t[u][j] = s;
        }
      for (int u = 0; u < 8; u++)
        for (int v = 0; v < 8; v++) {
          float s = 0;
          for (int j = 0; j < 8; j++)
            s += t[u][j] * c[v][j];
          out[y + u][x + v] = s;
        }
    }
}
