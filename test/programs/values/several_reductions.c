// Several sums and extremes of one loop, regrouped side by side: of numbers, of records, of a matrix, of its rows, in a loop over time, behind each other, of loops of
// other lengths, with a condition, and of an array that is written beside them.
// ARGS: 5000 40
// ARGS: 70001 3
// ARGS: 0 0
// ARGS: 1 1
// ARGS: 33 65
// ARGS: 1024 5
// OFFLOAD: yes
// KERNELS: statistics box matrix rows steps mean lengths chosen written
#include "example.h"
#include <stdint.h>

typedef struct {
  int32_t x, y, z, w;
} Point;

__attribute__((noinline)) static void statistics(int n, const int32_t *restrict a, int64_t *restrict out) {
  int64_t sum = 0, squares = 0;
  int32_t least = INT32_MAX, most = INT32_MIN, all = -1, odd = 0;
  for (int i = 0; i < n; i++) {
    sum += a[i];
    squares += (int64_t)a[i] * a[i];
    if (a[i] < least)
      least = a[i];
    if (a[i] > most)
      most = a[i];
    all &= a[i];
    odd ^= a[i];
  }
  out[0] = sum, out[1] = squares, out[2] = least, out[3] = most, out[4] = all, out[5] = odd;
}

__attribute__((noinline)) static void box(int n, const Point *restrict p, int32_t *restrict out) {
  int32_t x0 = p[0].x, x1 = p[0].x, y0 = p[0].y, y1 = p[0].y, z0 = p[0].z, z1 = p[0].z;
  for (int i = 1; i < n; i++) {
    x0 = p[i].x < x0 ? p[i].x : x0;
    x1 = p[i].x > x1 ? p[i].x : x1;
    y0 = p[i].y < y0 ? p[i].y : y0;
    y1 = p[i].y > y1 ? p[i].y : y1;
    z0 = p[i].z < z0 ? p[i].z : z0;
    z1 = p[i].z > z1 ? p[i].z : z1;
  }
  out[0] = x0, out[1] = x1, out[2] = y0, out[3] = y1, out[4] = z0, out[5] = z1;
}

__attribute__((noinline)) static void matrix(int n, int m, const int32_t *restrict a, int64_t *restrict out) {
  int64_t sum = 0, weighted = 0;
  int32_t most = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      sum += a[(long)i * m + j];
      weighted += (int64_t)a[(long)i * m + j] * j;
      if (a[(long)i * m + j] > most)
        most = a[(long)i * m + j];
    }
  out[0] = sum, out[1] = weighted, out[2] = most;
}

__attribute__((noinline)) static void rows(int n, int m, const int32_t *restrict a, int64_t *restrict s, int64_t *restrict q, int32_t *restrict x) {
  for (int i = 0; i < n; i++) {
    int64_t sum = 0, squares = 0;
    int32_t most = -1;
    for (int j = 0; j < m; j++) {
      sum += a[(long)i * m + j];
      squares += (int64_t)a[(long)i * m + j] * a[(long)i * m + j];
      if (a[(long)i * m + j] > most)
        most = a[(long)i * m + j];
    }
    s[i] = sum, q[i] = squares, x[i] = most;
  }
}

// Conjugate gradients have two sums a step, the second of which needs the first.
__attribute__((noinline)) static uint32_t steps(int n, int t, uint32_t *restrict x, uint32_t *restrict r, const uint32_t *restrict d) {
  uint32_t last = 1;
  for (int k = 0; k < t; k++) {
    uint32_t up = 0, down = 1;
    for (int i = 0; i < n; i++) {
      up += r[i] * r[i];
      down += r[i] * d[i];
    }
    for (int i = 0; i < n; i++) {
      x[i] += up * d[i];
      r[i] -= down * d[i];
    }
    uint32_t norm = 0, most = 0;
    for (int i = 0; i < n; i++) {
      norm += r[i] ^ x[i];
      most = r[i] > most ? r[i] : most;
    }
    last = last * 31 + norm + most;
  }
  return last;
}

__attribute__((noinline)) static int64_t mean(int n, const int32_t *restrict a) {
  int64_t sum = 0, spread = 0, most = 0;
  for (int i = 0; i < n; i++)
    sum += a[i];
  int64_t middle = sum >> 4;
  for (int i = 0; i < n; i++) {
    spread += (a[i] - middle) * (a[i] - middle);
    most = a[i] - middle > most ? a[i] - middle : most;
  }
  return spread + most;
}

__attribute__((noinline)) static int64_t lengths(int n, int m, const int32_t *restrict a) {
  int64_t sum = 0, other = 0, third = 0;
  for (int i = 0; i < n; i++)
    sum += a[i];
  for (int i = 0; i < m; i++)
    other += (int64_t)a[i] * i;
  for (int i = 0; i < n; i++)
    third ^= a[i] + i;
  return sum * 7 + other * 3 + third;
}

__attribute__((noinline)) static int64_t chosen(int n, const int32_t *restrict a, const int32_t *restrict b) {
  int64_t sum = 0, count = 0, rest = 0;
  for (int i = 0; i < n; i++)
    if (a[i] > b[i]) {
      sum += a[i];
      count++;
    } else
      rest += b[i];
  return sum * 3 + count * 5 + rest;
}

__attribute__((noinline)) static int64_t written(int n, int32_t *restrict a, const int32_t *restrict b) {
  int64_t before = 0, behind = 0;
  for (int i = 0; i < n; i++) {
    before += b[i];
    a[i] = b[i] * 2 - a[i];
    behind += (int64_t)a[i] * 3;
  }
  return before * 5 + behind;
}

int main(int argc, char **argv) {
  if (argc < 3)
    return 2;
  int n = atoi(argv[1]), m = atoi(argv[2]);
  int few = n < 300 ? n : 300;
  int32_t *a = malloc(sizeof *a * ((size_t)n + 1)), *b = malloc(sizeof *b * ((size_t)n + m + 1)), *c = malloc(sizeof *c * ((size_t)few * m + 1));
  uint32_t *x = malloc(sizeof *x * ((size_t)n + 1)), *r = malloc(sizeof *r * ((size_t)n + 1));
  Point *p = malloc(sizeof *p * ((size_t)n + 1));
  int64_t out[6], *s = malloc(sizeof *s * ((size_t)few + 1)), *q = malloc(sizeof *q * ((size_t)few + 1));
  int32_t ends[6], *most = malloc(sizeof *most * ((size_t)few + 1));
  uint32_t seed = 12345;
  for (int i = 0; i <= n; i++) {
    a[i] = (int32_t)(seed = seed * 1664525u + 1013904223u) >> 7;
    x[i] = seed >> 3;
    r[i] = seed >> 11;
    p[i] = (Point){a[i] % 1000, a[i] / 1000, a[i] ^ i, i};
  }
  for (int i = 0; i <= n + m; i++)
    b[i] = (int32_t)(seed = seed * 1664525u + 1013904223u) >> 8;
  for (long i = 0; i < (long)few * m; i++)
    c[i] = (int32_t)(seed = seed * 1664525u + 1013904223u) >> 9;
  statistics(n, a, out);
  for (int i = 0; i < 6; i++)
    printf("%lld ", (long long)out[i]);
  box(n, p, ends);
  for (int i = 0; i < 6; i++)
    printf("%d ", ends[i]);
  matrix(few, m, c, out);
  rows(few, m, c, s, q, most);
  printf("%lld %lld %lld\n", (long long)out[0], (long long)out[1], (long long)out[2]);
  uint64_t hash = 0;
  for (int i = 0; i < few; i++)
    hash = hash * 31 + (uint64_t)s[i] + (uint64_t)q[i] * 7 + (uint64_t)most[i];
  printf("%llu %u ", (unsigned long long)hash, steps(n, m < 6 ? m : 6, x, r, (uint32_t *)b));
  printf("%lld %lld %lld %lld ", (long long)mean(n, a), (long long)lengths(n, n + m, b), (long long)chosen(n, a, b), (long long)written(n, a, b));
  for (int i = 0; i < n; i++)
    hash = hash * 31 + (uint64_t)a[i] + x[i] + r[i];
  printf("%llu\n", (unsigned long long)hash);
  return 0;
}
