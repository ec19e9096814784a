/* Loops of three dimensions with one launch each, for the shape of their blocks: `loops_3d 1 [NAME]` runs each four times (or the one of that name) on random
 * data and prints a hash of what it computed; then `pointwise` with short loops, three times each. */
#define LOW 0.0
#define HIGH 1.0
#include "loops.h"

#define EACH(from, n, m, k)          \
  for (int x = from; x < (n); x++)   \
    for (int y = from; y < (m); y++) \
      for (int z = from; z < (k); z++)

KERNEL void pointwise(int n, int m, int k, float a[n][m][k], float b[n][m][k], float c[n][m][k]) {
  EACH(0, n, m, k) c[x][y][z] = a[x][y][z] * b[x][y][z] + 1.0f;
}

KERNEL void bias(int n, int m, int k, float a[n][m][k], float b[m], float c[n][m][k]) {
  EACH(0, n, m, k) c[x][y][z] = a[x][y][z] + b[y];
}

KERNEL void pool(int n, int m, int k, float a[n][2 * m][2 * k], float c[n][m][k]) {
  EACH(0, n, m, k)
    c[x][y][z] = fmaxf(fmaxf(a[x][2 * y][2 * z], a[x][2 * y][2 * z + 1]), fmaxf(a[x][2 * y + 1][2 * z], a[x][2 * y + 1][2 * z + 1]));
}

KERNEL void swap(int n, int m, int k, float a[n][m][k], float c[n][k][m]) { EACH(0, n, k, m) c[x][y][z] = a[x][z][y]; }

KERNEL void rotate(int n, int m, int k, float a[n][m][k], float c[k][n][m]) { EACH(0, k, n, m) c[x][y][z] = a[y][z][x]; }

KERNEL void conv(int n, int m, int k, float a[n + 2][m + 2][k + 2], float w[3][3][3], float c[n][m][k]) {
  EACH(0, n, m, k) {
    float s = 0;
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++)
        for (int l = 0; l < 3; l++)
          s += a[x + i][y + j][z + l] * w[i][j][l];
    c[x][y][z] = s;
  }
}

KERNEL void seven(int n, int m, int k, double a[n][m][k], double c[n][m][k]) {
  EACH(1, n - 1, m - 1, k - 1)
    c[x][y][z] = a[x][y][z] * 0.4 + 0.1 * (a[x - 1][y][z] + a[x + 1][y][z] + a[x][y - 1][z] + a[x][y + 1][z] + a[x][y][z - 1] + a[x][y][z + 1]);
}

KERNEL void scores(int n, int m, int k, int d, float q[n][m][d], float r[n][k][d], float c[n][m][k]) {
  EACH(0, n, m, k) {
    float s = 0;
    for (int e = 0; e < d; e++)
      s += q[x][y][e] * r[x][k - 1 - z][e];
    c[x][y][z] = s;
  }
}

int main(int argc, char **argv) {
  int n = 384;
  size_t out = (size_t)n * n * n;
  float *a[3];
  for (int i = 0; i < 3; i++)
    a[i] = floats(2 * out + (1 << 24));
#define P(i) ((void *)a[i])
  RUN(pointwise, , (n, n, n, P(0), P(1), P(2)), a[2], out * 4)
  RUN(bias, , (n, n, n, P(0), P(1), P(2)), a[2], out * 4)
  RUN(pool, , (n, n / 2, n / 2, P(0), P(2)), a[2], out)
  RUN(swap, , (n, n, n, P(0), P(2)), a[2], out * 4)
  RUN(rotate, , (n, n, n, P(0), P(2)), a[2], out * 4)
  RUN(conv, , (n, n, n, P(0), P(1), P(2)), a[2], out * 4)
  RUN(seven, , (n, n, n, P(0), P(2)), a[2], out * 8)
  RUN(scores, , (64, 512, 512, 64, P(0), P(1), P(2)), a[2], out)
  if (argc > 2 && !strcmp(argv[2], "pointwise"))
    for (int r = 0; r < 3; r++) {
      pointwise(1 << 16, 9, 64, P(0), P(1), P(2));
      pointwise(8, 4, 1 << 20, P(0), P(1), P(2));
    }
  return 0;
}
