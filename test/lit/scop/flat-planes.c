// Planes walked through as one row: the product in the bound is the size of a plane.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-scop>" -disable-output %t.ll 2>&1 | FileCheck %s

void bias(int n, int c, int h, int w, double *t, const double *b) {
  for (int i = 0; i < n; i++)
    for (int k = 0; k < c; k++)
      for (int p = 0; p < h * w; p++)
        t[(i * c + k) * h * w + p] += b[k];
}

// CHECK-LABEL: scop bias
// CHECK:       array double t[*]{{.*}}(c){{.*}}(h_w){{.*}} (memory)
// CHECK:       must-write {{.*}} -> { S0[i0, i1, i2] -> t[i0, i1, i2] }
