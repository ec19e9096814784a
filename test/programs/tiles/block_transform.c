// Cosine transforms of blocks, by a matrix from both sides with the product in between on the stack: small blocks keep it in registers, large ones in
// an array of each block. The blocks at the border are left out.
// ARGS: 33 40
// ARGS: 7 8
// ARGS: 16 0
// ARGS: 65 24
// OFFLOAD: yes
// KERNELS: transform8
// KERNELS: transform4
#include "example.h"
#include <math.h>

#define TRANSFORM(NAME, N)                                                                                                                          \
  __attribute__((noinline)) static void NAME(int h, int w, double m[N][N], const double *in, double *out) {                                        \
    for (int y = 0; y + N <= h; y += N)                                                                                                             \
      for (int x = 0; x + N <= w; x += N) {                                                                                                         \
        double t[N][N];                                                                                                                             \
        for (int i = 0; i < N; i++)                                                                                                                 \
          for (int j = 0; j < N; j++) {                                                                                                             \
            double s = 0;                                                                                                                           \
            for (int k = 0; k < N; k++)                                                                                                             \
              s += m[i][k] * in[(y + k) * w + x + j];                                                                                               \
            t[i][j] = s;                                                                                                                            \
          }                                                                                                                                         \
        for (int i = 0; i < N; i++)                                                                                                                 \
          for (int j = 0; j < N; j++) {                                                                                                             \
            double s = 0;                                                                                                                           \
            for (int k = 0; k < N; k++)                                                                                                             \
              s += t[i][k] * m[j][k];                                                                                                               \
            out[(y + i) * w + x + j] = s;                                                                                                           \
          }                                                                                                                                         \
      }                                                                                                                                             \
  }                                                                                                                                                 \
  static void fill##NAME(double m[N][N]) {                                                                                                          \
    for (int i = 0; i < N; i++)                                                                                                                     \
      for (int j = 0; j < N; j++)                                                                                                                   \
        m[i][j] = sqrt((i ? 2.0 : 1.0) / N) * cos((2 * j + 1) * i * 3.14159265358979 / (2 * N));                                                    \
  }

TRANSFORM(transform8, 8)
TRANSFORM(transform4, 4)

int main(int argc, char **argv) {
  int h = (int)example_arg(argc, argv, 1, 33), w = (int)example_arg(argc, argv, 2, 40);
  size_t n = (size_t)h * w;
  double *in = example_array(n), *out = example_array(n), m8[8][8], m4[4][4];
  example_fill(in, n);
  example_fill(out, n);
  filltransform8(m8);
  filltransform4(m4);
  transform8(h, w, m8, in, out);
  example_print("eight", out, n);
  transform4(h, w, m4, in, out);
  example_print("four", out, n);
  free(in);
  free(out);
  return 0;
}
