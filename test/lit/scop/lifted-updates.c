// What is counted behind branches on data is a sum of selected numbers, beside the stores that stay under their conditions.
//
// RUN: %clang -O1 -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes='print<pollyrs-scop>' -disable-output %t.ll 2>&1 | FileCheck %s

// CHECK-LABEL: scop bad
// CHECK: may-write
// CHECK: reduction of phi{{[a-z0-9_]+}} in any order
int bad(int n, const double *restrict a, double *restrict b) {
  int bad = 0;
  for (int i = 0; i < n; i++) {
    if (a[i] < 0) {
      bad++;
      continue;
    }
    b[i] = a[i] * 2;
  }
  return bad;
}

// CHECK-LABEL: scop kinds
// CHECK-COUNT-3: reduction of phi{{[a-z0-9_]+}} in any order
// CHECK-NOT: reduction
long kinds(int n, const double *restrict a, const int *restrict w, double *restrict b, int *restrict out) {
  int low = 0, high = 0;
  long weight = 1;
  for (int i = 0; i < n; i++) {
    double x = a[i];
    int v = w[i];
    if (x != x)
      continue;
    if (x < 0) {
      low++;
      b[i] = 0;
      continue;
    }
    if (x > 1) {
      high += v;
      weight *= 3;
    } else {
      b[i] = x;
      weight *= v;
    }
  }
  out[0] = low;
  out[1] = high;
  return weight;
}

// The value is looked at in between.
// CHECK-LABEL: scop positions
// CHECK-NOT: reduction
void positions(int n, const double *restrict a, int *restrict at) {
  int found = 0;
  for (int i = 0; i < n; i++) {
    if (a[i] > 0) {
      at[i] = found;
      found++;
    }
  }
}

// Two ways back to the head of one loop are no loop around another.
// CHECK-LABEL: scop again
// CHECK: domain {{.*}} S{{[0-9]+}}[i0] :
// CHECK: reduction of phi{{[a-z0-9_]+}} in any order
int again(int n, const double *restrict a, double *restrict b) {
  int i = 0, bad = 0;
  while (i < n) {
    int at = i++;
    if (a[at] < 0) {
      bad++;
      continue;
    }
    b[at] = a[at];
  }
  return bad;
}
