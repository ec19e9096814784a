// Counters for the dimensions that one counter is divided into by arguments: rows and columns, in the order that quotients by products say, with sizes that have factors in common. What does not
// begin at 0 stays.
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

void later(int w, int h, float *y) {
  for (int k = 1; k < w * h; k++)
    y[k % w] += k / w;
}

// CHECK-LABEL: scop planes.1 at
// CHECK:       domain {{.*}}{ S0[i0, i1, i2] : 0 <= i0 < c and 0 <= i1 < h and 0 <= i2 < w }
// CHECK-LABEL: scop halves
// CHECK:       domain {{.*}}{ S0[i0, i1, i2] : 0 <= i0 < m and 0 <= i1 < s and 0 <= i2 < n }
// CHECK-NOT:   scop later
