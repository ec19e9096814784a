// Time steps of stencils whose neighbours at the border are the nearest elements inside (clamped), or mirrored: in one to three dimensions, nine
// points with corners, two columns away, in two coupled fields, and by pointers that change places. Several steps run in one launch.
// ARGS: 0 9 9 9
// ARGS: 1 20 30 7
// ARGS: 5 1 1 1
// ARGS: 6 1 7 2
// ARGS: 7 2 3 5
// ARGS: 9 5 70 3
// ARGS: 25 40 300 4
// ARGS: 8 33 41 37
// OFFLOAD: yes
// TURNS: 3
// KERNELS: line
// KERNELS: cross
// KERNELS: mirrored
// KERNELS: nine
// KERNELS: fields
// KERNELS: swapped
// KERNELS: space
#include "example.h"

static inline int clamp(int i, int n) { return i < 0 ? 0 : i >= n ? n - 1 : i; }

__attribute__((noinline)) static void line(int steps, int n, TYPE *restrict A, TYPE *restrict B) {
  for (int t = 0; t < steps; ++t) {
    for (int i = 0; i < n; ++i)
      B[i] = (TYPE)0.4 * A[i] + (TYPE)0.2 * A[i == 0 ? 0 : i - 1] + (TYPE)0.4 * A[i == n - 1 ? n - 1 : i + 1];
    for (int i = 0; i < n; ++i)
      A[i] = (TYPE)0.5 * B[i] + (TYPE)0.5 * B[clamp(i - 2, n)];
  }
}

__attribute__((noinline)) static void cross(int steps, int n, int m, TYPE A[restrict n][m], TYPE B[restrict n][m]) {
  for (int t = 0; t < steps; ++t) {
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < m; ++j) {
        int up = i == 0 ? 0 : i - 1, down = i == n - 1 ? i : i + 1, left = j > 0 ? j - 1 : 0, right = j < m - 1 ? j + 1 : m - 1;
        B[i][j] = (TYPE)0.2 * (A[i][j] + A[up][j] + A[down][j] + A[i][left] + (TYPE)0.9 * A[i][right]);
      }
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < m; ++j)
        A[i][j] = B[i][j];
  }
}

__attribute__((noinline)) static void mirrored(int steps, int n, int m, TYPE A[restrict 2][n][m]) {
  for (int t = 0; t < steps; ++t)
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < m; ++j) {
        int up = i == 0 ? 1 : i - 1, down = i == n - 1 ? n - 2 : i + 1, left = j == 0 ? 1 : j - 1, right = j == m - 1 ? m - 2 : j + 1;
        A[(t + 1) % 2][i][j] = (TYPE)0.3 * A[t % 2][i][j] + (TYPE)0.2 * (A[t % 2][up][j] + A[t % 2][down][j]) +
                               (TYPE)0.15 * (A[t % 2][i][left] + A[t % 2][i][right]);
      }
}

__attribute__((noinline)) static void nine(int steps, int n, int m, TYPE A[restrict n][m], TYPE B[restrict n][m]) {
  for (int t = 0; t < steps; ++t) {
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < m; ++j) {
        int up = i > 0 ? i - 1 : 0, down = i < n - 1 ? i + 1 : n - 1, left = j > 0 ? j - 1 : 0, right = j < m - 1 ? j + 1 : m - 1;
        B[i][j] = (TYPE)0.1 * (A[up][left] + A[up][j] + A[up][right] + A[i][left] + (TYPE)2 * A[i][j] + A[i][right] + A[down][left] +
                               A[down][j] + A[down][right]);
      }
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < m; ++j)
        A[i][j] = B[i][j];
  }
}

__attribute__((noinline)) static void fields(int steps, int n, int m, TYPE U[restrict n][m], TYPE V[restrict n][m]) {
  for (int t = 0; t < steps; ++t) {
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < m; ++j)
        U[i][j] += (TYPE)0.3 * (V[i][j] - V[i][j > 0 ? j - 1 : 0]);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < m; ++j)
        V[i][j] += (TYPE)0.3 * (U[i < n - 1 ? i + 1 : i][j] - U[i][j]);
  }
}

__attribute__((noinline)) static void swapped(int steps, int n, int m, TYPE *restrict a, TYPE *restrict b) {
  for (int t = 0; t < steps; ++t) {
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < m; ++j)
        b[i * m + j] = (TYPE)0.25 * (a[(i == 0 ? 0 : i - 1) * m + j] + a[(i == n - 1 ? n - 1 : i + 1) * m + j] + a[i * m + (j == 0 ? 0 : j - 1)] +
                                     a[i * m + (j == m - 1 ? m - 1 : j + 1)]);
    TYPE *c = a;
    a = b;
    b = c;
  }
}

__attribute__((noinline)) static void space(int steps, int l, int n, int m, TYPE A[restrict l][n][m], TYPE B[restrict l][n][m]) {
  for (int t = 0; t < steps; ++t) {
    for (int h = 0; h < l; ++h)
      for (int i = 0; i < n; ++i)
        for (int j = 0; j < m; ++j) {
          int w = j == 0 ? j : j - 1, e = j == m - 1 ? j : j + 1, s = i == 0 ? i : i - 1, o = i == n - 1 ? i : i + 1, b = h == 0 ? h : h - 1,
              f = h == l - 1 ? h : h + 1;
          B[h][i][j] = (TYPE)0.14 * (A[h][i][j] + A[h][i][w] + A[h][i][e] + A[h][s][j] + A[h][o][j] + A[b][i][j] + A[f][i][j]);
        }
    for (int h = 0; h < l; ++h)
      for (int i = 0; i < n; ++i)
        for (int j = 0; j < m; ++j)
          A[h][i][j] = B[h][i][j];
  }
}

int main(int argc, char **argv) {
  int steps = (int)example_arg(argc, argv, 1, 9), n = (int)example_arg(argc, argv, 2, 40), m = (int)example_arg(argc, argv, 3, 150);
  int l = (int)example_arg(argc, argv, 4, 8);
  size_t plane = (size_t)n * m, count = 2 * plane > l * plane ? 2 * plane : l * plane;
  TYPE *A = example_array(count), *B = example_array(count);
#define RUN(name, call)                                                                                                                \
  do {                                                                                                                                 \
    example_fill(A, count);                                                                                                            \
    example_fill(B, count);                                                                                                            \
    call;                                                                                                                              \
    example_print(name, A, count);                                                                                                     \
    example_print(name, B, count);                                                                                                     \
  } while (0)
  RUN("line", line(steps, m, A, B));
  RUN("cross", cross(steps, n, m, (TYPE(*)[m])A, (TYPE(*)[m])B));
  if (n > 1 && m > 1)
    RUN("mirrored", mirrored(steps, n, m, (TYPE(*)[n][m])A));
  RUN("nine", nine(steps, n, m, (TYPE(*)[m])A, (TYPE(*)[m])B));
  RUN("fields", fields(steps, n, m, (TYPE(*)[m])A, (TYPE(*)[m])B));
  RUN("swapped", swapped(steps, n, m, A, B));
  RUN("space", space(steps, l, n, m, (TYPE(*)[n][m])A, (TYPE(*)[n][m])B));
  return 0;
}
