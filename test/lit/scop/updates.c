// Updates of elements that data chooses may be made in any order, if nothing else is done to the array; what looks at the element, adds floating-point numbers in the program's
// order or is too narrow for it needs numbers that are all different, or goes place by place, as operations of several kinds do; another store in between is refused.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-scop>" -disable-output %t.ll 2>&1 | FileCheck %s
// RUN: %opt -passes="print<pollyrs-detect>" -disable-output %t.ll 2>&1 | FileCheck %s --check-prefix=REFUSED
// RUN: %opt -passes="print<pollyrs-deps>" -disable-output %t.ll 2>&1 | FileCheck %s --check-prefix=DEPS

// CHECK-LABEL: scop histogram
// CHECK: may-read [n] -> { S0[i0] -> h[o0] : 0 <= i0 < n and 0 <= o0 <= 255 }
// CHECK: may-write [n] -> { S0[i0] -> h[o0] : 0 <= i0 < n and 0 <= o0 <= 255 }
// CHECK: update of h in any order: Add
// DEPS: flow
// DEPS-NEXT: anti
// DEPS-NEXT: output
// DEPS-NEXT: no source
// DEPS-NEXT: [n] -> { S0[i0] -> h[o0]
void histogram(int n, int *restrict h, const unsigned char *restrict p) {
  for (int i = 0; i < n; i++)
    h[p[i]]++;
}

// CHECK-LABEL: scop nearest
// CHECK: update of h in any order: UMin
void nearest(int n, unsigned *restrict h, const int *restrict p, const unsigned *restrict v) {
  for (int i = 0; i < n; i++)
    if (v[i] < h[p[i]])
      h[p[i]] = v[i];
}

// CHECK-LABEL: scop regrouped
// CHECK: update of f in any order: FAdd
#pragma clang fp reassociate(on)
void regrouped(int n, double *restrict f, const int *restrict p, const double *restrict v) {
  for (int i = 0; i < n; i++)
    f[p[i]] -= v[i];
}
#pragma clang fp reassociate(off)

// In the program's order there is one addition an element at most.
// CHECK-LABEL: scop ordered
// CHECK: inspect p_min to p_max, all different:
// CHECK-NOT: update
void ordered(int n, double *restrict f, const int *restrict p, const double *restrict v) {
  for (int i = 0; i < n; i++)
    f[p[i]] += v[i];
}

// CHECK-LABEL: scop watched
// CHECK: inspect p_min to p_max, all different:
// CHECK-NOT: update
void watched(int n, int *restrict h, const int *restrict p, int *restrict seen) {
  for (int i = 0; i < n; i++)
    seen[i] = h[p[i]]++;
}

// CHECK-LABEL: scop narrow
// CHECK: inspect p_min to p_max, all different:
// CHECK-NOT: update
void narrow(int n, unsigned char *restrict h, const int *restrict p) {
  for (int i = 0; i < n; i++)
    h[p[i]]++;
}

// CHECK-NOT: scop
// REFUSED: rejected OrderedSum at {{.*}}: no loop can run in parallel: f is a sum of floating-point numbers
void ends(int n, double *restrict f, const int *restrict a, const long *restrict b, const double *restrict v) {
  for (int i = 0; i < n; i++) {
    f[a[i]] += v[i];
    f[b[i]] -= v[i];
  }
}

// REFUSED: rejected Subscript at {{.*}}: a subscript of h is not affine
void lost(int n, int *restrict h, const int *restrict a, const int *restrict b) {
  for (int i = 0; i < n; i++) {
    int t = h[a[i]];
    h[b[i]]++;
    h[a[i]] = t + 1;
  }
}

// Operations of two kinds keep their order, place by place; those of one kind do not need to.
// CHECK-LABEL: scop mixed
// CHECK: param pollyrs_groups
// CHECK-NOT: update
void mixed(int n, int *restrict h, const int *restrict p, const int *restrict q) {
  for (int i = 0; i < n; i++) {
    h[p[i]] += 1;
    h[q[i]] ^= 5;
  }
}

// CHECK-LABEL: scop both
// CHECK-NOT: pollyrs_groups
// CHECK: update of h in any order: Add
void both(int n, int *restrict h, const int *restrict p, const int *restrict q) {
  for (int i = 0; i < n; i++) {
    h[p[i]] += 1;
    h[q[i]] += i;
  }
}

// CHECK-LABEL: scop divided
// CHECK: param pollyrs_groups
void divided(int n, int *restrict h, const int *restrict p, const int *restrict v) {
  for (int i = 0; i < n; i++)
    h[p[i]] = h[p[i]] / v[i] + 1;
}

// CHECK-LABEL: scop cases
// CHECK: param pollyrs_groups
void cases(int n, float *restrict f, const int *restrict p, const int *restrict kind) {
  for (int i = 0; i < n; i++)
    switch (kind[i]) {
    case 0:
      f[p[i]] += 1;
      break;
    case 1:
      f[p[i]] *= 2;
      break;
    case 5:
      f[p[i]] -= 3;
      break;
    default:
      break;
    }
}
