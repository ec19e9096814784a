// Subscripts that have no affine form are reported with the term that is to blame, in the program's names.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-detect>" -disable-output %t.ll 2>&1 | FileCheck %s

// CHECK: rejected Subscript at {{.*}}blocked-terms.c:[[#@LINE+3]]: a subscript of A is not affine: it depends on a power of row, as packed triangular storage has
void packed(int n, double *A) {
  for (int row = 0; row < n; row++)
    for (int col = 0; col <= row; col++)
      A[row * (row + 1) / 2 + col] *= 2;
}

// CHECK: rejected Subscript at {{.*}}blocked-terms.c:[[#@LINE+2]]: a subscript of A is not affine: it depends on the product i*j
void counters(int n, double *A) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      A[i * j] += 1;
}
