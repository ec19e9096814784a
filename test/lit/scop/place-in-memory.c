// A minimum's place in memory is stored on the device in any case, perhaps as it was; nothing says that it can be read where the loop stores none.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-scop>" -disable-output %t.ll 2>&1 | FileCheck %s

// CHECK-LABEL: scop f at
// CHECK: may-read [n] -> { S[[N:[0-9]+]][i0] -> k[0] }
// CHECK-NEXT: must-write [n] -> { S[[N]][i0] -> k[0] }
// CHECK: reduction of m, k in order
float f(int n, const float *restrict x, int *restrict k) {
  float m = 0;
  for (int i = 0; i < n; i++)
    if (x[i] < m) {
      m = x[i];
      *k = i;
    }
  return m;
}

// What is stored under a test of something else stays in its branch.
// CHECK-LABEL: scop g at
// CHECK: subregion
// CHECK: may-write [n] -> { S{{[0-9]+}}[i0] -> k[0]
void g(int n, const float *restrict x, int *restrict k) {
  for (int i = 0; i < n; i++)
    if (x[i] < 0)
      *k = i;
}
