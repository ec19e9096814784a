// Nests one after the other are one region; each keeps its place.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-scop>" -disable-output %t.ll 2>&1 | FileCheck %s --match-full-lines

void f(int n, float *A, float *B) {
  for (int i = 0; i < n; i++)
    A[i] = 1;
  for (int i = 0; i < n; i++)
    B[i] = A[n - 1 - i];
}

// CHECK: scop f at {{.*}}sequence-of-nests.c:{{[0-9]+}}
// CHECK-NEXT: param n i32
// CHECK-NEXT: context [n] -> {  : -2147483648 <= n <= 2147483647 }
// CHECK-NEXT: array float A[*] (memory)
// CHECK-NEXT: array float B[*] (memory)
// CHECK-NEXT: check disjoint A B
// CHECK-NEXT: statement S0
// CHECK-NEXT: domain [n] -> { S0[i0] : 0 <= i0 < n }
// CHECK-NEXT: must-write [n] -> { S0[i0] -> A[i0] }
// CHECK-NEXT: statement S1
// CHECK-NEXT: domain [n] -> { S1[i0] : 0 <= i0 < n }
// CHECK-NEXT: read [n] -> { S1[i0] -> A[-1 + n - i0] }
// CHECK-NEXT: must-write [n] -> { S1[i0] -> B[i0] }
// CHECK-NEXT: schedule { domain: "[n] -> { S1[i0] : 0 <= i0 < n; S0[i0] : 0 <= i0 < n }", child: { sequence: [ { filter: "[n] -> { S0[i0] }", child: { schedule: "[n] -> [{ S0[i0] -> [(i0)] }]" } }, { filter: "[n] -> { S1[i0] }", child: { schedule: "[n] -> [{ S1[i0] -> [(i0)] }]" } } ] } }
