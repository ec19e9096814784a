// Integers that choose elements are inspected before a launch. In an array of structures that the loop writes as well, in another member, they are not: a reason, not
// an internal error.
//
// RUN: %clang -O1 -Xclang -disable-llvm-passes -g -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-detect>" -disable-output %t.ll 2>&1 | FileCheck %s --implicit-check-not=Internal

struct code {
  unsigned short value, length;
};

// CHECK: rejected Subscript at {{.*}}: a subscript of another array is not affine: it depends on elements of tree, which the loop writes as well
void codes(struct code *restrict tree, int n, unsigned short *restrict next) {
  for (int i = 0; i <= n; i++) {
    int length = tree[i].length;
    if (length == 0)
      continue;
    tree[i].value = next[length]++;
  }
}
