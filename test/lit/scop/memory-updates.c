// A place that is set before a loop and updated in it under a condition is a value there, stored behind the loop. Not if nothing surely stores to
// it before, if what is between might tell another thread, or if the loop may read it otherwise.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-scop>" -disable-output %t.ll 2>&1 | FileCheck %s

// CHECK-LABEL: scop count
// CHECK: reduction of {{.*}} in any order
void count(int n, const double *a, long *c) {
  *c = 0;
  for (int i = 0; i < n; i++)
    if (a[i] > 0.1)
      ++*c;
}

// CHECK-LABEL: scop least
// CHECK: reduction of
struct range {
  int n;
  double low;
};
void least(int n, const float *a, struct range *r) {
  r->low = 1e30;
  for (int i = 0; i < n; i++)
    if (a[i] < r->low)
      r->low = a[i];
}

// CHECK-LABEL: scop not_set
// CHECK-NOT: reduction
void not_set(int n, const double *a, long *c) {
  for (int i = 0; i < n; i++)
    if (a[i] > 0.1)
      ++*c;
}

// CHECK-LABEL: scop told
// CHECK-NOT: reduction
void tell(long *c);
void told(int n, const double *a, long *c) {
  *c = 0;
  tell(c);
  for (int i = 0; i < n; i++)
    if (a[i] > 0.1)
      ++*c;
}

// CHECK-LABEL: scop read
// CHECK-NOT: reduction
void read(int n, const long *a, long *c) {
  *c = 0;
  for (int i = 0; i < n; i++)
    if (a[i] > 1)
      ++*c;
}
