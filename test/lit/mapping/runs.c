// The place of a maximum, whose order counts: runs of 64 iterations, runs of these and of those, each parallel, and what is left in one thread, whatever the type of the length.
//
// RUN: %clang -O1 -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes='print<pollyrs-mapping;only-function=largest>' -disable-output %t.ll 2>&1 | FileCheck %s
// RUN: %opt -passes='print<pollyrs-mapping;only-function=in_column>' -disable-output %t.ll 2>&1 | FileCheck %s

// CHECK:      kernel K1
// CHECK:      grid _b0 {{.*}}/2048))] }
// CHECK-NEXT: block _t0 size 32
// CHECK:      kernel K2
// CHECK:      grid _b0 {{.*}}/{{131072|262144}}))] }
// CHECK:      kernel K3
// CHECK:      grid _b0 {{.*}}/{{8388608|16777216}}))] }
// CHECK:      kernel K4
// CHECK:      count {{.*}}[(1)]
// CHECK-NEXT: block _t0 size 1

long largest(long n, const float *x) {
  long best = 0;
  for (long i = 1; i < n; i++)
    if (x[i] > x[best])
      best = i;
  return best;
}

int in_column(int n, int k, const double *a) {
  int best = k;
  for (int i = k + 1; i < n; i++)
    if (__builtin_fabs(a[i * n + k]) > __builtin_fabs(a[best * n + k]))
      best = i;
  return best;
}
