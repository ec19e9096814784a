// Elements that are counted in memory: the count is a value in the loop and affine, so that the subscript is; what is left behind is computed there.
// Not where an element might be the count.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-scop>" -disable-output %t.ll 2>&1 | FileCheck %s

struct list {
  double *data;
  long count;
};

// CHECK-LABEL: scop append
// CHECK-NOT: live out
// CHECK: domain {{.*}} -> { S0[i0] : 0 <= i0 < n }
// CHECK-NEXT: read {{.*}} -> { S0[i0] -> x[i0] }
// CHECK-NEXT: must-write {{.*}} -> { S0[i0] -> {{.*}}[{{.*}} + i0] }
void append(struct list *l, int n, const double *x) {
  for (int i = 0; i < n; i++)
    l->data[l->count++] = 2 * x[i];
}

struct numbers {
  long *data;
  long count;
};

// CHECK-NOT: scop append_numbers
void append_numbers(struct numbers *l, int n) {
  for (int i = 0; i < n; i++)
    l->data[l->count++] = i;
}
