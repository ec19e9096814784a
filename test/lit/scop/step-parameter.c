// A step that is an argument: how often it is taken is a parameter of its own, under the condition that it is positive.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-scop>" -disable-output %t.ll 2>&1 | FileCheck %s

void blocks(long n, long m, long step, double *a) {
  for (long i = 0; i < n; i += step)
    for (long j = 0; j < m; j++)
      a[i * m + j] *= 0.5;
}

// CHECK-LABEL: scop blocks
// CHECK:       param [[COUNT:[a-z0-9_]+step]] i64
// CHECK:       assume no wrap: {{.*}}step > 0 and 0 <= [[COUNT]] < n{{.*}}(step is positive and its multiples do not overflow)
// CHECK:       domain {{.*}} { S0[i0, i1] : 0 <= i0 <= [[COUNT]] and 0 <= i1 < m }
// CHECK:       must-write {{.*}} -> { S0[i0, i1] -> a[i0, 0, i1] }
