// An index that is advanced over the borders of a grid is one of all loops, for loops that run from one number to another; where the inner loop's
// number of iterations changes, it is not.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-scop>" -disable-output %t.ll 2>&1 | FileCheck %s
// RUN: %opt -passes="print<pollyrs-detect>" -disable-output %t.ll 2>&1 | FileCheck %s --check-prefix=REFUSED

// CHECK-LABEL: scop interior
// CHECK: must-write {{.*}} a[i0, i1, i2] }
void interior(int nx, int ny, int nz, float *a) {
  int at = 0;
  for (int i = 1; i < nx - 1; i++) {
    for (int j = 1; j < ny - 1; j++) {
      for (int k = 1; k < nz - 1; k++)
        a[at++] *= 2;
      at += 2;
    }
    at += 2 * nz;
  }
}

// CHECK-LABEL: scop columns
// CHECK: must-write {{.*}} b[i0, {{.*}}i1] }
void columns(long lo, long hi, long h, long pitch, float *b) {
  long at = 0;
  for (long j = 0; j < h; j++) {
    at += lo;
    for (long k = lo; k < hi; k++)
      b[at++] *= 2;
    at = at - hi + pitch;
  }
}

// REFUSED: rejected Subscript at {{.*}}: a subscript of c is not affine
void triangle(int n, float *c) {
  int at = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < i; j++)
      c[at++] *= 2;
}
