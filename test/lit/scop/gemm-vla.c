// gemm on variable-length arrays: shapes are recovered, nothing is assumed, three arrays are compared at run time.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-scop>" -disable-output %t.ll 2>&1 | FileCheck %s --match-full-lines

void gemm(int n, int m, int k, float alpha, float beta, float C[n][m], float A[n][k], float B[k][m]) {
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < m; j++)
      C[i][j] *= beta;
    for (int p = 0; p < k; p++)
      for (int j = 0; j < m; j++)
        C[i][j] += alpha * A[i][p] * B[p][j];
  }
}

// CHECK: scop gemm at {{.*}}gemm-vla.c:{{[0-9]+}}
// CHECK-NEXT: param n i32
// CHECK-NEXT: param m i32
// CHECK-NEXT: param k i32
// CHECK-NEXT: context [n, m, k] -> {  : -2147483648 <= n <= 2147483647 and -2147483648 <= m <= 2147483647 and -2147483648 <= k <= 2147483647 }
// CHECK-NEXT: array float C[*]{{\[\[}}n, m, k] -> { [(m)] }] (memory)
// CHECK-NEXT: array float A[*]{{\[\[}}n, m, k] -> { [(k)] }] (memory)
// CHECK-NEXT: array float B[*]{{\[\[}}n, m, k] -> { [(m)] }] (memory)
// CHECK-NEXT: check disjoint C A
// CHECK-NEXT: check disjoint C B
// CHECK-NEXT: statement S0
// CHECK-NEXT: domain [n, m, k] -> { S0[i0, i1] : 0 <= i0 < n and 0 <= i1 < m }
// CHECK-NEXT: read [n, m, k] -> { S0[i0, i1] -> C[i0, i1] }
// CHECK-NEXT: must-write [n, m, k] -> { S0[i0, i1] -> C[i0, i1] }
// CHECK-NEXT: statement S1
// CHECK-NEXT: domain [n, m, k] -> { S1[i0, i1, i2] : 0 <= i0 < n and 0 <= i1 < k and 0 <= i2 < m }
// CHECK-NEXT: read [n, m, k] -> { S1[i0, i1, i2] -> A[i0, i1] }
// CHECK-NEXT: read [n, m, k] -> { S1[i0, i1, i2] -> B[i1, i2] }
// CHECK-NEXT: read [n, m, k] -> { S1[i0, i1, i2] -> C[i0, i2] }
// CHECK-NEXT: must-write [n, m, k] -> { S1[i0, i1, i2] -> C[i0, i2] }
