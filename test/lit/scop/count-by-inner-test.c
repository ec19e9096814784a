// The test of the outer loop becomes that of the inner one, handed on by a PHI node.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-scop>" -disable-output %t.ll 2>&1 | FileCheck %s

void triangle(double A[2000][2000], double B[2000][2600]) {
  for (int i = 0; i < 2000; ++i)
    for (int j = 0; j < 2600; ++j) {
      for (int k = i + 1; k < 2000; ++k)
        B[i][j] += A[k][i] * B[k][j];
      B[i][j] *= 0.5;
    }
}

// CHECK-LABEL: scop triangle
// CHECK:       domain {{.*}} S{{[0-9]}}[i0, i1, i2] : i0 >= 0 and 0 <= i1 <= 2599 and 0 <= i2 <= 1998 - i0
// CHECK:       domain {{.*}} S{{[0-9]}}[i0, i1] : 0 <= i0 <= 1999 and 0 <= i1 <= 2599
