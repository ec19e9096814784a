// Subscripts from a constant table are numbers once the loop over the table is unrolled; a table that the program may change stays one, and so does
// one that is long: their numbers are inspected.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-scop>" -disable-output %t.ll 2>&1 | FileCheck %s

static const int dx[4] = {1, -1, 0, 0}, dy[4] = {0, 0, 1, -1};
int sx[4], sy[4];
static const int far[40] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 0};

// CHECK: scop constant at
// CHECK: statement S0
// CHECK-NEXT: domain [n, m] -> { S0[i0, i1] :
// CHECK-DAG: read [n, m] -> { S0[i0, i1] -> A[2 + i0, 1 + i1] }
// CHECK-DAG: read [n, m] -> { S0[i0, i1] -> A[i0, 1 + i1] }
// CHECK-DAG: read [n, m] -> { S0[i0, i1] -> A[1 + i0, 2 + i1] }
// CHECK-DAG: read [n, m] -> { S0[i0, i1] -> A[1 + i0, i1] }
// CHECK: must-write [n, m] -> { S0[i0, i1] -> B[1 + i0, 1 + i1] }
void constant(int n, int m, double A[n][m], double B[n][m]) {
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < m - 1; j++) {
      double s = 0;
      for (int k = 0; k < 4; k++)
        s += A[i + dx[k]][j + dy[k]];
      B[i][j] = s;
    }
}

// CHECK: scop changeable at
// CHECK-DAG: inspect sx_min to sx_max: [{{.*}}] -> { sx[i0] :
// CHECK-DAG: inspect sy_min to sy_max: [{{.*}}] -> { sy[i0] :
void changeable(int n, int m, double A[n][m], double B[n][m]) {
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < m - 1; j++) {
      double s = 0;
      for (int k = 0; k < 4; k++)
        s += A[i + sx[k]][j + sy[k]];
      B[i][j] = s;
    }
}

// CHECK: scop larger at
// CHECK: inspect far_min to far_max: [{{.*}}] -> { far[i0] :
void larger(int n, double A[n], double B[n]) {
  for (int i = 0; i < n - 40; i++) {
    double s = 0;
    for (int k = 0; k < 40; k++)
      s += A[i + far[k]];
    B[i] = s;
  }
}
