// A parallel loop beside one whose iterations need earlier ones: the former is offloaded, the latter named.
// RUN: %clang -O2 -g -c %s -o /dev/null -Rpass=pollyrs -Rpass-missed=pollyrs 2>&1 | FileCheck %s

void both(int n, double *restrict a, double *restrict b, const double *restrict c) {
  // CHECK-DAG: [[#@LINE+1]]:3: remark: offloaded both{{.*}}: 1 loop, {{.*}}[PRS001]
  for (int i = 0; i < n; i++)
    b[i] = c[i] * c[i];
  // CHECK-DAG: [[#@LINE+1]]:3: remark: not offloaded: no loop can run in parallel: iterations need a of earlier ones [PRS117]
  for (int i = 1; i < n; i++)
    a[i] = a[i - 1] * 0.5 + c[i];
}
