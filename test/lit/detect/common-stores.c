// What both ways of a branch on data store at last is one certain store of one of two values; a store before it that one way alone has stays conditional.
// RUN: %clang -O1 -Xclang -disable-llvm-passes -S -emit-llvm %s -o - | %opt -passes='print<pollyrs-scop>' -disable-output 2>&1 | FileCheck %s
// CHECK-LABEL: scop either
// CHECK: must-write{{.*}}argument_1
// CHECK-NOT: may-write
// CHECK-LABEL: scop more
// CHECK: must-write{{.*}}argument_1
// CHECK: may-write{{.*}}argument_3
void either(int n, float *restrict to, const float *restrict from) {
  for (int i = 0; i < n; ++i)
    if (from[i] > 0)
      to[i] = from[i] * 2;
    else
      to[i] = 1 - from[i];
}
void more(int n, float *restrict to, const float *restrict from, float *restrict log) {
  for (int i = 0; i < n; ++i)
    if (from[i] > 0) {
      log[i] = 1;
      to[i] = from[i] * 2;
    } else {
      to[i] = 1 - from[i];
    }
}
