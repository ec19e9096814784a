// Neighbours along outer dimensions share an address: what lies between them is the same for all threads, so a point costs one row-major sum,
// not one for each access.
//
// RUN: %clang -O1 -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes='print<pollyrs-ptx>' -disable-output %t.ll 2>&1 | FileCheck %s

void star(int n, float a[restrict n][n][n], float b[restrict n][n][n]) {
  for (int i = 1; i < n - 1; ++i)
    for (int j = 1; j < n - 1; ++j)
      for (int k = 1; k < n - 1; ++k)
        b[i][j][k] = a[i][j][k] + a[i - 1][j][k] + a[i + 1][j][k] + a[i][j - 1][k] + a[i][j + 1][k] + a[i][j][k - 1] + a[i][j][k + 1];
}

// CHECK:         .visible .entry star_K0
// CHECK-COUNT-2: mad.lo.s64
// CHECK-NOT:     mad.lo.s64
// CHECK:         ret;
