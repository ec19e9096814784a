// Parts of matrices: a block at a product of parameters, which gets a name; a part at an offset, which is a row and a column.
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
// CHECK:      param bi_bs i64
// CHECK:      assume delinearization: {{.*}} (0 <= [[COLUMN:bj_bs[a-z0-9_]+]] <= -bs + ld)
// CHECK:      array double A[*]{{.*}}{ [(ld)] }] (memory)
// CHECK:      read {{.*}} -> { S0[i0, i1] -> A[bi_bs + bj_bs_max_1__ld + i0, [[COLUMN]] + i1] }

// CHECK:      scop part
// CHECK:      assume delinearization: {{.*}} (0 <= [[COLUMN:[a-z0-9_]+offset]] <= -m + ld)
// CHECK:      array double A[*]{{.*}}{ [(ld)] }] (memory)
// CHECK:      read {{.*}} -> { S0[i0, i1] -> A[offset_max_1__ld + i0, [[COLUMN]] + i1] }

// CHECK:      scop shifted
// CHECK:      read {{.*}} -> { S0[i0, i1] -> A[i0, by + i1] }
// CHECK:      must-write {{.*}} -> { S0[i0, i1] -> A[i0, i1] }
