// Terminator: a function that jumps to addresses of its blocks cannot be copied, so it is not analysed; the remark is at the function.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes=pollyrs -pass-remarks-missed=pollyrs -disable-output %t.ll 2>&1 | FileCheck %s

void computed_goto(int n, const unsigned char *code, int *A) {
  static const void *const to[] = {&&one, &&two, &&out};
  int i = 0;
next:
  if (i >= n)
    return;
  goto *to[code[i++]];
one:
  A[i] = 1;
  goto next;
two:
  A[i] = 2;
  goto next;
out:;
}

// CHECK: computed-goto.c:6:{{.*}} not offloaded: a computed goto
