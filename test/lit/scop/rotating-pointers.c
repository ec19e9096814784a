// Pointers that change places in each time step: as many statements as there are places, each with a base of its own.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-scop>" -disable-output %t.ll 2>&1 | FileCheck %s

void two(int T, int n, float *A, float *B) {
  for (int t = 0; t < T; t++) {
    for (int i = 1; i < n - 1; i++)
      B[i] = A[i - 1] + A[i + 1];
    float *x = A;
    A = B;
    B = x;
  }
}

// CHECK-LABEL: scop two
// CHECK-NOT: assume
// CHECK: check disjoint A B
// CHECK: domain [T, n] -> { S0[i0, i1] : i0 >= 0 and 2i0 < T and 0 <= i1 <= -3 + n }
// CHECK: read [T, n] -> { S0[i0, i1] -> A[i1] }
// CHECK: must-write [T, n] -> { S0[i0, i1] -> B[1 + i1] }
// CHECK: domain [T, n] -> { S1[i0, i1] : i0 >= 0 and 2i0 <= -2 + T and 0 <= i1 <= -3 + n }
// CHECK: read [T, n] -> { S1[i0, i1] -> B[i1] }
// CHECK: must-write [T, n] -> { S1[i0, i1] -> A[1 + i1] }

struct grid {
  float *before, *now, *next;
};

void three(int T, int n, struct grid *g) {
  for (int t = 0; t < T; t++) {
    for (int i = 1; i < n - 1; i++)
      g->next[i] = g->now[i - 1] + g->now[i + 1] - g->before[i];
    float *x = g->before;
    g->before = g->now;
    g->now = g->next;
    g->next = x;
  }
}

// CHECK-LABEL: scop three
// CHECK: S0[i0, i1] : i0 >= 0 and 3i0 < T
// CHECK: S1[i0, i1] : i0 >= 0 and 3i0 <= -2 + T
// CHECK: S2[i0, i1] : i0 >= 0 and 3i0 <= -3 + T

void toggle(int T, int n, float A[2][1000]) {
  int now = 0;
  for (int t = 0; t < T; t++) {
    for (int i = 1; i < n - 1; i++)
      A[1 - now][i] = A[now][i - 1] + A[now][i + 1];
    now = 1 - now;
  }
}

// CHECK-LABEL: scop toggle
// CHECK: read [T, n] -> { S0[i0, i1] -> A[i1] }
// CHECK: must-write [T, n] -> { S0[i0, i1] -> A[1001 + i1] }
// CHECK: read [T, n] -> { S1[i0, i1] -> A[1000 + i1] }
// CHECK: must-write [T, n] -> { S1[i0, i1] -> A[1 + i1] }
