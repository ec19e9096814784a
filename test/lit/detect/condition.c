// Condition: a branch on data around a loop that stores: its iterations may be parallel.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-detect>" -disable-output %t.ll 2>&1 | FileCheck %s --match-full-lines

void f(int n, float *A) {
  for (int t = 0; t < n; t++) {
    float x = A[0];
    while (x > 1) {
      if (A[t] > 0)
        for (int i = 0; i < n; i++)
          A[i] = x;
      x *= A[1];
    }
  }
}

// CHECK: rejected Condition at {{.*}}condition.c:{{[0-9]+}}: a branch depends on A, which is not affine in loop counters and parameters ({{.*}})
