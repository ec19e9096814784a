// What was looked at, modelled, made and refused in a file, by option, as LLVM's -stats.
// RUN: %clang -O3 -fpass-plugin=%plugin -mllvm -pollyrs-stats -mllvm -pollyrs-cubin=off -c %s -o %t.o 2>&1 | FileCheck %s
// RUN: %clang -O3 -fpass-plugin=%plugin -mllvm -pollyrs-stats -mllvm -pollyrs-log=info -mllvm -pollyrs-cubin=off -c %s -o %t.o 2>&1 | FileCheck --check-prefix=LOG %s
// RUN: %clang -O3 -fpass-plugin=%plugin -c %s -o %t.o 2>&1 | count 0

// CHECK: pollyrs: statistics for
// CHECK-NEXT: {{^ +}}3 functions looked at
// CHECK-NEXT: {{^ +}}2 loop nests offloaded
// CHECK-NEXT: {{^ +}}5 loops in them
// CHECK-NEXT: {{^ +}}3 statements in them
// CHECK-NEXT: {{^ +}}{{[0-9]+}} accesses in them
// CHECK-NEXT: {{^ +}}5 arrays in memory
// CHECK-NEXT: {{^ +}}{{[0-9]+}} kernels
// CHECK-NOT: machine codes
// CHECK: PTX texts
// CHECK-NEXT: {{^ +}}1 refusals PRS117 (NoParallelism)
// CHECK-NOT: {{.}}

// Events of the table are none of the log.
// LOG-NOT: which=
// LOG: statistics for

void product(long n, double c[restrict n][n], double a[n][n], double b[n][n]) {
  for (long i = 0; i < n; ++i)
    for (long j = 0; j < n; ++j) {
      c[i][j] = 0;
      for (long k = 0; k < n; ++k)
        c[i][j] += a[i][k] * b[k][j];
    }
}

void scale(long n, double *restrict a, const double *b) {
  for (long i = 0; i < n; ++i)
    for (long j = 0; j < n; ++j)
      a[i * n + j] = 2 * b[i * n + j];
}

void choose(long n, double *a, const long *at) {
  for (long i = 1; i < n; ++i)
    a[at[i]] = a[at[i - 1]] * 2;
}
