// Two objects that are passed by reference and exchange their pointers: in the version of the loop for two that don't overlap, time steps are part
// of the SCoP; the other version stays on the host.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-scop>" -disable-output %t.ll 2>&1 | FileCheck %s

struct field {
  double *begin, *end;
};

static inline void exchange(field &a, field &b) {
  double *begin = a.begin, *end = a.end;
  a.begin = b.begin;
  a.end = b.end;
  b.begin = begin;
  b.end = end;
}

// CHECK: scop {{.*}}smooth
// CHECK: statement S0
// CHECK-NEXT: domain {{.*}} -> { S0[i0, i1] :
// CHECK: statement S1
// CHECK-NEXT: domain {{.*}} -> { S1[i0, i1] :
// CHECK-NOT: scop
void smooth(long n, long steps, field &u, field &v) {
  for (long t = 0; t < steps; ++t) {
    for (long i = 1; i < n - 1; ++i)
      v.begin[i] = 0.5 * (u.begin[i - 1] + u.begin[i + 1]);
    exchange(u, v);
  }
}
