// A scalar accumulator is a PHI cell for each outer iteration, which keeps its last value behind the loop.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-scop>" -disable-output %t.ll 2>&1 | FileCheck %s --match-full-lines

void f(int n, float A[n][100], float *B) {
  for (int i = 0; i < n; i++) {
    float s = 0;
    for (int j = 0; j < 100; j++)
      s += A[i][j];
    B[i] = s;
  }
}

// CHECK: scop f at {{.*}}accumulator.c:{{[0-9]+}}
// CHECK-NEXT: param n i32
// CHECK-NEXT: context [n] -> {  : -2147483648 <= n <= 2147483647 }
// CHECK-NEXT: array float A[*]{{\[\[}}n] -> { [(100)] }] (memory)
// CHECK-NEXT: array float B[*] (memory)
// CHECK-NEXT: array float phi01214{{\[\[}}n] -> { [(0)] : n <= 0; [(n)] : n > 0 }] (phi)
// CHECK-NEXT: check disjoint A B
// CHECK-NEXT: statement S0
// CHECK-NEXT: domain [n] -> { S0[i0] : 0 <= i0 < n }
// CHECK-NEXT: must-write [n] -> { S0[i0] -> phi01214[i0] }
// CHECK-NEXT: statement S1
// CHECK-NEXT: domain [n] -> { S1[i0, i1] : 0 <= i0 < n and 0 <= i1 <= 99 }
// CHECK-NEXT: read [n] -> { S1[i0, i1] -> A[i0, i1] }
// CHECK-NEXT: read [n] -> { S1[i0, i1] -> phi01214[i0] }
// CHECK-NEXT: must-write [n] -> { S1[i0, i1] -> phi01214[i0] }
// CHECK-NEXT: statement S2
// CHECK-NEXT: domain [n] -> { S2[i0] : 0 <= i0 < n }
// CHECK-NEXT: must-write [n] -> { S2[i0] -> B[i0] }
// CHECK-NEXT: read [n] -> { S2[i0] -> phi01214[i0] }
