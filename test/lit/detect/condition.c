// Condition: a branch on data around loops that store: their iterations may be parallel.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-detect>" -disable-output %t.ll 2>&1 | FileCheck %s --match-full-lines

void f(int n, float A[n][n], const float *restrict B) {
  for (int t = 0; t < n; t++)
    if (B[t] > 0)
      for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
          A[i][j] = B[t];
}

// CHECK: scop f at {{.*}}condition.c:9: {{.*}}, 2 loops
// CHECK: rejected Condition at {{.*}}condition.c:{{[0-9]+}}: a branch depends on B, which is not affine in loop counters and parameters ({{.*}})
