// Time levels by t % 2: an integer division in a subscript, next to recovered dimensions.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-scop>" -disable-output %t.ll 2>&1 | FileCheck %s --match-full-lines

void f(int T, int n, float A[2][n][n]) {
  for (int t = 0; t < T; t++)
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        A[(t + 1) % 2][i][j] = A[t % 2][i - 1][j] + A[t % 2][i][j + 1];
}

// CHECK: scop f at {{.*}}modulo-subscript.c:{{[0-9]+}}
// CHECK-NEXT: param T i32
// CHECK-NEXT: param n i32
// CHECK-NEXT: context [T, n] -> {  : -2147483648 <= T <= 2147483647 and -2147483648 <= n <= 2147483647 }
// CHECK-NEXT: array float A[*]{{\[\[}}T, n] -> { [(n)] }]{{\[\[}}T, n] -> { [(n)] }] (memory)
// CHECK-NEXT: statement S0
// CHECK-NEXT: domain [T, n] -> { S0[i0, i1, i2] : 0 <= i0 < T and 0 <= i1 <= -3 + n and 0 <= i2 <= -3 + n }
// CHECK-NEXT: read [T, n] -> { S0[i0, i1, i2] -> A[o0, i1, 1 + i2] : (i0 + o0) mod 2 = 0 and 0 <= o0 <= 1 }
// CHECK-NEXT: read [T, n] -> { S0[i0, i1, i2] -> A[o0, 1 + i1, 2 + i2] : (i0 + o0) mod 2 = 0 and 0 <= o0 <= 1 }
// CHECK-NEXT: must-write [T, n] -> { S0[i0, i1, i2] -> A[o0, 1 + i1, 1 + i2] : (1 + i0 + o0) mod 2 = 0 and 0 <= o0 <= 1 }
