// A ring that is read from any place on: that the place is inside is assumed, and that a window is no longer. What a counter is taken modulo has too many cases.
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
// CHECK-NOT:   scop around
// CHECK-LABEL: scop filter
// CHECK:       assume delinearization: {{.*}}taps <= n{{.*}}(taps is at most the divisor of a remainder)
