// Loops over tiles whose size is an argument are loops over points, whatever is between the two; not where more than the points depends on the tiles.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-scop>" -disable-output %t.ll 2>&1 | FileCheck %s
// RUN: %opt -passes="pollyrs-canonicalise" -S %t.ll -o - 2>&1 | FileCheck %s --check-prefix=CANONICAL

#define MIN(a, b) ((a) < (b) ? (a) : (b))

// What is only brought into form has the program's loops in each version.
// CANONICAL-LABEL: define {{.*}}@transpose(
// CANONICAL: llvm.smin
// CANONICAL: llvm.smin
// CANONICAL: ret void

// CHECK-LABEL: scop transpose
// CHECK: tile by tile in dimensions 0 to 1: S0
// CHECK: S0[i0, i1] : 0 <= i0 < n and 0 <= i1 < n
void transpose(int n, int ts, const double *restrict a, double *restrict b) {
  for (int i = 0; i < n; i += ts)
    for (int j = 0; j < n; j += ts)
      for (int it = i; it < MIN(n, i + ts); it++)
        for (int jt = j; jt < MIN(n, j + ts); jt++)
          b[jt * n + it] += a[it * n + jt];
}

// CHECK-LABEL: scop product
// CHECK: tile by tile in dimensions 0 to 2: S0
void product(int n, int ts, const double *restrict a, const double *restrict b, double *restrict c) {
  for (int ii = 0; ii < n; ii += ts)
    for (int kk = 0; kk < n; kk += ts)
      for (int i = ii; i < MIN(ii + ts, n); i++)
        for (int j = 0; j < n; j++)
          for (int k = kk; k < MIN(kk + ts, n); k++)
            c[i * n + j] += a[i * n + k] * b[k * n + j];
}

// The place in a tile, a bound that is none of the points, and something that is done once for each tile.
// CHECK-NOT: tile by tile
void places(int n, int ts, double *restrict a) {
  for (int i = 0; i < n; i += ts)
    for (int j = 0; j < n; j += ts)
      for (int it = i; it < MIN(n, i + ts); it++)
        for (int jt = j; jt < MIN(n, j + ts); jt++)
          a[it * n + jt] += (it - i) * 3 + jt - j;
}

void beyond(int n, int m, int ts, double *restrict a) {
  for (int i = 0; i < n; i += ts)
    for (int j = 0; j < n; j += ts)
      for (int it = i; it < MIN(n, i + ts + m); it++)
        for (int jt = j; jt < MIN(n, j + ts + m); jt++)
          a[it * n + jt] += 1;
}

void each(int n, int ts, double *restrict a, double *restrict b) {
  for (int i = 0; i < n; i += ts)
    for (int j = 0; j < n; j += ts) {
      b[i] += 1;
      for (int it = i; it < MIN(n, i + ts); it++)
        for (int jt = j; jt < MIN(n, j + ts); jt++)
          a[it * n + jt] += 1;
    }
}
