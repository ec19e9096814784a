// The triangle of a product: in strips on its edge points are computed one by one, from the strip's own buffers, not from those of the next strip,
// which operations of whole strips turn to last.
//
// RUN: %clang -O1 -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-kernel>" -disable-output %t.ll 2>&1 | FileCheck %s

// CHECK-NOT: broken kernel module
// CHECK: somepoints
// CHECK-NOT: broken kernel module
void product(int m, int n, double A[restrict m][m], double B[restrict m][n]) {
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j)
      for (int k = i + 1; k < m; ++k)
        B[i][j] += A[k][i] * B[k][j];
}
