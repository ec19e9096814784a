// Bounds and base pointers in memory that no store of the region can change: loaded before it, under the guards of the loops.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-scop>" -disable-output %t.ll 2>&1 | FileCheck %s

struct grid { int n, m; double *a, *b; };

void f(const struct grid *g) {
  for (int i = 0; i < g->n; i++)
    for (int j = 0; j < g->m; j++)
      g->a[i * (long)g->m + j] = g->b[j];
}

// CHECK: scop f
// CHECK: array double {{.*}} (memory)
// CHECK: array double {{.*}} (memory)
// CHECK: statement S0
// CHECK: S0[i0, i1] : 0 <= i0 < {{.*}} and 0 <= i1 < 
