// Divisions and functions are inlined in each point of a register tile: few of them are, in fewer points, and of many there is no tile.
//
// RUN: %clang -O1 -fno-math-errno -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-mapping>" -disable-output %t.ll 2>&1 | FileCheck %s

float expf(float);

// Two shapes, one of 64 points, and none.
// CHECK-COUNT-2: tile {{.*}}>= 128
// CHECK:         tile {{.*}}<= 127
void product(int n, float A[n][n], float B[n][n], float C[n][n]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++)
        C[i][j] += A[i][k] * B[k][j];
}

// CHECK:         tile {{.*}}>= 128{{.*}} -63 + i0
// CHECK-NOT:     tile {{.*}}>= 128
// CHECK:         tile {{.*}}<= 127
void quotient(int n, float A[n][n], float B[n][n], float C[n][n]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++)
        C[i][j] += A[i][k] / B[k][j];
}

// CHECK-NOT:     tile {{.*}}12{{[78]}}
void function(int n, float A[n][n], float B[n][n], float C[n][n]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++)
        C[i][j] += expf(A[i][k] - B[k][j]);
}

// CHECK-NOT:     tile {{.*}}12{{[78]}}
void remainder_of(int n, int A[n][n], int B[n][n], int C[n][n]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++)
        C[i][j] += A[i][k] % B[k][j];
}
