// Of two versions of a loop, one for elements that lie side by side, the other is left out under a check. A branch that fixes no stride
// stays what it is. The strides are in memory, and only a version of a loop that runs reads them: they are loaded once before the nest.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-scop>" -disable-output %t.ll 2>&1 | FileCheck %s --match-full-lines

struct descriptor {
  char *data;
  long rows, columns, stride, pitch;
};

// CHECK: scop versions at {{.*}}
// CHECK: assume delinearization: {{.*}} -> {  : a__stride = 8 } (elements lie side by side: the stride in a->stride is their size)
// CHECK: array double {{.*}} -> { [(a__pitch_8)] }] (memory)
// CHECK: statement S0
// CHECK-NEXT: domain {{.*}} -> { S0[i0, i1] : 0 <= i0 < n and 0 <= i1 < m }
// CHECK-NOT: statement
// CHECK: schedule {{.*}}
void versions(long n, long m, struct descriptor *restrict a, double *restrict b) {
  for (long j = 0; j < n; j++) {
    if (a->stride == 8)
      for (long i = 0; i < m; i++)
        *(double *)(a->data + j * a->pitch + 8 * i) = b[i];
    else
      for (long i = 0; i < m; i++)
        *(double *)(a->data + j * a->pitch + a->stride * i) = b[i];
  }
}

// CHECK: scop other_branch at {{.*}}
// CHECK-NOT: side by side
// CHECK: statement S0
// CHECK: statement S1
void other_branch(long n, long m, long mode, double A[n][m]) {
  for (long j = 0; j < n; j++) {
    if (mode == 8)
      for (long i = 0; i < m; i++)
        A[j][i] = 1;
    else
      for (long i = 0; i < m; i++)
        A[j][i] += mode;
  }
}

// CHECK: scop one_column at {{.*}}
// CHECK-NOT: side by side
// CHECK: statement S0
// CHECK: statement S1
void one_column(long n, long m, double *restrict A, double *restrict b) {
  for (long j = 0; j < n; j++) {
    if (m == 1)
      b[j] = A[j];
    else
      for (long i = 0; i < m; i++)
        b[j] += A[j * m + i];
  }
}
