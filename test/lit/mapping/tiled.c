// Register tiles for so many loop nests of a file as the option says, in the order of the file; the rest get plain kernels.
//
// RUN: %clang -O1 -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-mapping;tiled=1>" -disable-output %t.ll 2>&1 | FileCheck %s

// Two shapes of the first, for large sizes; none of the second.
// CHECK-COUNT-2: tile {{.*}}>= 128
// CHECK:         tile {{.*}}<= 127
// CHECK-NOT:     tile {{.*}}128
void first(int n, float A[n][n], float B[n][n], float C[n][n]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++)
        C[i][j] += A[i][k] * B[k][j];
}

void second(int n, float A[n][n], float B[n][n], float C[n][n]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++)
        C[i][j] += A[i][k] * B[k][j];
}
