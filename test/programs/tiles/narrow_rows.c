// Bytes and halves in rows and lines, of which a thread reads several beside each other by one load: rows that begin at multiples of a word and rows
// that do not, the same memory one element further on, elements that lie between others, tables that bytes choose from,
// cells backwards.
// ARGS: 70 256
// ARGS: 67 260
// ARGS: 66 259
// ARGS: 64 258
// ARGS: 3 20
// ARGS: 1 1
// ARGS: 90 400
// OFFLOAD: any
// TURNS: 3
#include "example.h"

typedef unsigned char byte;

#define ENTRY __attribute__((noinline)) static

ENTRY void line(long n, const byte *restrict x, byte *restrict y) {
  for (long i = 0; i < n; i++) {
    int v = x[i] + 40;
    y[i] = v > 255 ? 255 : v;
  }
}

ENTRY void halves(long n, const unsigned short *restrict x, short *restrict y) {
  for (long i = 3; i < n - 1; i++)
    y[i] = (short)(x[i - 1] ^ x[i + 1]);
}

ENTRY void grey(long n, const byte *restrict rgb, byte *restrict y) {
  for (long i = 0; i < n; i++)
    y[i] = (77 * rgb[3 * i] + 150 * rgb[3 * i + 1] + 29 * rgb[3 * i + 2]) >> 8;
}

ENTRY void table(long n, const byte *restrict of, const byte *restrict x, byte *restrict y) {
  for (long i = 0; i < n; i++)
    y[i] = of[x[i]];
}

ENTRY void dilate(int n, int m, const byte x[n][m], byte y[restrict n][m]) {
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < m - 1; j++) {
      byte v = 0;
      for (int p = -1; p <= 1; p++)
        for (int q = -1; q <= 1; q++)
          if (x[i + p][j + q] > v)
            v = x[i + p][j + q];
      y[i][j] = v;
    }
}

// Two rows to the one side and three columns to the other, of signed halves.
ENTRY void slope(int n, int m, const short x[n][m], short y[restrict n][m]) {
  for (int i = 2; i < n; i++)
    for (int j = 0; j < m - 3; j++)
      y[i][j] = (short)(x[i][j + 3] - x[i - 2][j] + 2 * x[i - 1][j + 1]);
}

// Nothing is shared between rows.
ENTRY void blend(int n, int m, const byte x[n][m], const byte w[n][m], byte y[restrict n][m]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      y[i][j] = (byte)((x[i][j] * w[i][j] + 127) / 255);
}

// Backwards, and in place of what was there.
ENTRY void mirror(int n, int m, const byte x[n][m], byte y[restrict n][m]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      y[i][j] ^= x[i][m - 1 - j];
}

// Planes of images, and columns from a place that is known at run time only.
ENTRY void planes(int c, int n, int m, int from, const byte x[c][n][m + 64], byte y[restrict c][n][m]) {
  for (int k = 0; k < c; k++)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < m; j++)
        y[k][i][j] = x[k][i][j + from] > x[k][i][j + from + 1] ? x[k][i][j + from] : 7;
}

// Cells backwards, along rows and in a line.
ENTRY void turn(int n, int m, const byte x[n][m], byte y[restrict m][n]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      y[j][n - 1 - i] = x[i][j];
}

ENTRY void back(long n, const byte *restrict x, byte *restrict y) {
  for (long i = 0; i < n; i++)
    y[n - 1 - i] = x[i] ^ x[i + 1];
}

ENTRY void turn_floats(int n, int m, const float x[n][m], float y[restrict m][n]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      y[j][n - 1 - i] = x[i][j];
}

// Pixels of four bytes.
ENTRY void pixels(long n, const byte x[n][4], byte *restrict y) {
  for (long i = 0; i < n; i++)
    y[i] = x[i][0] > x[i][3] ? x[i][1] : x[i][2];
}

static void fill(size_t n, byte *v, unsigned seed) {
  for (size_t i = 0; i < n; i++) {
    seed = seed * 1664525u + 1013904223u;
    v[i] = (byte)(seed >> 24);
  }
}

static void show(const char *name, size_t n, const byte *v) {
  unsigned long sum = 5381;
  for (size_t i = 0; i < n; i++)
    sum = sum * 33 + v[i];
  printf("%s %lu\n", name, sum);
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 70, m = argc > 2 ? atoi(argv[2]) : 256;
  // From a multiple of 16 bytes on, and from one element behind.
  for (int shift = 0; shift < 4; shift += 2) {
    size_t size = (size_t)n * (m + 64) * 4 + 64, all = size + 64;
    byte *a = malloc(all), *b = malloc(all), *c = malloc(all), of[256];
    fill(256, of, 9);
    const byte *x = a + 16 + shift, *w = b + 16;
    byte *y = c + 16 + shift;
    long nm = (long)n * m;
#define RUN(name, ...)                                                                                                                     \
  fill(all, a, 1), fill(all, b, 2), fill(all, c, 3);                                                                                       \
  name(__VA_ARGS__);                                                                                                                       \
  show(#name, all, c)
    RUN(line, nm, x, y);
    RUN(line, nm, x + 1, y);
    RUN(line, nm, x + 1, y + 1);
    RUN(halves, nm, (void *)x, (void *)y);
    RUN(grey, nm, x, y);
    RUN(table, nm, of, x, y);
    RUN(dilate, n, m, (void *)x, (void *)y);
    RUN(dilate, n, m, (void *)(x + 1), (void *)(y + 3));
    RUN(slope, n, m, (void *)x, (void *)y);
    RUN(blend, n, m, (void *)x, (void *)w, (void *)y);
    RUN(mirror, n, m, (void *)x, (void *)y);
    RUN(planes, 2, n / 2, m, 13 + shift, (void *)x, (void *)y);
    RUN(turn, n, m, (void *)x, (void *)y);
    RUN(back, nm, x, y);
    RUN(turn_floats, n, m, (void *)(a + 16 + 2 * shift), (void *)(c + 16 + 2 * shift));
    RUN(pixels, nm, (void *)x, y);
    free(a), free(b), free(c);
  }
  return 0;
}
