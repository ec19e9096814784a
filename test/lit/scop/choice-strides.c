// Neighbours at the border of an image with a pitch and channels are clamped: the strides go with the loops that the choices are made in.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-scop>" -disable-output %t.ll 2>&1 | FileCheck %s
static int clamp(int v, int lo, int hi) { return v < lo ? lo : v > hi ? hi : v; }

void f(int w, int h, int pitch, int c, const unsigned char *restrict a, unsigned char *restrict b) {
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++)
      b[y * w + x] = a[clamp(y - 1, 0, h - 1) * pitch + clamp(x + 1, 0, w - 1) * c];
}

// CHECK: scop f
// CHECK: (pitch is a multiple of c)
// CHECK: array i8 a[*]{{.*}}[(pitch_{{.*}})]{{.*}}[(c)]
// CHECK: statement S0
// CHECK-NOT: statement

// Two choices of one loop say nothing of which stride is within which.
//
// CHECK-NOT: scop g
void g(int n, int s, int t, const unsigned char *restrict a, unsigned char *restrict b) {
  for (int x = 0; x < n; x++)
    b[x] = a[clamp(x - 1, 0, n - 1) * s + clamp(x + 1, 0, n - 1) * t];
}
