// Steps of arrays that change places, and of one that is copied back as a whole.
//
// Two bodies that take turns: the first one runs once more where the number of steps is odd. Steps are fused for as long as both run.
//
// RUN: %clang -O3 -S -emit-llvm -fpass-plugin=%plugin -mllvm -pollyrs-targets=emulated -Rpass=pollyrs -Rpass-missed=pollyrs -Rpass-analysis=pollyrs %s -o %t.ll 2>&1 | FileCheck %s

// CHECK: offloaded heat: 5 loops, 2 statements, 2 arrays
// CHECK: fuses steps: {{.*}} time iterations a launch
void heat(int steps, int n, int m, double *a, double *b) {
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < m - 1; j++)
        b[i * m + j] = 0.25 * (a[(i - 1) * m + j] + a[(i + 1) * m + j] + a[i * m + j - 1] + a[i * m + j + 1]);
    double *c = a;
    a = b;
    b = c;
  }
}

static double plane[1024][1024], next[1024][1024];

// The copy has a loop for each dimension, and elements of the type of other accesses.
// CHECK: offloaded copied: 5 loops, 2 statements, 2 arrays
// CHECK: fuses steps: {{.*}} time iterations a launch
void copied(int steps) {
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < 1023; i++)
      for (int j = 1; j < 1023; j++)
        next[i][j] = 0.25 * (plane[i + 1][j] + plane[i - 1][j] + plane[i][j + 1] + plane[i][j - 1]);
    __builtin_memcpy(plane, next, sizeof plane);
  }
}

double look(int i) { return plane[i][i]; }
