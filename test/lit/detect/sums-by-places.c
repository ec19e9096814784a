// Sums into elements that lists name have a version by places, beside the loop as it is; not where more than that is done, or the list is another one in each iteration of a loop around. Columns
// of rows between loaded bounds come outside.
//
// RUN: %clang -O1 -g -ffp-contract=off -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-detect>" -disable-output %t.ll 2>&1 | FileCheck %s
// RUN: %opt -passes="pollyrs-canonicalise" -S %t.ll -o - 2>&1 | FileCheck %s --check-prefix=CANONICAL

// What is only brought into form has the program's loops, and asks nobody.
// CANONICAL-NOT: call {{.*}}@pollyrs_rt_

// CHECK-DAG: scop added{{[.0-9]*}} at {{.*}}: {{[0-9]+}} statements, 4 arrays, 2 loops
// CHECK-DAG: scop added{{[.0-9]*}} at {{.*}}: {{[0-9]+}} statements, 3 arrays, 1 loops
void added(long n, const int *restrict place, const float *restrict v, float *restrict f) {
  for (long i = 0; i < n; i++)
    f[place[i]] += v[i];
}

// CHECK-DAG: scop two{{[.0-9]*}} at {{.*}}: {{[0-9]+}} statements, 8 arrays, 2 loops
void two(long n, const int *a, const int *b, const double *v, const double *u, double *f) {
  for (long i = 0; i < n; i++) {
    double d = v[i] * (u[a[i]] - u[b[i]]);
    f[a[i]] -= d;
    f[b[i]] += d;
  }
}

// CHECK-DAG: scop rows{{[.0-9]*}} at {{.*}}: {{[0-9]+}} statements, 4 arrays, 3 loops
void rows(int n, const int *place, const float (*v)[64], float (*f)[64]) {
  for (int i = 0; i < n; i++)
    for (int c = 0; c < 64; c++)
      f[place[i]][c] += v[i][c];
}

// CHECK-DAG: scop columns{{[.0-9]*}} at {{.*}}: {{[0-9]+}} statements, 5 arrays, 3 loops
void columns(int n, const int *start, const int *column, const float *v, const float (*x)[32], float (*y)[32]) {
  for (int i = 0; i < n; i++)
    for (int k = start[i]; k < start[i + 1]; k++)
      for (int c = 0; c < 32; c++)
        y[i][c] += v[k] * x[column[k]][c];
}

// CHECK-NOT: scop read_again{{.*}} 2 loops
void read_again(long n, const int *place, const int *from, float *f) {
  for (long i = 0; i < n; i++)
    f[place[i]] += f[from[i]];
}

// CHECK-NOT: scop other_lists{{.*}} 3 loops
void other_lists(int n, int m, const int *place, const float *v, float *f) {
  for (int t = 0; t < m; t++)
    for (int i = 0; i < n; i++)
      f[place[t * n + i]] += v[i];
}

// CHECK-NOT: scop stored{{.*}} 2 loops
void stored(long n, const int *place, const float *v, float *f, float *seen) {
  for (long i = 0; i < n; i++) {
    f[place[i]] += v[i];
    seen[i] = v[i];
  }
}

// CHECK-DAG: scop components{{[.0-9]*}} at {{.*}}: {{[0-9]+}} statements, {{[0-9]+}} arrays, 2 loops
void components(int n, int m, const int *place, const float *v, float *f) {
  for (int i = 0; i < n; i++) {
    f[place[i] * m] += v[i];
    f[place[i] * m + 1] += v[i] * 2;
  }
}

// CHECK-DAG: scop chosen{{[.0-9]*}} at {{.*}}: {{[0-9]+}} statements, {{[0-9]+}} arrays, 2 loops
void chosen(int n, const int *place, const float *v, float *f) {
  for (int i = 0; i < n; i++)
    if (v[i] > 0)
      f[place[i]] += v[i];
}

// CHECK-DAG: scop vectors{{[.0-9]*}} at {{.*}}: {{[0-9]+}} statements, {{[0-9]+}} arrays, 2 loops
void vectors(int n, const int *a, const int *b, const float *v, float (*f)[2]) {
  for (int i = 0; i < n; i++) {
    f[a[i]][0] += v[i], f[a[i]][1] += v[i];
    f[b[i]][0] -= v[i], f[b[i]][1] -= v[i];
  }
}

// What is added at the second list's place is made of what the first one's had.
// CHECK-NOT: scop moved{{.*}} 2 loops
void moved(int n, const int *a, const int *b, const float *v, float *f) {
  for (int i = 0; i < n; i++) {
    float part = f[a[i]] * v[i];
    f[a[i]] -= part;
    f[b[i]] += part;
  }
}

// Elements of one update are not apart by a number.
// CHECK-NOT: scop unknown{{.*}} 2 loops
void unknown(int n, int m, int k, const int *place, const float *v, float *f) {
  for (int i = 0; i < n; i++) {
    f[place[i] * m] += v[i];
    f[place[i] * m + k] += v[i];
  }
}

// Sums of integers are atomic operations.
// CHECK-NOT: scop integers{{.*}} 2 loops
void integers(int n, const int *place, const int *v, int *f) {
  for (int i = 0; i < n; i++)
    if (v[i] > 3)
      f[place[i]] += v[i];
}

// Checks that end the program are tested before the version, at both ends of what they compare.
// CHECK-DAG: scop checked{{[.0-9]*}} at {{.*}}: {{[0-9]+}} statements, {{[0-9]+}} arrays, 2 loops
void checked(long n, long m, long length, const unsigned *place, const float *v, float *f) {
  for (long i = 0; i < n; i++) {
    if (place[i] >= m || i >= length)
      __builtin_abort();
    f[place[i]] += v[i];
  }
}

// A check of what else is loaded is none of these.
// CHECK-NOT: scop checked_value{{.*}} 2 loops
void checked_value(long n, const unsigned *place, const float *v, float *f) {
  for (long i = 0; i < n; i++) {
    if (v[i] != v[i])
      __builtin_abort();
    f[place[i]] += v[i];
  }
}
