// A sum that is returned: a cell that comes back to the host.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-scop>" -disable-output %t.ll 2>&1 | FileCheck %s --match-full-lines

float f(int n, float *A) {
  float s = 0;
  for (int i = 0; i < n; i++)
    s += A[i];
  return s;
}

// CHECK: scop f at {{.*}}live-out.c:{{[0-9]+}}
// CHECK-NEXT: param n i32
// CHECK-NEXT: context [n] -> {  : -2147483648 <= n <= 2147483647 }
// CHECK-NEXT: array float A[*] (memory)
// CHECK-NEXT: array float phi06_lcssa_ph (phi, live out)
// CHECK-NEXT: array float phi067 (phi)
// CHECK-NEXT: statement S0
// CHECK-NEXT: domain [n] -> { S0[] : n <= 0 }
// CHECK-NEXT: must-write [n] -> { S0[] -> phi06_lcssa_ph[] }
// CHECK-NEXT: statement S1
// CHECK-NEXT: domain [n] -> { S1[] : n > 0 }
// CHECK-NEXT: must-write [n] -> { S1[] -> phi067[] }
// CHECK-NEXT: statement S2
// CHECK-NEXT: domain [n] -> { S2[i0] : 0 <= i0 < n }
// CHECK-NEXT: read [n] -> { S2[i0] -> A[i0] }
// CHECK-NEXT: read [n] -> { S2[i0] -> phi067[] }
// CHECK-NEXT: must-write [n] -> { S2[i0] -> phi067[] }
// CHECK-NEXT: statement S3
// CHECK-NEXT: domain [n] -> { S3[] : n > 0 }
// CHECK-NEXT: read [n] -> { S3[] -> phi067[] }
// CHECK-NEXT: must-write [n] -> { S3[] -> phi06_lcssa_ph[] }
