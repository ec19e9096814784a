// Integers in memory that subscripts are made of: parameters that an inspection finds, one for all loads of an array but for members of structures; what depends on
// other inspected values is looked at later. What the loop itself writes is not inspected.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-scop>" -disable-output %t.ll 2>&1 | FileCheck %s
// RUN: %opt -passes="print<pollyrs-detect>" -disable-output %t.ll 2>&1 | FileCheck %s --check-prefix=REFUSED

// CHECK-LABEL: scop nested
// CHECK: inspect b_min to b_max: [{{.*}}] -> { b[i0] : 0 <= i0 < n }
// CHECK: inspect a_min to a_max: [{{.*}}] -> { a[i0] : n > 0 and b_min <= i0 <= b_max }
// CHECK: may-read [{{.*}}] -> { S0[i0] -> x[o0] : 0 <= i0 < n and a_min <= o0 <= a_max }
void nested(int n, const int *restrict a, const int *restrict b, const double *restrict x, double *restrict y) {
  for (int i = 0; i < n; i++)
    y[i] = x[a[b[i]]];
}

// CHECK-LABEL: scop pairs
// CHECK: inspect edge_min to edge_max: [{{.*}}] -> { edge[i0, i1] : 0 <= i0 < n and 0 <= i1 <= 1 }
// CHECK-NOT: inspect
// CHECK: statement S0
void pairs(int n, const long *restrict edge, const double *restrict x, double *restrict y) {
  for (int i = 0; i < n; i++)
    y[i] = x[edge[2 * i]] - x[edge[2 * i + 1]];
}

// CHECK-LABEL: scop members
// CHECK: inspect p_min to p_max:
// CHECK: inspect p_min_2 to p_max_2:
struct Pair { int left, right; };
void members(int n, const struct Pair *restrict p, const double *restrict x, double *restrict y) {
  for (int i = 0; i < n; i++)
    y[i] = x[p[i].left] - x[p[i].right];
}

// The numbers are read as unsigned: none may be negative.
// CHECK-LABEL: scop natural
// CHECK: assume not negative: [n, at_min, at_max] -> {  : at_min >= 0 } (at is not negative)
void natural(int n, const unsigned *restrict at, const double *restrict x, double *restrict y) {
  for (int i = 0; i < n; i++)
    y[i] = x[at[i]];
}

// REFUSED: rejected Subscript at {{.*}}: a subscript of an array is not affine: it depends on list, which the loop itself changes
void chain(int n, int *restrict list, const int *restrict x, int *restrict y) {
  for (int i = 0; i < n; i++) {
    y[i] = x[list[i]];
    list[i + 1] = i;
  }
}
