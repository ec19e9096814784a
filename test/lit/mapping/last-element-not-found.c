// isl by itself does not find the last element that a slice of the launch loads here, and says that an "affine expression involves some of the domain
// dimensions": it takes constraints for a remainder's that are none (`isl/c/sorted.c`).
//
// RUN: %clang -O3 -S -emit-llvm -fpass-plugin=%plugin -mllvm -pollyrs-targets=emulated -mllvm -pollyrs-strategy=isl -mllvm -pollyrs-tile=3x16x4 -Rpass=pollyrs -Rpass-missed=pollyrs %s -o %t.ll 2>&1 | FileCheck %s

// CHECK-NOT: internal error
// CHECK: offloaded spread: 2 loops, 2 statements
void spread(int n, signed char *A, signed char *B) {
  for (unsigned long i = 1; i < n; i++)
    for (unsigned long j = 1; j < n; j += 4) {
      A[i] = B[(j * (n + 1) + i) * n + (i + j)];
      A[n] = B[(i * (n + 2) + (j + 1)) * n];
    }
}
