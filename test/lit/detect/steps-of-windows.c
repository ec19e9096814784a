// Windows that move by an argument: versions for one and two inside of the loop around them, and a word on other steps.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-detect>" -disable-output %t.ll 2>&1 | FileCheck %s

void between(void);

// CHECK: scop pool.1 at {{.*}}:[[#@LINE+8]]: {{.*}} 4 loops
// CHECK: scop pool.2 at {{.*}}:[[#@LINE+7]]: {{.*}} 4 loops
// CHECK: scop pool.3 at {{.*}}:[[#@LINE+11]]: {{.*}} 2 loops
// CHECK-NOT: scop
// CHECK: rejected Subscript at {{.*}}:[[#@LINE+4]]: {{.*}} the step of the windows (for steps of 1 and 2 there are versions)
void pool(int steps, long n, long w, long s, double *restrict x, double *restrict y, const double *restrict f) {
  for (int t = 0; t < steps; t++) {
    between();
    for (long i = 0; i < n; i++)
      for (long j = 0; j < n; j++)
        for (long p = 0; p < 3; p++)
          for (long q = 0; q < 3; q++)
            y[i * n + j] += f[p * 3 + q] * x[(i * s + p) * w + j * s + q];
    for (long i = 0; i < n; i++)
      for (long j = 0; j < n; j++)
        y[i * n + j] *= 0.5;
  }
}
