// TrivialSizes: what is assumed leaves loops of one or two iterations, which is no use of a device.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-detect>" -disable-output %t.ll 2>&1 | FileCheck %s

void abort(void);

// CHECK: rejected TrivialSizes at {{.*}}trivial-sizes.c:{{[0-9]+}}: it could run on the device for no ordinary sizes: it assumes that
void few(int n, double *a, int *count) {
  for (int i = 0; i < n; i++) {
    count[i] = i;
    if (i >= 2)
      abort();
    a[i] *= 2;
  }
}

// CHECK: scop many
void many(int n, int most, double *a, int *count) {
  for (int i = 0; i < n; i++) {
    count[i] = i;
    if (i >= most)
      abort();
    a[i] *= 2;
  }
}

// Nor is a loop of more iterations than memory has elements.
// CHECK: rejected TrivialSizes at {{.*}}trivial-sizes.c:{{[0-9]+}}: it could run on the device for no ordinary sizes: it assumes that
void huge(int n, int m, double *a) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      if (m < (1 << 29))
        abort();
      a[(long)i * m + j] *= 2;
    }
}

// Rows of `m / 17` elements hold none of `m`, whatever `m` is: each nest has a view of its own.
// CHECK: scop seventeenths.1
// CHECK: scop seventeenths.2
// CHECK: rejected Subscript at {{.*}}trivial-sizes.c:{{[0-9]+}}: a subscript of x is not affine: it depends on accesses outside of any array shape
void seventeenths(double *restrict x, double *restrict y, int n, int m) {
  int part = m / 17;
  for (int r = 0; r < n; r++) {
    for (int b = 0; b < 17; b++)
      for (int i = 0; i < part; i++)
        x[r * m + b * part + i] = y[i];
    for (int i = 0; i < m; i++)
      y[r * m + i] = x[r * m + i] + 1;
  }
}
