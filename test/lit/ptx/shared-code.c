// Kernels that differ in what their arguments are called are one function under several descriptors.
//
// RUN: %clang -O0 -Xclang -disable-O0-optnone -emit-llvm -S %s -o %t.ll
// RUN: %opt -passes='print<pollyrs-ptx>' -disable-output %t.ll 2>&1 | FileCheck %s

// Three tiles in two shapes and three plain kernels:
// CHECK-COUNT-3: .visible .entry
// CHECK-NOT:     .visible .entry
void chain(int n, float A[n][n], float B[n][n], float C[n][n], float D[n][n], float E[n][n], float F[n][n], float G[n][n]) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      for (int k = 0; k < n; ++k)
        E[i][j] += A[i][k] * B[k][j];
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      for (int k = 0; k < n; ++k)
        F[i][j] += C[i][k] * D[k][j];
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      for (int k = 0; k < n; ++k)
        G[i][j] += E[i][k] * F[k][j];
}
