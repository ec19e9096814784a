// A quotient of parameters before the loops is a size of its own; nothing is assumed of it.
//
// RUN: %clang -O1 -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes='print<pollyrs-scop>' -disable-output %t.ll 2>&1 | FileCheck %s

// CHECK-LABEL: scop heads
// CHECK-NOT: taken modulo
// CHECK: array float argument_1[*]{{.*}}argument_2___argument_3
void heads(int n, float *x, int width, int heads) {
  int size = width / heads;
  for (int i = 0; i < n; i++)
    for (int h = 0; h < heads; h++)
      for (int j = 0; j < size; j++)
        x[(i * heads + h) * size + j] *= 2;
}

// The same inside of a loop, where the division does not always run.
// CHECK-LABEL: scop inside
// CHECK-NOT: taken modulo
// CHECK: statement S0
void inside(int n, float *x, int width, int heads) {
  for (int i = 0; i < n; i++)
    if (heads > 0) {
      int size = width / heads;
      for (int j = 0; j < size; j++)
        x[i * size + j] *= 2;
    }
}
