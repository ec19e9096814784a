// A ring that is read from any place on: that the place is inside is assumed, and that a window is no longer. What a counter is taken
// modulo makes rows, as many as there are times around.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-scop>" -disable-output %t.ll 2>&1 | FileCheck %s

void turn(long n, long head, const double *ring, double *out) {
  for (long k = 0; k < n; k++)
    out[k] = ring[(head + k) % n];
}

void around(long steps, long n, const double *in, double *ring) {
  for (long t = 0; t < steps; t++)
    ring[t % n] = in[t];
}

void filter(int n, int taps, const double *restrict x, const double *restrict h, double *restrict y) {
  for (int i = 0; i < n; i++) {
    double sum = 0;
    for (int k = 0; k < taps; k++)
      sum += h[k] * x[(i - k + n) % n];
    y[i] = sum;
  }
}

// CHECK-LABEL: scop turn
// CHECK:       assume delinearization: {{.*}}0 <= head < n{{.*}}(head is less than what it is taken modulo)
// CHECK:       read {{.*}} -> { S0[i0] -> ring[head + i0]{{.*}}S0[i0] -> ring[-n + head + i0]
// CHECK-LABEL: scop around
// CHECK:       must-write {{.*}} -> { S0[i0, i1] -> ring[i1] }
// CHECK-LABEL: scop filter
// CHECK:       assume delinearization: {{.*}}taps <= n{{.*}}(taps is at most the divisor of a remainder)

// Time levels in turns, with sizes of 32 bits: the counter less what its quotient takes off is a number of few values, whatever the quotient is.
void levels(int steps, int n, double *u) {
  for (int t = 0; t < steps; t++)
    for (int i = 1; i < n - 1; i++)
      u[(t + 1) % 3 * n + i] = 0.5 * u[t % 3 * n + i - 1];
}

// CHECK-LABEL: scop levels
// CHECK:       assume no wrap: {{.*}} to {{.*}} : steps = 1; [(1)] : steps >= 2 }] + 0..0 <= 4294967295
// CHECK-NOT:   floor
// CHECK:       read {{.*}} -> u[o0, i1]
