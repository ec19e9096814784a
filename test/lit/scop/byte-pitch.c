// Rows `pitch` bytes apart are rows of `pitch / 4` elements, if that is a whole number.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-scop>" -disable-output %t.ll 2>&1 | FileCheck %s

void f(int n, int m, long pitch, char *a) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      *(float *)(a + i * pitch + 4 * j) += 1;
}

// CHECK: scop f
// CHECK: (pitch is a multiple of 4 bytes)
// CHECK: array float a[*]{{.*}}[(pitch_4)]
// CHECK: S0[i0, i1] -> a[i0, i1]
