// Behind a check of sizes the first nest's test of the number of rows runs in any case, inside its loop, and the second nest is given its answer: the test moves before both.
//
// RUN: %clang -O1 -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-scop>" -disable-output %t.ll 2>&1 | FileCheck %s

void step(int, float *, float *);

void set_and_scale(int n, int m, int k, float *restrict x, float *restrict y) {
  if (n < 1 || m < 1 || k < 1)
    return;
  for (int p = 0; p < k; p++)
    for (int i = 0; i < m; i++)
      for (int j = 0; j < n; j++)
        x[(p * m + i) * n + j] = p == 0 || i == 0 ? 1.0f : 0.0f;
  step(n, x, y);
  for (int p = 0; p < k; p++)
    for (int i = 0; i < m; i++)
      for (int j = 0; j < n; j++)
        y[(p * m + i) * n + j] = 2.0f * x[(p * m + i) * n + j];
}

// CHECK-LABEL: scop set_and_scale.2
// CHECK:       read {{.*}} S0[i0, i1, i2] -> argument_3[
// CHECK-NEXT:  must-write {{.*}} S0[i0, i1, i2] -> argument_4[
