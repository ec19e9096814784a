// The cell of a minimum that the program stores under a condition (the order of a product of matrices, with flat subscripts) stays in a register while the innermost
// loop runs: the kernel stores it in each iteration anyway. That was an internal error.
// RUN: %clang -O1 -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes='print<pollyrs-mapping;graph=always>' -disable-output %t.ll 2>&1 | FileCheck %s
// RUN: %clang -O3 -mllvm -pollyrs-targets=emulated -mllvm -pollyrs-graph=always -Rpass=pollyrs -Rpass-missed=pollyrs -c %s -o %t.o 2>&1 | FileCheck %s --check-prefix=REMARK

// CHECK: kernel K0
// CHECK: mark register0
// REMARK-NOT: internal error
// REMARK: offloaded chain
// REMARK-NOT: internal error

void chain(int n, int ld, unsigned *restrict A, unsigned *restrict v) {
  for (int l = 1; l < n; l++)
    for (int i = 0; i + l < n; i++)
      for (int k = i; k < i + l; k++) {
        unsigned c = A[i * ld + k] + A[(k + 1) * ld + i + l] + v[i] * v[k];
        if (c < A[i * ld + i + l])
          A[i * ld + i + l] = c;
      }
}
