// Pointers that a remainder of the time chooses are pointers that change places: two steps of one loop. A counter by two chooses the same ones all the time.
//
// RUN: %clang -O1 -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-scop>" -disable-output %t.ll 2>&1 | FileCheck %s

void turns(int steps, int n, float a[n][n], float b[n][n]) {
  for (int t = 1; t <= steps; ++t) {
    float(*from)[n] = t % 2 ? a : b, (*to)[n] = t % 2 ? b : a;
    for (int i = 1; i < n - 1; ++i)
      for (int j = 1; j < n - 1; ++j)
        to[i][j] = 0.25f * (from[i - 1][j] + from[i + 1][j] + from[i][j - 1] + from[i][j + 1]);
  }
}

// CHECK-LABEL: scop turns
// CHECK: array float argument_2
// CHECK: array float argument_3
// CHECK: statement S0
// CHECK: S0[i0, i1, i2]
// CHECK: read {{.*}} -> argument_2[
// CHECK: must-write {{.*}} -> argument_3[
// CHECK: statement S1
// CHECK: read {{.*}} -> argument_3[
// CHECK: must-write {{.*}} -> argument_2[

void flat(int steps, int n, float a[n][n], float b[n][n]) {
  for (int t = 1; t <= steps; t += 2) {
    float(*from)[n] = t % 2 ? a : b, (*to)[n] = t % 2 ? b : a;
    for (int i = 1; i < n - 1; ++i)
      for (int j = 1; j < n - 1; ++j)
        to[i][j] = 0.25f * (from[i - 1][j] + from[i + 1][j] + from[i][j - 1] + from[i][j + 1]);
  }
}

// CHECK-LABEL: scop flat
// CHECK: statement S0
// CHECK-NOT: statement S1
