// LoopBound: what a binary search reads has no bound that could be seen.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-detect>" -disable-output %t.ll 2>&1 | FileCheck %s

void f(int n, int m, double T[n][m], const double *key, int *at) {
  for (int i = 0; i < n; i++) {
    int lo = 0, hi = m;
    while (lo < hi) {
      int mid = (lo + hi) / 2;
      if (T[i][mid] < key[i])
        lo = mid + 1;
      else
        hi = mid;
    }
    at[i] = lo;
  }
}

// CHECK-NOT: scop
// CHECK: rejected LoopBound at {{.*}}binary-search.c:
