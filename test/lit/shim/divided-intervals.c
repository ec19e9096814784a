// What happens in every so many steps of a time loop divides it: the steps between have a loop of their own, which is a SCoP. Not where a step has no loop, where
// something happens nearly always, or where what happens can be modelled with the rest.
//
// RUN: %clang -O1 -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: sed -i 's/ optnone//; s/ noinline / /' %t.ll
// RUN: %opt -passes="print<pollyrs-detect>" -disable-output %t.ll 2>&1 | FileCheck %s

int printf(const char *, ...);

// CHECK: scop reported{{.*}} at {{.*}}: {{[0-9]+}} statements, 2 arrays, 2 loops
// CHECK: scop reported{{.*}} at {{.*}}: {{[0-9]+}} statements, 2 arrays, 3 loops
void reported(int steps, int n, int every, double *restrict a, double *restrict b) {
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n - 1; i++)
      b[i] = a[i - 1] + a[i + 1];
    for (int i = 1; i < n - 1; i++)
      a[i] = b[i];
    if (t % every == 0)
      printf("%d\n", t);
  }
}

// CHECK-NOT: scop often{{.*}} 3 loops
void often(int steps, int n, double *restrict a, double *restrict b) {
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n - 1; i++)
      b[i] = a[i - 1] + a[i + 1];
    for (int i = 1; i < n - 1; i++)
      a[i] = b[i];
    if (t % 3 == 0)
      printf("%d\n", t);
  }
}
