/* Sparse matrices. */
#include "sparse.h"

#define CSR(name, T, I)                                                                                                                    \
  KERNEL name(int n, const I *start, const I *column, const T *value, const T *x, T *y) {                                                  \
    for (int i = 0; i < n; i++) {                                                                                                          \
      T sum = 0;                                                                                                                           \
      for (I k = start[i]; k < start[i + 1]; k++)                                                                                          \
        sum += value[k] * x[column[k]];                                                                                                    \
      y[i] = sum;                                                                                                                          \
    }                                                                                                                                      \
  }

CSR(csr_double, double, int)
CSR(csr_float, float, int)
CSR(csr_long, float, long)
CSR(csr_skewed, double, int)
CSR(csr_banded, double, int)
CSR(csr_short, double, int)

KERNEL csr_scaled(int n, float alpha, float beta, const int *start, const int *column, const float *value, const float *x, float *y) {
  for (int i = 0; i < n; i++) {
    float sum = 0;
    for (int k = start[i]; k < start[i + 1]; k++)
      sum += value[k] * x[column[k]];
    y[i] = alpha * sum + beta * y[i];
  }
}

/* The sum is in memory. */
KERNEL csr_in_place(int n, const int *start, const int *column, const double *value, const double *x, double *y) {
  for (int i = 0; i < n; i++) {
    y[i] = 0.0;
    for (int k = start[i]; k < start[i + 1]; k++)
      y[i] += value[k] * x[column[k]];
  }
}

KERNEL coo(long entries, const int *row, const int *column, const float *value, const float *x, float *y) {
  for (long k = 0; k < entries; k++)
    y[row[k]] += value[k] * x[column[k]];
}

KERNEL ell(int n, int width, const int *column, const double *value, const double *x, double *y) {
  for (int i = 0; i < n; i++) {
    double sum = 0;
    for (int k = 0; k < width; k++) {
      int c = column[k * n + i];
      if (c >= 0)
        sum += value[k * n + i] * x[c];
    }
    y[i] = sum;
  }
}

KERNEL blocks3(int n, const int *start, const int *column, const double *value, const double *x, double *y) {
  for (int i = 0; i < n; i++) {
    double a = 0, b = 0, c = 0;
    for (int k = start[i]; k < start[i + 1]; k++) {
      const double *v = value + 9 * (long)k, *p = x + 3 * column[k];
      a += v[0] * p[0] + v[1] * p[1] + v[2] * p[2];
      b += v[3] * p[0] + v[4] * p[1] + v[5] * p[2];
      c += v[6] * p[0] + v[7] * p[1] + v[8] * p[2];
    }
    y[3 * i] = a, y[3 * i + 1] = b, y[3 * i + 2] = c;
  }
}

/* By columns: the product with the transposed matrix of rows. */
KERNEL csc(int n, const int *start, const int *row, const float *value, const float *x, float *y) {
  for (int j = 0; j < n; j++)
    for (int k = start[j]; k < start[j + 1]; k++)
      y[row[k]] += value[k] * x[j];
}

KERNEL spmm32(int n, const int *start, const int *column, const float *value, const float (*x)[32], float (*y)[32]) {
  for (int i = 0; i < n; i++) {
    for (int c = 0; c < 32; c++)
      y[i][c] = 0;
    for (int k = start[i]; k < start[i + 1]; k++)
      for (int c = 0; c < 32; c++)
        y[i][c] += value[k] * x[column[k]][c];
  }
}

/* Products of rows of two dense matrices, where the sparse one has entries. */
KERNEL sampled(int n, const int *start, const int *column, const float (*a)[32], const float (*b)[32], float *out) {
  for (int i = 0; i < n; i++)
    for (int k = start[i]; k < start[i + 1]; k++) {
      float sum = 0;
      for (int c = 0; c < 32; c++)
        sum += a[i][c] * b[column[k]][c];
      out[k] = sum;
    }
}

KERNEL jacobi_rows(int n, const int *start, const int *column, const double *value, const double *b, const double *x, double *y) {
  for (int i = 0; i < n; i++) {
    double sum = b[i], diagonal = 1;
    for (int k = start[i]; k < start[i + 1]; k++) {
      int j = column[k];
      if (j == i)
        diagonal = value[k];
      else
        sum -= value[k] * x[j];
    }
    y[i] = sum / diagonal;
  }
}

/* Unknowns of one colour don't depend on each other; `member` lists them, colour by colour. */
KERNEL gauss_seidel(int colours, const int *first, const int *member, const int *start, const int *column, const double *value, const double *b, double *x) {
  for (int c = 0; c < colours; c++)
    for (int m = first[c]; m < first[c + 1]; m++) {
      int i = member[m];
      double sum = b[i];
      for (int k = start[i]; k < start[i + 1]; k++)
        sum -= value[k] * x[column[k]];
      x[i] = sum * 0.25;
    }
}

int main(int argc, char **argv) {
  begin(argc, argv);
  int n = SIZE(1000000, 500), mean = SIZE(32, 6);
#define PRODUCT(name, kind, s, c)                                                                                                          \
  do {                                                                                                                                     \
    __typeof__(kind(1, 0, 1)) v_ = kind(s[n], -1, 1), x_ = kind(n, -1, 1), y_ = kind(n, -1, 1);                                            \
    RUN(name, y_, n, (n, s, c, v_, x_, y_));                                                                                               \
  } while (0)
  CASE(csr_double) {
    int *s = starts(n, mean, 0), *c = ints(s[n], n);
    PRODUCT(csr_double, doubles, s, c);
  }
  CASE(csr_float) {
    int *s = starts(n, mean, 0), *c = ints(s[n], n);
    PRODUCT(csr_float, floats, s, c);
  }
  CASE(csr_long) {
    int *s = starts(n, mean, 0);
    long *c = longs(ints(s[n], n), s[n]), *t = longs(s, n + 1);
    PRODUCT(csr_long, floats, t, c);
  }
  CASE(csr_skewed) {
    int *s = starts(n, mean, 1), *c = ints(s[n], n);
    PRODUCT(csr_skewed, doubles, s, c);
  }
  CASE(csr_banded) {
    int *s = starts(n, mean, 0), *c = near(n, s, 256);
    PRODUCT(csr_banded, doubles, s, c);
  }
  CASE(csr_short) {
    int *s = starts(n, 5, 0), *c = near(n, s, 2000);
    PRODUCT(csr_short, doubles, s, c);
  }
  CASE(csr_scaled) {
    int *s = starts(n, mean, 0), *c = ints(s[n], n);
    float *v = floats(s[n], -1, 1), *x = floats(n, -1, 1), *y = floats(n, -1, 1);
    RUN(csr_scaled, y, n, (n, 1.5f, 0.5f, s, c, v, x, y));
  }
  CASE(csr_in_place) {
    int *s = starts(n, mean, 0), *c = ints(s[n], n);
    PRODUCT(csr_in_place, doubles, s, c);
  }
  CASE(coo) {
    int *s = starts(n, mean, 0), *c = ints(s[n], n), *r = memory(s[n] * sizeof *r);
    for (int i = 0; i < n; i++)
      for (int k = s[i]; k < s[i + 1]; k++)
        r[k] = i;
    float *v = floats(s[n], -1, 1), *x = floats(n, -1, 1), *y = floats(n, 0, 0);
    RUN(coo, y, n, (s[n], r, c, v, x, y));
  }
  CASE(ell) {
    int *c = ints((long)mean * n, n);
    for (long k = 0; k < (long)mean * n; k += 7)
      c[k] = -1;
    double *v = doubles((long)mean * n, -1, 1), *x = doubles(n, -1, 1), *y = doubles(n, 0, 0);
    RUN(ell, y, n, (n, mean, c, v, x, y));
  }
  CASE(blocks3) {
    int m = SIZE(300000, 200), *s = starts(m, SIZE(16, 4), 0), *c = ints(s[m], m);
    double *v = doubles(9l * s[m], -1, 1), *x = doubles(3l * m, -1, 1), *y = doubles(3l * m, 0, 0);
    RUN(blocks3, y, 3l * m, (m, s, c, v, x, y));
  }
  CASE(csc) {
    int *s = starts(n, mean, 0), *r = ints(s[n], n);
    float *v = floats(s[n], -1, 1), *x = floats(n, -1, 1), *y = floats(n, 0, 0);
    RUN(csc, y, n, (n, s, r, v, x, y));
  }
  CASE(spmm32) {
    int m = SIZE(300000, 200), *s = starts(m, SIZE(16, 4), 0), *c = ints(s[m], m);
    float *v = floats(s[m], -1, 1), *x = floats(32l * m, -1, 1), *y = floats(32l * m, 0, 0);
    RUN(spmm32, y, 32l * m, (m, s, c, v, (void *)x, (void *)y));
  }
  CASE(sampled) {
    int m = SIZE(300000, 200), *s = starts(m, SIZE(16, 4), 0), *c = ints(s[m], m);
    float *a = floats(32l * m, -1, 1), *b = floats(32l * m, -1, 1), *y = floats(s[m], 0, 0);
    RUN(sampled, y, s[m], (m, s, c, (void *)a, (void *)b, y));
  }
  CASE(jacobi_rows) {
    int *s = starts(n, mean, 0), *c = near(n, s, 256);
    double *v = doubles(s[n], 1, 2), *x = doubles(n, -1, 1), *b = doubles(n, -1, 1), *y = doubles(n, 0, 0);
    RUN(jacobi_rows, y, n, (n, s, c, v, b, x, y));
  }
  CASE(gauss_seidel) {
    /* The five points of a grid, black and red ones. */
    int g = SIZE(1500, 21), m = g * g, e = 0, *first = memory(3 * sizeof(int)), *member = memory(m * sizeof(int));
    int *s = memory((m + 1) * sizeof(int)), *c = memory(4l * m * sizeof(int));
    first[0] = 0;
    for (int colour = 0, at = 0; colour < 2; colour++) {
      for (int i = 0; i < m; i++)
        if ((i / g + i % g) % 2 == colour)
          member[at++] = i;
      first[colour + 1] = at;
    }
    for (int i = 0; i < m; i++) {
      s[i] = e;
      if (i >= g)
        c[e++] = i - g;
      if (i % g)
        c[e++] = i - 1;
      if (i % g < g - 1)
        c[e++] = i + 1;
      if (i + g < m)
        c[e++] = i + g;
    }
    s[m] = e;
    double *v = doubles(e, -1, -0.9), *b = doubles(m, -1, 1), *x = doubles(m, -1, 1);
    RUN(gauss_seidel, x, m, (2, first, member, s, c, v, b, x));
  }
  return 0;
}
