// Behind a check of sizes the first loop runs in any case, and scalar evolution would see the count as a value in its last iteration: as a number of its own it bounds the second nest.
//
// RUN: %clang -O1 -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-scop>" -disable-output %t.ll 2>&1 | FileCheck %s

void count(int n, const int *restrict x, int *restrict y) {
  if (n < 2)
    return;
  int k = 0;
  for (int i = 0; i < n; i++)
    k += x[i] > 3;
  for (int i = 0; i < k; i++)
    y[i] += k;
}

// CHECK-LABEL: scop count.1
// CHECK:       scalar, live out
// CHECK-LABEL: scop count.2
// CHECK-NOT:   the_result_of_icmp
// CHECK:       domain {{.*}} S0[i0] : 0 <= i0 < {{[a-z_]+}} }
