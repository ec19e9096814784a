// A pure function that the device does not have: the reason names it.
//
// RUN: %clang -O0 -Xclang -disable-O0-optnone -emit-llvm -S %s -o - \
// RUN:   | %opt -passes='print<pollyrs-kernel>' -pass-remarks-missed=pollyrs -disable-output 2>&1 | FileCheck %s

// CHECK: not offloaded: {{.*}}mystery
// CHECK-NOT: define void
__attribute__((const, nothrow)) double mystery(double);

void map(long n, double a[n]) {
  for (long i = 0; i < n; i++)
    a[i] = mystery(a[i]);
}
