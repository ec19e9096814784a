// Where a box of an array is all that is touched, the host tells its rows: flags 8 and 16 together. What is only written is not copied to the
// device (flag 1) then; 2 says that it comes back. The high half of the word is the size of an element.
//
// RUN: %clang -O1 -Xclang -disable-llvm-passes -S -emit-llvm %s -o - \
// RUN:   | %opt -passes='print<pollyrs-host>,verify' -disable-output 2>&1 | FileCheck %s

// CHECK-LABEL: define {{.*}}@gather(
// CHECK-DAG:   store i64 34359738393, ptr
// CHECK-DAG:   store i64 34359738370, ptr
// CHECK:       call ptr @pollyrs_rt_begin(
void gather(int n, int m, int k, double x[restrict n], double A[restrict n][m]) {
  for (int i = 0; i < n; i++)
    x[i] = A[i][k];
}

// CHECK-LABEL: define {{.*}}@fill(
// CHECK-DAG:   store i64 34359738394, ptr
// CHECK-DAG:   store i64 34359738369, ptr
// CHECK:       call ptr @pollyrs_rt_begin(
void fill(int n, int m, int from, int to, double A[restrict n][m], double x[restrict n]) {
  for (int i = 0; i < n; i++)
    for (int j = from; j < to; j++)
      A[i][j] = x[i];
}

// CHECK-LABEL: define {{.*}}@scale(
// CHECK:       store i64 34359738395, ptr
// CHECK:       call ptr @pollyrs_rt_begin(
void scale(int n, int m, int from, int to, double A[n][m]) {
  for (int i = 0; i < n; i++)
    for (int j = from; j < to; j++)
      A[i][j] *= 2;
}

// The column before the box is read as well: all between the first and the last element moves.
// CHECK-LABEL: define {{.*}}@sweep(
// CHECK:       store i64 34359738379, ptr
// CHECK:       call ptr @pollyrs_rt_begin(
void sweep(int n, int m, int from, int to, double A[n][m]) {
  for (int i = 0; i < n; i++)
    for (int j = from; j < to; j++)
      A[i][j] *= A[i][j - 1];
}
