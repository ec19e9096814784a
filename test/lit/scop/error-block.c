// A failed check ends the program. That none fails is assumed: exactly where it is affine, else by the largest value of the index.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-scop>" -disable-output %t.ll 2>&1 | FileCheck %s
// RUN: %opt -passes=pollyrs -S %t.ll -o - | FileCheck %s --check-prefix=HOST

void fail(long) __attribute__((noreturn));

void f(long n, long length, double *A) {
  for (long i = 0; i < n; i++) {
    if (i + 1 >= length)
      fail(i);
    A[i] = A[i] + 1;
  }
}

void g(unsigned long n, unsigned long length, double *A) {
  for (unsigned long i = 0; i < n; i++)
    for (unsigned long j = 0; j < n; j++) {
      if (i * n + j >= length)
        fail(i);
      A[i * n + j] = 1;
    }
}

// The last index of a triangle, and of rows of which a factor is a difference.
void h(long n, long w, long length, double *A) {
  for (long i = 0; i < n; i++)
    for (long j = 0; j < i; j++) {
      if (!(i * (w - 2) + j < length && i * (w - 2) + j >= 0))
        fail(i);
      A[i * (w - 2) + j] = 1;
    }
}

// CHECK: scop f
// CHECK: assume error block not reached: [n, length] -> {  : length > n{{.*}} }
// CHECK: S0[i0] : 0 <= i0 < n
// CHECK: scop g
// CHECK: assume no wrap: {{.*}} n <= 2147483647 {{.*}} does not wrap)
// CHECK: assume error block not reached: {{.*}} n_n <= length }
// CHECK: must-write {{.*}} S0[i0, i1] -> A[i0, i1]

// CHECK: scop h
// CHECK: assume error block not reached: {{.*}} n_w < n + w + length }
// CHECK: assume no wrap: {{.*}} w >= 2 } (sizes are not negative)

// HOST: define {{.*}} @f(
// HOST: call void @fail(
// HOST-NEXT: unreachable
// HOST: define {{.*}} @g(
// HOST: call void @fail(
// HOST-NEXT: unreachable
// HOST-NOT: call void @pollyrs.check
