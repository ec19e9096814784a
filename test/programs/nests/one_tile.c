// Factorisations of matrices of constant sizes, small ones among them: where all elements are in one tile, no task waits for another, and isl's scheduler may find no order
// that carries dependences between numbers.
// ARGS: 1
// ARGS: 7
// OFFLOAD: yes
// KERNELS: lu_16 lu_32 lu_33 lu_64 lu_130 symmetric_32 symmetric_70
#include "example.h"

#define LU(N)                                                                                                           \
  __attribute__((noinline)) static void lu_##N(TYPE a[N][N]) {                                                          \
    for (int k = 0; k < N; k++) {                                                                                       \
      for (int j = k + 1; j < N; j++)                                                                                   \
        a[k][j] = a[k][j] / a[k][k];                                                                                    \
      for (int i = k + 1; i < N; i++)                                                                                   \
        for (int j = k + 1; j < N; j++)                                                                                 \
          a[i][j] = a[i][j] - a[i][k] * a[k][j];                                                                        \
    }                                                                                                                   \
  }

#define SYMMETRIC(N)                                                                                                    \
  __attribute__((noinline)) static void symmetric_##N(TYPE a[N][N]) {                                                   \
    for (int k = 0; k < N; k++) {                                                                                       \
      for (int i = k + 1; i < N; i++)                                                                                   \
        a[i][k] /= a[k][k];                                                                                             \
      for (int j = k + 1; j < N; j++)                                                                                   \
        for (int i = j; i < N; i++)                                                                                     \
          a[i][j] -= a[i][k] * a[j][k];                                                                                 \
    }                                                                                                                   \
  }

LU(16)
LU(32)
LU(33)
LU(64)
LU(130)
SYMMETRIC(32)
SYMMETRIC(70)

static TYPE drawn(unsigned *state) {
  *state = *state * 1103515245u + 12345u;
  return (TYPE)(*state >> 16 & 1023) / 512 - 1;
}

#define RUN(name, N)                                                                                                    \
  do {                                                                                                                  \
    TYPE(*a)[N] = (void *)example_array(N * N);                                                                         \
    for (int i = 0; i < N; i++)                                                                                         \
      for (int j = 0; j < N; j++)                                                                                       \
        a[i][j] = drawn(&state) + (i == j ? N : 0);                                                                    \
    name##_##N(a);                                                                                                      \
    example_print(#name, &a[0][0], N * N);                                                                              \
  } while (0)

int main(int argc, char **argv) {
  unsigned state = (unsigned)example_arg(argc, argv, 1, 1);
  RUN(lu, 16);
  RUN(lu, 32);
  RUN(lu, 33);
  RUN(lu, 64);
  RUN(lu, 130);
  RUN(symmetric, 32);
  RUN(symmetric, 70);
}
