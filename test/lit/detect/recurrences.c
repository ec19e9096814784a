// Values that a loop takes over from the iterations before are computed anew where that is possible: all iterations can run at once.
//
// RUN: %clang -O3 -S -emit-llvm -fpass-plugin=%plugin -mllvm -pollyrs-targets=emulated -Rpass=pollyrs -Rpass-missed=pollyrs %s -o %t.ll 2>&1 | FileCheck %s

// What stands before the loop is what the load finds there: one load for each, and a plain stencil.
// CHECK: offloaded rolled: 2 loops, 1 statement, 2 arrays
void rolled(int n, int m, float (*restrict a)[m], float (*restrict q)[m]) {
  for (int i = 0; i < n; i++) {
    float left = q[i][0], mid = q[i][1];
    for (int j = 1; j < m - 1; j++) {
      float right = q[i][j + 1];
      a[i][j] = left - 2 * mid + right;
      left = mid;
      mid = right;
    }
  }
}

// CHECK: offloaded down: 2 loops, 1 statement, 2 arrays
void down(int n, int m, float (*restrict a)[m], float (*restrict q)[m]) {
  for (int j = 0; j < m; j++) {
    float left = q[0][j], mid = q[1][j];
    for (int i = 1; i < n - 1; i++) {
      float right = q[i + 1][j];
      a[i][j] = left - 2 * mid + right;
      left = mid;
      mid = right;
    }
  }
}

// Another value before the loop.
// CHECK: offloaded flux: 1 loop, 1 statement, 2 arrays
void flux(long n, float inflow, float *restrict a, const float *restrict q) {
  float left = inflow;
  for (long i = 0; i < n; i++) {
    float right = 0.5f * (q[i] * q[i] + q[i + 1] * q[i + 1]);
    a[i] = right - left;
    left = right;
  }
}

// A subscript that wraps around.
// CHECK: offloaded around: 1 loop, 1 statement, 2 arrays
void around(int n, float *restrict a, const float *restrict b) {
  int before = n - 1, earlier = n - 2;
  for (int i = 0; i < n; i++) {
    a[i] = b[i] + b[before] + b[earlier];
    earlier = before;
    before = i;
  }
}

// The loop writes what the value is loaded from.
// CHECK: :[[@LINE+3]]:{{.*}}not offloaded: no loop can run in parallel
void in_place(int n, float *a) {
  float left = 0;
  for (int i = 0; i < n; i++) {
    float own = a[i];
    a[i] = own + left;
    left = own;
  }
}

// Not a value of the iteration before, but of an earlier one.
// CHECK: :[[@LINE+3]]:{{.*}}not offloaded: no loop can run in parallel
void last_positive(int n, float *restrict a, const float *restrict b) {
  float last = 0;
  for (int i = 0; i < n; i++) {
    a[i] = last;
    if (b[i] > 0)
      last = b[i];
  }
}

// A sum.
// CHECK: :[[@LINE+3]]:{{.*}}not offloaded: no loop can run in parallel
void prefix(int n, float *restrict a, const float *restrict b) {
  float sum = 0;
  for (int i = 0; i < n; i++) {
    a[i] = sum;
    sum = sum * 0.5f + b[i];
  }
}
