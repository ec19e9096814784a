// Code that LLVM and ptxas would take too long for: fused time steps give way to plain kernels, and a loop that is too long without stays.
//
// RUN: %clang -O1 -fno-math-errno -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes=pollyrs -pollyrs-targets=cuda -pollyrs-cubin=off -pass-remarks=pollyrs -pass-remarks-missed=pollyrs -pass-remarks-analysis=pollyrs -disable-output %t.ll 2>&1 | FileCheck %s

double pow(double, double), sin(double);

#define F(x, e) pow(x, e) * sin(x)

// CHECK-DAG: offloaded stencil
// CHECK-DAG: steps are not fused: kernels of {{[0-9]+}} instructions are too long
void stencil(int n, int t, double A[n][n], double B[n][n]) {
  for (int s = 0; s < t; s++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        B[i][j] = F(A[i][j], 1.1) + F(A[i - 1][j], 1.2) + F(A[i + 1][j], 1.3) + F(A[i][j - 1], 1.4) + F(A[i][j + 1], 1.5);
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        A[i][j] = F(B[i][j], 1.1) + F(B[i - 1][j], 1.2) + F(B[i + 1][j], 1.3) + F(B[i][j - 1], 1.4) + F(B[i][j + 1], 1.5);
  }
}

#define FOUR(x) x x x x

// CHECK-DAG: {{.*}}budget of code generation is spent
void long_body(int n, double A[n], double B[n]) {
  for (int i = 0; i < n; i++) {
    double s = A[i];
    FOUR(FOUR(FOUR(FOUR(s += pow(s, B[i]);))))
    A[i] = s;
  }
}
