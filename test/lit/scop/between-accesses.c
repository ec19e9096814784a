// A member of a structure between two others that were accessed before the loop can be read there, too: so is one under a condition that changes in the loop,
// in a nest of two loops as well. One behind all that was accessed is read where it lies on the same page as one of those, else by the
// run-time library.
//
// RUN: %clang -O1 -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes='print<pollyrs-detect>' -disable-output %t.ll 2>&1 | FileCheck %s

typedef struct {
  int n;
  double *x, *f, *last;
} points;

// CHECK-DAG: scop between at {{.*}}: {{[0-9]+}} statements, 2 arrays, 2 loops
void between(points *s, double cut) {
  for (int i = 0; i < s->n; i++) {
    double sum = 0;
    for (int j = 0; j < s->n; j++) {
      if (j == i)
        continue;
      double d = s->x[i] - s->x[j];
      if (d * d > cut)
        continue;
      sum += d;
    }
    s->f[i] = sum;
  }
}

// CHECK-DAG: scop behind at {{.*}}: {{[0-9]+}} statements, 2 arrays, 2 loops
void behind(points *s, double cut) {
  for (int i = 0; i < s->n; i++) {
    double sum = 0;
    for (int j = 0; j < s->n; j++) {
      if (j == i)
        continue;
      double d = s->last[i] - s->last[j];
      if (d * d > cut)
        continue;
      sum += d;
    }
    s->f[i] = sum;
  }
}
