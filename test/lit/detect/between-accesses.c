// A load under a condition on data between two elements that are read in any case is no access of a page of its own: it is read in any case, too, and
// the statement has no control flow. Further away it stays under its condition.
// RUN: %clang -O1 -Xclang -disable-llvm-passes -S -emit-llvm %s -o - | %opt -passes='print<pollyrs-scop>' -disable-output 2>&1 | FileCheck %s
// CHECK-LABEL: scop middle
// CHECK-NOT: subregion
// CHECK-LABEL: scop beside
// CHECK: subregion
void middle(int n, int *restrict to, const int *restrict from) {
  for (int i = 1; i < n - 1; ++i) {
    int around = from[i - 1] + from[i + 1];
    to[i] = around == 3 || (around == 2 && from[i]);
  }
}
void beside(int n, int *restrict to, const int *restrict from) {
  for (int i = 1; i < n - 1; ++i) {
    int around = from[i] + from[i + 1];
    to[i] = around == 3 || (around == 2 && from[i - 1]);
  }
}
