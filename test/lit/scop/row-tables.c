// A table of pointers to rows: a version of the loop in which they are equally far apart, and nothing is loaded from the tables.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-scop>" -disable-output %t.ll 2>&1 | FileCheck %s

// CHECK-LABEL: scop product at
// CHECK: assume delinearization: {{.*}} (subscripts of B stay inside its dimensions)
// CHECK: array double A_2[*][
// CHECK: array double B_2[*][
// CHECK: check disjoint A_2 C_2
// CHECK: read {{.*}} -> { [[S:S[0-9]+]][i0, i1, i2] -> A_2[i0, i2] }
// CHECK-NEXT: read {{.*}} -> { [[S]][i0, i1, i2] -> B_2[i2, i1] }
void product(int n, int m, int p, double **C, double **A, double **B) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j) {
      double sum = 0;
      for (int k = 0; k < p; ++k)
        sum += A[i][k] * B[k][j];
      C[i][j] = sum;
    }
}
