// The branch that guards a nest is the end of a block with calls, which no region may hold: the region begins behind the last of them, with
// the branch, so that it holds both nests. Arithmetic right behind the call stays outside, what is stored behind it does not.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-scop>" -disable-output %t.ll 2>&1 | FileCheck %s
// RUN: %opt -passes="pollyrs-canonicalise" -S %t.ll | FileCheck %s --check-prefix=IR

double exp(double);
void note(double);

// CHECK: scop called at
// CHECK: statement S1
// CHECK: must-write [n, m] -> { S1[i0, i1] -> B[i0, i1] }
// CHECK-NOT: scop called.2
// IR-LABEL: define {{.*}}@called(
// IR: call double @exp
// IR-NEXT: fmul
// IR: br label %[[GUARD:[a-z.]+guard]]
// IR: [[GUARD]]:
// IR: br i1
void called(int n, int m, double alpha, double A[n][m], double B[n][m]) {
  double k = 3 * exp(alpha);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      A[i][j] *= k;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      B[i][j] = A[n - 1 - i][j];
}

// The store is before the call, then behind it.
// CHECK: scop stored at
// CHECK: statement S0
// CHECK-NEXT: domain [n] -> { S0[] }
// CHECK: S0[] -> A[0]
// CHECK: statement S1
// CHECK: statement S2
// CHECK-NOT: statement S3
void stored(int n, double *A, double *B) {
  B[0] = 1;
  note(2);
  A[0] = 3;
  for (int i = 1; i < n; i++)
    A[i] = i;
  for (int i = 1; i < n; i++)
    B[i] = A[n - i];
}

// In a loop that stays, and behind a volatile access.
// CHECK: scop inside at
// CHECK: statement S0
// CHECK: statement S1
// CHECK-NOT: scop inside.2
void inside(int n, int steps, volatile int *flag, double *A, double *B) {
  for (int t = 0; t < steps; t++) {
    int v = *flag;
    for (int i = 0; i < n; i++)
      A[i] += v;
    for (int i = 0; i < n; i++)
      B[i] = A[n - 1 - i];
  }
}
