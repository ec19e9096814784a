// Which of the pairs that are compared may also be one array: those where no read comes behind a store to the element.
//
// RUN: %clang -O1 -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes='print<pollyrs-scop>' -disable-output %t.ll 2>&1 | FileCheck %s

// CHECK-LABEL: scop scaled
// CHECK: check disjoint argument_2 argument_1 or one
void scaled(int n, double *out, const double *in) {
  for (int i = 0; i < n; i++)
    out[i] = in[i] * 2;
}

// CHECK-LABEL: scop ahead
// CHECK: check disjoint argument_2 argument_1 or one
void ahead(int n, double *out, const double *in) {
  for (int i = 0; i < n; i++)
    out[i] = in[i] * in[i + 1];
}

// CHECK-LABEL: scop behind
// CHECK: check disjoint argument_2 argument_1{{$}}
void behind(int n, double *out, const double *in) {
  for (int i = 1; i < n; i++)
    out[i] = in[i] * in[i - 1];
}

// One load for two stores, and a load behind a store.
// CHECK-LABEL: scop one_load
// CHECK: check disjoint argument_3 argument_1 or one
// CHECK: check disjoint argument_3 argument_2 or one
void one_load(int n, double *out, double *other, const double *in) {
  for (int i = 0; i < n; i++) {
    double x = in[i];
    out[i] = x * 2;
    other[i] = x * 3;
  }
}

// CHECK-LABEL: scop two_loads
// CHECK: check disjoint argument_3 argument_1{{$}}
// CHECK: check disjoint argument_3 argument_2 or one
void two_loads(int n, double *out, double *other, const double *in) {
  for (int i = 0; i < n; i++) {
    out[i] = in[i] * 2;
    other[i] = in[i] * 3;
  }
}

// CHECK-LABEL: scop steps
// CHECK: check disjoint argument_2 argument_1{{$}}
void steps(int n, double *out, const double *in) {
  for (int t = 0; t < 2; t++)
    for (int i = 0; i < n; i++)
      out[i] = in[i] * 2;
}

// A load behind a branch, ahead of its store.
// CHECK-LABEL: scop conditional
// CHECK: check disjoint argument_2 argument_1 or one
void conditional(int n, double *out, const double *in) {
  for (int i = 0; i < n; i++)
    if (in[i] > 0)
      out[i] = 1 / in[i];
}

// Both are written; of other element sizes.
// CHECK-LABEL: scop both
// CHECK: check disjoint argument_2 argument_1{{$}}
void both(int n, int *out, int *in) {
  for (int i = 0; i < n; i++) {
    out[i] = in[i] * 2;
    in[i] = 1;
  }
}
// CHECK-LABEL: scop wider
// CHECK: check disjoint argument_2 argument_1{{$}}
void wider(int n, unsigned *out, const unsigned char *in) {
  for (int i = 0; i < n; i++)
    out[i] = in[i];
}
