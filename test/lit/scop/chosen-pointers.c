// A pointer to what a loop has chosen so far is an index: of elements equally far apart, forwards or backwards,
// with the value kept beside it. Not where what is chosen may be of another array.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-scop>" -disable-output %t.ll 2>&1 | FileCheck %s

// CHECK-LABEL: scop least
// CHECK: reduction of {{.*}}, {{.*}} in order
const double *least(const double *x, const double *end) {
  const double *best = x;
  for (; x != end; ++x)
    if (*x < *best)
      best = x;
  return best;
}

// CHECK-LABEL: scop greatest
// CHECK: reduction of {{.*}}, {{.*}} in order
const int *greatest(const int *x, long n) {
  const int *best = x + n;
  for (const int *p = best; p-- != x;)
    if (*p > *best)
      best = p;
  return best;
}

// CHECK-NOT: scop other
const double *other(const double *x, const double *y, long n) {
  const double *best = y;
  for (long i = 0; i < n; ++i)
    if (x[i] < *best)
      best = x + i;
  return best;
}
