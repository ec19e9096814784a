// Parts of matrices begin anywhere: at a product of parameters, which gets a name, or at an offset. Rows are not left, wherever that is.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-scop>" -disable-output %t.ll 2>&1 | FileCheck %s

void block(long bi, long bj, long bs, long ld, double *A) {
  for (long i = 0; i < bs; i++)
    for (long j = 0; j < bs; j++)
      A[(bi * bs + i) * ld + bj * bs + j] *= 2;
}

void part(long n, long m, long offset, long ld, double *A) {
  for (long i = 0; i < n; i++)
    for (long j = 0; j < m; j++)
      A[offset + i * ld + j] *= 2;
}

// Beside an access without it, an offset stays what it is: how far the two are apart in a row.
void shifted(long n, long m, long by, long ld, double *A) {
  for (long i = 0; i < n; i++)
    for (long j = 0; j < m; j++)
      A[i * ld + j] = A[i * ld + j + by];
}

// CHECK:      scop block
// CHECK:      assume delinearization: {{.*}} bs <= 0 or ld >= bs }
// CHECK:      array double A[*]{{.*}}{ [(ld)] }] (memory at {{.*}}(8bj_bs + 8bi_bs_ld)] })
// CHECK:      read {{.*}} -> { S0[i0, i1] -> A[i0, i1] }

// CHECK:      scop part
// CHECK:      assume delinearization: {{.*}} ld >= m }
// CHECK:      array double A[*]{{.*}}{ [(ld)] }] (memory at {{.*}}(8offset)] })
// CHECK:      read {{.*}} -> { S0[i0, i1] -> A[i0, i1] }

// CHECK:      scop shifted
// CHECK:      read {{.*}} -> { S0[i0, i1] -> A[i0, by + i1] }
// CHECK:      must-write {{.*}} -> { S0[i0, i1] -> A[i0, i1] }
