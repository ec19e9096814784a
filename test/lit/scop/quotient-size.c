// A size that is computed between two loops, before scalar evolution could know that it is the same everywhere.
//
// RUN: %clang -O1 -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes='print<pollyrs-scop>' -disable-output %t.ll 2>&1 | FileCheck %s

// CHECK: scop halves
// CHECK: array float argument_1[*][{{.*}}argument_3_2){{.*}}
// CHECK: must-write {{.*}} -> argument_1[i0, i1, i2]
void halves(const float *x, float *y, int n, int h, int w) {
  for (int i = 0; i < n; i++)
    for (int p = 0; p < h / 2; p++)
      for (int q = 0; q < w / 2; q++)
        y[((long)i * (h / 2) + p) * (w / 2) + q] = x[((long)i * h + 2 * p) * w + 2 * q];
}
