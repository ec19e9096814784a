// Several arrays in one allocation, each at a shift of its own; checked like arrays of different bases.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-scop>" -disable-output %t.ll 2>&1 | FileCheck %s

// Two levels of an image pyramid.
void reduce(long h, long w, long at, long next, long half, double *levels) {
  for (long y = 0; y < h; y++)
    for (long x = 0; x < half; x++)
      levels[next + y * half + x] = levels[at + 2 * y * w + 2 * x];
}

// Rows of one matrix, of which none is an array by itself.
void rows(long n, long m, long k, long ld, double *A) {
  for (long i = 0; i < n; i++)
    for (long j = 0; j < m; j++)
      A[i * ld + ld + j] = A[(i + k) * ld + j];
}

// CHECK-LABEL: scop reduce
// CHECK:       array double levels[*]{{.*}}(w){{.*}}(2){{.*}} (memory at {{.*}}(8at){{.*}})
// CHECK:       array double levels_2[*]{{.*}}(half){{.*}} (memory at {{.*}}(8next){{.*}})
// CHECK:       check disjoint levels levels_2
// CHECK:       read {{.*}} -> { S0[i0, i1] -> levels[i0, i1, 0] }
// CHECK:       must-write {{.*}} -> { S0[i0, i1] -> levels_2[i0, i1] }

// CHECK-LABEL: scop rows
// CHECK:       array double A[*]{{.*}}(ld){{.*}} (memory)
// CHECK:       read {{.*}} -> { S0[i0, i1] -> A[k + i0, i1] }
// CHECK:       must-write {{.*}} -> { S0[i0, i1] -> A[1 + i0, i1] }
