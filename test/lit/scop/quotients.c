// Counters for the dimensions that one counter is divided into by arguments: rows and columns, in the order that quotients by products say, with sizes that have factors in common. What does not
// begin at 0 stays, unless it goes down to 0: what bounds a loop is no place in a ring.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-scop>" -disable-output %t.ll 2>&1 | FileCheck %s

void planes(int w, int h, int c, const float *x, float *y) {
  for (int k = 0; k < c * h * w; k++) {
    int j = k % w, i = k / w % h, p = k / (w * h);
    y[(p * h + i) * w + (w - 1 - j)] = x[k];
  }
}

// A quotient of a quotient.
void halves(int m, int s, int n, const float *x, float *y) {
  for (int k = 0; k < m * s * n; k++) {
    int i = k / s / n, j = k / n % s, l = k % n;
    y[i * s * n + j * n + l] = x[i * 2 * s * n + (j + s) * n + l];
  }
}

void down(int w, int n, const float *x, float *y) {
  for (int k = n - 1; k >= 0; k--)
    y[k] = x[k % w];
}

// Not a quotient by `w`, nor by what is left of a square when its own root is taken away.
void squares(int w, int n, const float *x, float *y) {
  for (int k = 0; k < n; k++)
    y[k] = x[k / (w * w)] + x[k % (w * w)];
}

void from(int w, int first, int n, const float *x, float *y) {
  for (int k = first; k < n; k++)
    y[k] = x[k % w];
}

void later(int w, int h, float *y) {
  for (int k = 1; k < w * h; k++)
    y[k % w] += k / w;
}

// CHECK-LABEL: scop planes.1 at
// CHECK:       domain {{.*}}{ S0[i0, i1, i2] : 0 <= i0 < c and 0 <= i1 < h and 0 <= i2 < w }
// CHECK-LABEL: scop halves
// CHECK:       domain {{.*}}{ S0[i0, i1, i2] : 0 <= i0 < m and 0 <= i1 < s and 0 <= i2 < n }
// CHECK-LABEL: scop down
// CHECK:       domain {{.*}}{ S0[i0, i1] : {{.*}}0 <= i1 < w }
// CHECK-LABEL: scop squares
// CHECK-NOT:   scop from
// CHECK-NOT:   scop later
