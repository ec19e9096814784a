// The bodies of OpenMP's parallel loops, which clang makes functions for the threads' shares, are SCoPs as others are; and threads call functions with SCoPs.
// What OpenMP adds up in a copy of each thread keeps its order.
//
// RUN: %clang -O3 -fopenmp -S -emit-llvm -fpass-plugin=%plugin -mllvm -pollyrs-targets=emulated -Rpass=pollyrs -Rpass-missed=pollyrs %s -o %t.ll 2>&1 | FileCheck %s
// RUN: FileCheck %s --check-prefix=IR < %t.ll

// CHECK-DAG: remark: offloaded step: 2 loops
// CHECK-DAG: remark: offloaded share.omp_outlined: 2 loops
// CHECK-DAG: openmp.c:[[#@LINE+24]]:{{.*}}: remark: not offloaded: no loop can run in parallel: {{.*}} is a sum of floating-point numbers
// IR-DAG: define internal void @share.omp_outlined
// IR-DAG: call {{.*}}@pollyrs_rt_
__attribute__((noinline)) static void step(int n, double *restrict a, const double *restrict b) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      a[i * n + j] = b[i * n + j] * 0.5 + (i ? b[(i - 1) * n + j] : 0);
}

void threads(int n, double **a, double **b) {
#pragma omp parallel for
  for (int k = 0; k < 8; k++)
    step(n, a[k], b[k]);
}

void share(int n, double *a, double *b) {
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      a[i * n + j] += b[i * n + j] * 2;
}

double total(int n, double *a) {
  double s = 0;
#pragma omp parallel for reduction(+ : s)
  for (int i = 0; i < n; i++)
    s += a[i];
  return s;
}
