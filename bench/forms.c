/* One stencil in the forms that programs have it in: `forms SIZE [NAME]` runs each four times (or the one of that name) and prints a hash of what it computed. SIZE 0
 * is small, to be compared with the plain program; 1 is what bench/notes/018-forms-of-a-stencil.md has figures of. */
#define LOW -1.0
#define HIGH 1.0
#include "loops.h"

enum { ROWS = 8192, COLUMNS = 8192 };

#define POINT(a, i, j) (0.2f * (a[i][j] + a[(i) - 1][j] + a[(i) + 1][j] + a[i][(j) - 1] + a[i][(j) + 1]))

static float plane[ROWS][COLUMNS], next_plane[ROWS][COLUMNS];

KERNEL void modulo(int steps, int n, float A[2][n][n]) {
  for (int t = 0; t < steps; t++)
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        A[(t + 1) % 2][i][j] = POINT(A[t % 2], i, j);
}

KERNEL void copied(int steps, int n, float A[restrict n][n], float B[restrict n][n]) {
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        B[i][j] = POINT(A, i, j);
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        A[i][j] = B[i][j];
  }
}

KERNEL void copied_whole(int steps) {
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < ROWS - 1; i++)
      for (int j = 1; j < COLUMNS - 1; j++)
        next_plane[i][j] = POINT(plane, i, j);
    memcpy(plane, next_plane, sizeof plane);
  }
}

KERNEL void swapped(int steps, int n, float *a, float *b) {
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        b[i * n + j] = 0.2f * (a[i * n + j] + a[(i - 1) * n + j] + a[(i + 1) * n + j] + a[i * n + j - 1] + a[i * n + j + 1]);
    float *c = a;
    a = b;
    b = c;
  }
}

/* Three of the five loads saved by hand. */
KERNEL void rolled(int steps, int n, float A[restrict n][n], float B[restrict n][n]) {
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n - 1; i++) {
      float left = A[i][0], mid = A[i][1];
      for (int j = 1; j < n - 1; j++) {
        float right = A[i][j + 1];
        B[i][j] = 0.2f * (mid + A[i - 1][j] + A[i + 1][j] + left + right);
        left = mid;
        mid = right;
      }
    }
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        A[i][j] = B[i][j];
  }
}

/* Three time levels. */
KERNEL void levels(int steps, int n, float *a, float *b, float *c) {
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        c[i * n + j] = 1.5f * b[i * n + j] - 0.7f * a[i * n + j] + 0.05f * (b[(i - 1) * n + j] + b[(i + 1) * n + j] + b[i * n + j - 1] + b[i * n + j + 1]);
    float *d = a;
    a = b;
    b = c;
    c = d;
  }
}

/* Neighbours outside of the grid are the nearest ones in it. */
KERNEL void clamped(int steps, int n, float *a, float *b) {
  for (int t = 0; t < steps; t++) {
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) {
        int up = i > 0 ? i - 1 : 0, down = i < n - 1 ? i + 1 : n - 1, left = j > 0 ? j - 1 : 0, right = j < n - 1 ? j + 1 : n - 1;
        b[i * n + j] = 0.2f * (a[i * n + j] + a[up * n + j] + a[down * n + j] + a[i * n + left] + a[i * n + right]);
      }
    float *c = a;
    a = b;
    b = c;
  }
}

/* Or those on the other side: no flow through the border. */
KERNEL void mirrored(int steps, int n, float A[restrict n][n], float B[restrict n][n]) {
  for (int t = 0; t < steps; t++) {
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) {
        int up = i == 0 ? 1 : i - 1, down = i == n - 1 ? n - 2 : i + 1, left = j == 0 ? 1 : j - 1, right = j == n - 1 ? n - 2 : j + 1;
        B[i][j] = 0.2f * (A[i][j] + A[up][j] + A[down][j] + A[i][left] + A[i][right]);
      }
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++)
        A[i][j] = B[i][j];
  }
}

/* The same in space, a cube of 400. */
KERNEL void clamped_space(int steps, int n, float *a, float *b) {
  for (int t = 0; t < steps; t++) {
    for (int z = 0; z < n; z++)
      for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++) {
          int c = (z * n + y) * n + x, w = x == 0 ? c : c - 1, e = x == n - 1 ? c : c + 1, s = y == 0 ? c : c - n, o = y == n - 1 ? c : c + n;
          int d = z == 0 ? c : c - n * n, u = z == n - 1 ? c : c + n * n;
          b[c] = 0.14f * (a[c] + a[w] + a[e] + a[s] + a[o] + a[d] + a[u]);
        }
    float *c = a;
    a = b;
    b = c;
  }
}

int main(int argc, char **argv) {
  int large = argc > 1 && atoi(argv[1]), n = large ? ROWS : 67, steps = large ? 200 : 9;
  long nn = (long)n * n;
  float *f = floats(3 * nn);
  for (long i = 0; i < (large ? ROWS : 40); i++)
    for (int j = 0; j < COLUMNS; j++)
      plane[i][j] = next_plane[i][j] = (float)uniform();
  RUN(modulo, , (steps, n, (void *)f), f, nn * 4)
  RUN(copied, , (steps, n, (void *)f, (void *)(f + nn)), f, nn * 4)
  if (large)
    RUN(copied_whole, , (steps), plane, sizeof plane)
  RUN(swapped, , (steps, n, f, f + nn), f, nn * 4)
  RUN(rolled, , (steps, n, (void *)f, (void *)(f + nn)), f, nn * 4)
  RUN(levels, , (steps, n, f, f + nn, f + 2 * nn), f, nn * 4)
  RUN(clamped, , (steps, n, f, f + nn), f, nn * 4)
  RUN(mirrored, , (steps, n, (void *)f, (void *)(f + nn)), f, nn * 4)
  int edge = large ? 400 : 15;
  RUN(clamped_space, , (steps, edge, f, f + nn), f, (long)edge * edge * edge * 4)
  return 0;
}
