// A number that is chosen before the loops is one number, not a case for each of its values; what it can be is known.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-scop>" -disable-output %t.ll 2>&1 | FileCheck %s

void f(double *restrict a, const double *restrict b, int n, int m) {
  int d = n == 3 ? 2 : 1;
  for (int i = d; i < m; i++)
    a[2 * i - d] = b[i - d];
}
// CHECK:      param i i32
// CHECK-NEXT: param m i32
// CHECK-NEXT: context [i, m] -> {{.*}} 0 <= i <= 3 and
// CHECK:      domain [i, m] -> { S0[i0] : 0 <= i0 < -i + m }
// CHECK-NEXT: read [i, m] -> { S0[i0] -> b[i0] }
// CHECK-NEXT: must-write [i, m] -> { S0[i0] -> a[i + 2i0] }
