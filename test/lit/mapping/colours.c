// Points of two colours in place: loops over colours are unfolded, and steps that write every other element run several in a launch, whichever way the
// colour is written down. Every third element has no mask.
//
// RUN: %clang -O3 -S -emit-llvm -fpass-plugin=%plugin -mllvm -pollyrs-targets=emulated -Rpass=pollyrs -Rpass-analysis=pollyrs %s -o %t.ll 2>&1 | FileCheck %s

#define UPDATE x[i][j] = 0.25f * (x[i - 1][j] + x[i + 1][j] + x[i][j - 1] + x[i][j + 1]) - f[i][j]

// CHECK: remark: offloaded strided: 4 loops
// CHECK: remark: fuses steps: {{.*}} a launch; blocks of
void strided(int steps, int n, float x[restrict n][n], float f[restrict n][n]) {
  for (int t = 0; t < steps; t++)
    for (int colour = 0; colour < 2; colour++)
      for (int i = 1; i < n - 1; i++)
        for (int j = 1 + (i + colour) % 2; j < n - 1; j += 2)
          UPDATE;
}

// CHECK: remark: offloaded nests: 5 loops
// CHECK: remark: fuses steps: {{.*}} a launch; blocks of
void nests(int steps, int n, float x[restrict n][n], float f[restrict n][n]) {
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1 + i % 2; j < n - 1; j += 2)
        UPDATE;
    for (int i = 1; i < n - 1; i++)
      for (int j = 2 - i % 2; j < n - 1; j += 2)
        UPDATE;
  }
}

// CHECK: remark: offloaded guarded: 4 loops
// CHECK: remark: fuses steps: {{.*}} a launch; blocks of
void guarded(int steps, int n, float x[restrict n][n], float f[restrict n][n]) {
  for (int t = 0; t < steps; t++)
    for (int colour = 0; colour < 2; colour++)
      for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++)
          if ((i + j) % 2 == colour)
            UPDATE;
}

// Threads take rows, and the steps are inside of one launch.
// CHECK: remark: offloaded thirds
// CHECK-NOT: remark: fuses steps
void thirds(int steps, int n, float x[restrict n][n], float f[restrict n][n]) {
  for (int t = 0; t < steps; t++)
    for (int i = 3; i < n - 1; i++)
      for (int j = 3; j < n - 1; j += 3)
        x[i][j] = 0.25f * (x[i][j - 1] + x[i][j + 1] + x[i][j - 2]) - f[i][j];
}
