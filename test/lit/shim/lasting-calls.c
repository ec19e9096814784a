// Into a loop that keeps a call whatever is inlined, nothing is inlined but what its own functions offload by themselves. What a caller's
// constants remove, what ends the program, and pointers to functions that are known do not keep a loop from that.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes='print<pollyrs-detect>' -disable-output %t.ll 2>&1 | FileCheck %s
#include <stdlib.h>

void emit(double);
int more(void);
struct list {
  struct list *next;
  double *values;
};

// CHECK: scop reports at
static void reports(double *a, int n) {
  for (int i = 0; i < n; i++)
    a[i] *= 2;
  emit(a[0]);
}

static void often(double *a, int n) { reports(a, n); }

// CHECK-NOT: scop always at
// CHECK: rejected Call at {{.*}}: the call of reports, which calls emit, may have side effects
void always(int n, double *a) {
  while (a[0] < n)
    reports(a, n);
}

// CHECK-NOT: scop deep at
// CHECK: rejected Call at {{.*}}: the call of often, which calls emit, may have side effects
void deep(int n, double *a) {
  while (a[0] < n)
    often(a, n);
}

// CHECK: scop scale at
static void scale(double *a, int n) {
  for (int i = 0; i < n; i++)
    a[i] *= 3;
}

// CHECK-NOT: scop links at
// CHECK: rejected Call at {{.*}}: the call of scale for each record of a list may have side effects
void links(struct list *l, int n) {
  for (; l; l = l->next)
    scale(l->values, n);
}

// CHECK: scop quiet at
static void quiet(double *a, int n, int verbose) {
  if (verbose)
    emit(a[0]);
  for (int i = 0; i < n; i++)
    a[i] *= 4;
}

// CHECK: scop constant at
void constant(int n, double *a) {
  for (int t = 0; t < n; t++)
    quiet(a, n, 0);
}

// CHECK-NOT: scop data at
// CHECK: rejected Call at {{.*}}: the call of quiet, which calls emit, may have side effects
void data(int n, int *m, double *a) {
  for (int t = 0; t < n; t++)
    quiet(a, n, m[t]);
}

// CHECK: scop counter{{.*}} at
void counter(int n, double *a) {
  for (int t = 0; t < n; t++) {
    scale(a, n);
    if (t % 10 == 0)
      emit(a[0]);
  }
}

static double at(const double *a, int n, int i) {
  if (i >= n) {
    emit(i);
    abort();
  }
  return a[i];
}

// CHECK: scop checked at
void checked(int n, double *restrict a, const double *restrict b) {
  for (int i = 0; i < n; i++)
    a[i] = at(b, n, i);
}

static double apply(double (*f)(double), double x) { return f(x); }
static double square(double x) { return x * x; }

// CHECK: scop known at
void known(int n, double *restrict a, const double *restrict b) {
  for (int i = 0; i < n; i++)
    a[i] = apply(square, b[i]);
}

// CHECK-NOT: scop unknown at
void unknown(int n, double *restrict a, const double *restrict b, double (*f)(double)) {
  for (int i = 0; i < n; i++)
    a[i] = apply(f, b[i]);
}
