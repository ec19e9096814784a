// A pitch that is rounded up is a parameter, bounded by what it is computed from, as is half a size; strides that are parameters of their
// own are multiples of each other.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-scop>" -disable-output %t.ll 2>&1 | FileCheck %s

// CHECK-LABEL: scop pitched
// CHECK: assume delinearization: {{.*}} ({{.*}}15+w{{.*}}/16 is what it is computed from, rounded)
// CHECK: array float A[*]{{\[\[}}{{.*}}] -> { [(16{{.*}})] }] (memory)
// CHECK: must-write {{.*}} A[i0, i1] }
void pitched(int h, int w, float *A) {
  int pitch = (w + 15) & ~15;
  for (int i = 0; i < h; i++)
    for (int j = 0; j < w; j++)
      A[i * pitch + j] = 2;
}

// CHECK-LABEL: scop half
// CHECK: must-write {{.*}} A[i0, i1] }
void half(int h, int w, float *A) {
  for (int i = 0; i < h; i++)
    for (int j = 0; j < w / 2; j++)
      A[i * (w / 2) + j] = 2;
}

// CHECK-LABEL: scop batches
// CHECK: assume delinearization: 0 <= [{{.*}}] + 0..0 <= 0 (batch is a multiple of ld)
// CHECK: must-write {{.*}} A[i0, i1, i2] }
void batches(int b, int n, int m, long batch, long ld, float *A) {
  for (int k = 0; k < b; k++)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < m; j++)
        A[k * batch + i * ld + j] = 2;
}

// A remainder by a size, where it subtracts the size at most once.
// CHECK-LABEL: scop ring
// CHECK: read {{.*}}A[1 + i0] : i0 <= -2 + n; S0[-1 + n] -> A[0] }
void ring(int n, const float *restrict A, float *restrict B) {
  for (int i = 0; i < n; i++)
    B[i] = A[(i + 1) % n];
}

// An index that the inner loop advances.
// CHECK-LABEL: scop advanced
// CHECK: must-write {{.*}} A[i0, i1] }
void advanced(long n, long m, float *A) {
  long k = 0;
  for (long i = 0; i < n; i++)
    for (long j = 0; j < m; j++)
      A[k++] = 2;
}
