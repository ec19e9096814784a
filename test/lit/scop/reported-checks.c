// A check on what the loop computes is a statement of its own, which sets the fault cell where the check fails. What is behind a loop is none, though it ends the program.
// Nothing is certain then to be touched: memory is copied with care, and no result comes back before the end.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-scop>" -disable-output %t.ll 2>&1 | FileCheck %s
// RUN: %opt -passes="print<pollyrs-kernel>" -disable-output %t.ll 2>&1 | FileCheck %s --check-prefix=KERNEL
// RUN: %opt -passes=pollyrs -S %t.ll -o - | FileCheck %s --check-prefix=HOST

#include <stdlib.h>

void volumes(int n, const double *restrict v, double *restrict o) {
  for (int i = 0; i < n; i++) {
    double w = v[i] + 1;
    if (w <= 0)
      exit(-2);
    o[i] = 1 / w;
  }
}

// CHECK: scop volumes
// CHECK: (fault, leaves)
// CHECK: statement S0
// CHECK: read {{.*}} -> v[i0]
// CHECK-NOT: write
// CHECK: statement S1

// KERNEL: define void @volumes_K0(ptr {{.*}} %v, ptr {{.*}} %o, ptr {{.*}} %errno,
// KERNEL: fault:
// KERNEL-NEXT: getelementptr i8, ptr %errno, i64 2
// KERNEL-NEXT: store atomic i8 1,

// HOST: define {{.*}} @volumes(
// HOST: call void @exit(
// HOST-NEXT: unreachable

int main(void) {
  double *A = malloc(8000);
  for (int i = 0; i < 1000; i++)
    A[i] = i;
  exit(A[3] > 2);
}

// CHECK: scop main
// CHECK-NOT: fault
// CHECK: statement S0
