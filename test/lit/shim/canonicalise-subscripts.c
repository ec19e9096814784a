// After the preparation the subscripts are the source's: no scalar accumulator in gemm (LICM would make one), no value
// carried from one iteration of the stencil to the next (load-PRE would), no memcpy for the copy loop.
//
// RUN: %clang -O1 -Xclang -disable-llvm-passes -S -emit-llvm -fno-discard-value-names -ffp-contract=off %s -o %t.ll
// RUN: %opt -passes=pollyrs-canonicalise -S %t.ll -o %t.2.ll
// RUN: FileCheck %s < %t.2.ll
// RUN: opt -passes='print<scalar-evolution>' -disable-output %t.2.ll 2>&1 | FileCheck %s --check-prefix=SCEV

// CHECK-LABEL: define {{.*}}@gemm(
// CHECK-NOT:     phi double
// CHECK:         fmul double
// CHECK-NOT:     phi double
// SCEV-LABEL: 'gemm'
// SCEV: getelementptr {{.*}}%A
// SCEV-DAG: {{[{][{]}}%B,+,8}<{{.*}}>{{.*}},+,(8 * (zext i32 %m to i64))<nuw><nsw>}<
void gemm(int n, int m, double C[n][m], double A[n][m], double B[m][m]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      for (int k = 0; k < m; k++)
        C[i][j] += A[i][k] * B[k][j];
}

// CHECK-LABEL: define {{.*}}@jacobi(
// CHECK-NOT:     phi double
// CHECK-NOT:     memcpy
// CHECK-COUNT-4: load double
// CHECK-NOT:     phi double
// CHECK-NOT:     memcpy
// CHECK:         ret void
void jacobi(int t, int n, double *A, double *B) {
  for (int s = 0; s < t; s++) {
    for (int i = 1; i < n - 1; i++)
      B[i] = 0.25 * (A[i - 1] + 2 * A[i] + A[i + 1]);
    for (int i = 1; i < n - 1; i++)
      A[i] = B[i];
  }
}
