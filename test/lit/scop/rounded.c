// Subscripts that are rounded from numbers: what the host computes their ends from.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-scop>" -disable-output %t.ll 2>&1 | FileCheck %s

// What is loaded, an argument, and their product.
// CHECK-LABEL: scop lookup
// CHECK:         round a_rounded_number_min to a_rounded_number_max: Mul { fused: false }(known, {{.*}}x[i0] : 0 <= i0 < n })
// CHECK:         may-read {{.*}} -> t[o0] : {{.*}}a_rounded_number_min <= o0 <= a_rounded_number_max }
void lookup(int n, const float *x, const float *t, float *y, float scale) {
  for (int i = 0; i < n; i++)
    y[i] = t[(int)(x[i] * scale)];
}

// A branch bounds it; and so does a choice that is all that uses it.
// CHECK-LABEL: scop tested
// CHECK:         round {{.*}}: {{.*}}x[i0] : 0 <= i0 < n } if at least known if at most ({{.*}} -> { [(last)] {{.*}})
void tested(int n, const double *x, int last, const double *t, double *y) {
  for (int i = 0; i < n; i++)
    if (x[i] >= 0 && x[i] < last)
      y[i] = t[(int)x[i]];
}

// CHECK-LABEL: scop chosen
// CHECK:         round {{.*}} if at least known if at most known
void chosen(int n, const double *x, const double *t, double *y) {
  for (int i = 0; i < n; i++)
    y[i] = t[(int)(x[i] < 0 ? 0 : x[i] > 7 ? 7 : x[i])];
}

// Counters are numbers as well, and a product of a fused operation is not rounded.
// CHECK-LABEL: scop counted
// CHECK:         round {{.*}}: Add(Mul { fused: true }(({{.*}}[(0)]{{.*}} to {{.*}}[(-1 + n)]{{.*}}), known), known)
void counted(int n, float scale, float start, const float *t, float *y) {
  for (int i = 0; i < n; i++)
    y[i] = t[(int)(i * scale + start)];
}

// Numbers that the loop writes behind their load are those from before.
// CHECK-LABEL: scop moved
// CHECK:         round {{.*}}x[i0] : 0 <= i0 < n }
// CHECK:         must-write {{.*}}x[i0]
void moved(int n, double *restrict x, const double *restrict t) {
  for (int i = 0; i < n; i++)
    x[i] += t[(int)x[i]];
}

// Nothing is known of a number that an iteration before has stored, that is made in a loop, or that flags let be
// another one.
// CHECK-NOT: scop chased
void chased(int n, double *restrict x, const double *restrict t) {
  for (int i = 1; i < n; i++)
    x[i] += t[(int)x[i - 1]];
}

// CHECK-NOT: scop summed
void summed(int n, double step, const double *t, double *y) {
  double at = 0;
  for (int i = 0; i < n; i++) {
    y[i] = t[(int)at];
    at += step;
  }
}

// CHECK-NOT: scop regrouped
void regrouped(int n, const double *x, double a, double b, const double *t, double *y) {
#pragma clang fp reassociate(on)
  for (int i = 0; i < n; i++)
    y[i] = t[(int)(x[i] + a + b)];
}
