// Rows that are added up twice and then scaled: sums by blocks with helpers (operand tiles), scalars of a row in one launch, and the scaled elements by rows and
// columns. One kernel with a thread a row would read and write each row by itself.
// RUN: %clang -O1 -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes='print<pollyrs-mapping;fuse-kernels=false>' -disable-output %t.ll 2>&1 | FileCheck %s
#include <math.h>

void normalise(int n, int m, const float *x, const float *g, const float *b, float *y) {
  for (int i = 0; i < n; i++) {
    float mean = 0, var = 0;
    for (int j = 0; j < m; j++)
      mean += x[i * m + j];
    mean /= m;
    for (int j = 0; j < m; j++) {
      float d = x[i * m + j] - mean;
      var += d * d;
    }
    float inv = 1.0f / sqrtf(var / m + 1e-5f);
    for (int j = 0; j < m; j++)
      y[i * m + j] = (x[i * m + j] - mean) * inv * g[j] + b[j];
  }
}

// CHECK: kernel K0[]
// CHECK: kernel K1[]
// CHECK: operand tile _copy0
// CHECK: kernel K2[]
// CHECK-NOT: operand tile
// CHECK: kernel K3[]
// CHECK: operand tile _copy0
// CHECK: kernel K5[]
// CHECK: block _t0 size 8
// CHECK-NEXT: block _t1 size 32
