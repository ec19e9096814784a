// A reduction whose sum goes to the first elements of the array it reads: isl's code for register tiles has a loop with a point's number in it. The
// nest gets plain kernels.
//
// RUN: %clang -O3 -S -emit-llvm -fpass-plugin=%plugin -mllvm -pollyrs-targets=emulated -mllvm -pollyrs-strategy=isl -mllvm -pollyrs-tile=32x32 -mllvm -pollyrs-budget=600000 -Rpass=pollyrs -Rpass-missed=pollyrs %s -o %t.ll 2>&1 | FileCheck %s

// CHECK-NOT: internal error
// CHECK: offloaded sums
void sums(int *n, int m, int *A) {
  for (int i = 0; i < (*n - 1) / 2; i++) {
    unsigned sum = -125u;
    for (int j = 0; j < m; j++)
      sum += (unsigned)A[i * m + j];
    A[i] = (int)sum;
  }
}
