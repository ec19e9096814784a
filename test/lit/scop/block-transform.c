// A product of two matrices of 8 x 8 in each block of an image keeps its array on the stack: as values it would be 576 loads and stores in 128 statements.
// That of 3 x 3 becomes values.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-scop>" -disable-output %t.ll 2>&1 | FileCheck %s
#define TRANSFORM(NAME, N)                                                                                                                          \
  void NAME(int h, int w, int p, const float (*restrict m)[N], const float *restrict a, float *restrict b) {                                              \
    for (int y = 0; y < h; y++)                                                                                                                     \
      for (int x = 0; x < w; x++) {                                                                                                                 \
        float t[N][N];                                                                                                                              \
        for (int i = 0; i < N; i++)                                                                                                                 \
          for (int j = 0; j < N; j++) {                                                                                                             \
            float s = 0;                                                                                                                            \
            for (int k = 0; k < N; k++)                                                                                                             \
              s += m[i][k] * a[(y * N + k) * p + x * N + j];                                                                                        \
            t[i][j] = s;                                                                                                                            \
          }                                                                                                                                         \
        for (int i = 0; i < N; i++)                                                                                                                 \
          for (int j = 0; j < N; j++) {                                                                                                             \
            float s = 0;                                                                                                                            \
            for (int k = 0; k < N; k++)                                                                                                             \
              s += t[i][k] * m[j][k];                                                                                                               \
            b[(y * N + i) * p + x * N + j] = s;                                                                                                     \
          }                                                                                                                                         \
      }                                                                                                                                             \
  }

// CHECK-LABEL: scop large
// CHECK: array float t[
// CHECK: domain {{.*}} S0[i0, i1, i2, i3]
// CHECK-NOT: S7[
TRANSFORM(large, 8)

// CHECK-LABEL: scop small
// CHECK-NOT: array float t[
// CHECK: domain {{.*}} S8[
TRANSFORM(small, 3)
