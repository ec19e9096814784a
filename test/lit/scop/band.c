// A band of a matrix: the counter of the rows strides over one element less than a row. The row's length is the program's, and the
// subscripts are inside of it whatever the parameters; in columns with a leading dimension, a band that is no wider is assumed.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-scop>" -disable-output %t.ll 2>&1 | FileCheck %s

void rows(long n, long kl, long ku, double *A) {
  for (long i = 0; i < n; i++)
    for (long j = (i - kl < 0 ? 0 : i - kl); j <= (i + ku < n ? i + ku : n - 1); j++)
      A[i * (kl + ku + 1) + j - i + kl] *= 2;
}

void columns(long n, long kl, long ku, double *A, long lda) {
  for (long j = 0; j < n; j++)
    for (long i = (j - ku < 0 ? 0 : j - ku); i <= (j + kl < n ? j + kl : n - 1); i++)
      A[ku + i - j + j * lda] *= 2;
}

// CHECK:      scop rows
// CHECK-NOT:  assume delinearization
// CHECK:      array double A[*]{{\[\[}}n, kl, ku] -> { [(1 + kl + ku)] }] (memory)

// CHECK:      scop columns
// CHECK:      assume delinearization: {{.*}}lda > {{k[lu] \+ k[lu]}}
// CHECK:      array double A[*]{{.*}}{ [(lda)] }] (memory)
