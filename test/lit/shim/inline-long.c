// What is done with one element is inlined into loops even if it is long; long callees with loops of any length are not.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes='print<pollyrs-detect>' -disable-output %t.ll 2>&1 | FileCheck %s

#define TERM(a, b, c) s += x[a] * y[a] - x[b] * y[c] + (a + 0.5) * x[c];
#define TERMS TERM(0, 1, 2) TERM(1, 3, 4) TERM(2, 5, 6) TERM(3, 7, 0) TERM(4, 2, 5) TERM(5, 0, 7) TERM(6, 4, 3) TERM(7, 6, 1)

static double element(const double x[8], const double y[8]) {
  double s = 0;
  for (int c = 0; c < 8; c++)
    s += x[c] / y[c];
  TERMS TERMS TERMS
  return s;
}

static double row(int n, const double *x, const double *y) {
  double s = 0;
  for (int c = 0; c < n; c++)
    s += x[c] / y[c];
  TERMS TERMS TERMS
  return s;
}

// CHECK: scop elements at
void elements(int n, const double *restrict x, const double *restrict y, double *restrict a) {
  for (int i = 0; i < n; i++)
    a[i] = element(x + 8 * i, y + 8 * i);
}

// CHECK: rejected Call at {{.*}}: the call of row may have side effects
void rows(int n, int m, const double *restrict x, const double *restrict y, double *restrict a) {
  for (int i = 0; i < n; i++)
    a[i] = row(m, x + m * i, y + m * i);
}
