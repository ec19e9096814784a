// Two values that change places each iteration are written by one statement, which reads both first.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-scop>" -disable-output %t.ll 2>&1 | FileCheck %s --match-full-lines

void f(int n, float *A) {
  float a = 0, b = 1;
  for (int i = 0; i < n; i++) {
    A[i] = a;
    float c = a + b;
    a = b;
    b = c;
  }
}

// CHECK: scop f at {{.*}}rotating-scalars.c:{{[0-9]+}}
// CHECK-NEXT: param n i32
// CHECK-NEXT: context [n] -> {  : -2147483648 <= n <= 2147483647 }
// CHECK-NEXT: array float A[*] (memory)
// CHECK-NEXT: array float a (phi)
// CHECK-NEXT: array float b (phi)
// CHECK-NEXT: statement S0
// CHECK-NEXT: domain [n] -> { S0[] : n > 0 }
// CHECK-NEXT: must-write [n] -> { S0[] -> a[] }
// CHECK-NEXT: statement S1
// CHECK-NEXT: domain [n] -> { S1[] : n > 0 }
// CHECK-NEXT: must-write [n] -> { S1[] -> b[] }
// CHECK-NEXT: statement S2
// CHECK-NEXT: domain [n] -> { S2[i0] : 0 <= i0 < n }
// CHECK-NEXT: must-write [n] -> { S2[i0] -> A[i0] }
// CHECK-NEXT: read [n] -> { S2[i0] -> a[] }
// CHECK-NEXT: statement S3
// CHECK-NEXT: domain [n] -> { S3[i0] : 0 <= i0 < n }
// CHECK-NEXT: read [n] -> { S3[i0] -> b[] }
// CHECK-NEXT: read [n] -> { S3[i0] -> a[] }
// CHECK-NEXT: must-write [n] -> { S3[i0] -> a[] }
// CHECK-NEXT: must-write [n] -> { S3[i0] -> b[] }
