// NoParallelism: each iteration needs the one before.
//
// RUN: %clang -O3 -c %s -o /dev/null -Rpass=pollyrs -Rpass-missed=pollyrs 2>&1 | FileCheck %s
// RUN: %clang -O3 -c %s -o /dev/null -fsave-optimization-record -foptimization-record-file=%t.yaml
// RUN: FileCheck --check-prefix=YAML %s < %t.yaml

void prefix(int n, float *A) {
  // CHECK: no-parallelism.c:[[# @LINE + 1]]:3: remark: not offloaded: no loop can run in parallel: iterations need argument 1 of earlier ones [PRS117] [-Rpass-missed=pollyrs]
  for (int i = 1; i < n; i++)
    A[i] += 0.5f * A[i - 1];
}

// YAML: Pass:            pollyrs
// YAML-NEXT: Name:            NoParallelism
