// Stores to elements that a count gives: the accesses of the array have places, the iterations of the count's loop, and read a copy of the count. The array must not be accessed
// otherwise, the count must go up wherever a store is made, and nowhere fall.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-scop>" -disable-output %t.ll 2>&1 | FileCheck %s
// RUN: %opt -passes="print<pollyrs-detect>" -disable-output %t.ll 2>&1 | FileCheck %s --check-prefix=REFUSED

// CHECK-LABEL: scop chosen
// CHECK: append to out: the total of [[T:S[0-9]]] goes up by 1 or more
// CHECK: may-write [n, k] -> { [[S:S[0-9]]][i0] -> out[o0] : 0 <= i0 < n and k <= o0 <= k + i0 }
// CHECK-NEXT: at [n, k] -> { [[S]][i0] -> out_place[i0] }
// CHECK: statement [[T]]
// CHECK: reduction of {{.*}} in any order
int chosen(int n, const int *restrict a, int *restrict out, int k) {
  for (int i = 0; i < n; i++)
    if (a[i] > 0)
      out[k++] = a[i];
  return k;
}

// CHECK-LABEL: scop rows
// CHECK: append to list: the total of [[T:S[0-9]]] goes up by 2 or more
// CHECK: may-write [{{.*}}] -> { [[S:S[0-9]]][i0, i1] -> list[i0, o1] :
// CHECK-NEXT: at [{{.*}}] -> { [[S]][i0, i1] -> list_place[i0, i1] }
void rows(int n, int m, const int *restrict a, int list[restrict n][2 * m]) {
  for (int i = 0; i < n; i++) {
    int c = 0;
    for (int j = 0; j < m; j++)
      if (a[j] > a[i]) {
        list[i][c] = j;
        c += 2;
      }
  }
}

// What the second condition loads need not be there: how much is added is found ahead of the store, in a cell.
// CHECK-LABEL: scop guarded
// CHECK: append to out: the total of [[T:S[0-9]]] goes up by 1 or more
// CHECK: subregion of
// CHECK: may-read [n] -> { {{S[0-9]}}[i0] -> b[i0]
// CHECK: statement [[T]]
// CHECK: reduction of {{.*}} in any order
int guarded(int n, const int *restrict a, const int *restrict b, int *restrict out) {
  int k = 0;
  for (int i = 0; i < n; i++)
    if (a[i] > 0 && b[i] < a[i])
      out[k++] = b[i];
  return k;
}

// CHECK-NOT: scop
// REFUSED-LABEL: scop guarded
// REFUSED-NEXT: rejected Subscript at {{.*}}: a subscript of out is not affine: it depends on k
// REFUSED-NEXT: rejected Subscript at {{.*}}: a subscript of out is not affine: it depends on k
// REFUSED-NEXT: rejected Subscript at {{.*}}: a subscript of out is not affine: it depends on l
// REFUSED-NEXT: rejected Subscript at {{.*}}: a subscript of out is not affine: it depends on k
// REFUSED-NEXT: rejected Subscript at {{.*}}: a subscript of out is not affine: it depends on k
int falls(int n, const int *restrict a, int *restrict out) {
  int k = 0;
  for (int i = 0; i < n; i++)
    if (a[i] > 0)
      out[k++] = a[i];
    else if (a[i] < -9)
      k--;
  return k;
}

int stays(int n, const int *restrict a, int *restrict out) {
  int k = 0;
  for (int i = 0; i < n; i++) {
    if (a[i] > 0)
      out[k] = a[i];
    if (a[i] > 1)
      k++;
  }
  return k;
}

int two_counts(int n, const int *restrict a, int *restrict out) {
  int k = 0, l = n;
  for (int i = 0; i < n; i++)
    if (a[i] > 0)
      out[k++] = a[i];
    else
      out[l++] = a[i];
  return k;
}

int by_itself(int n, int most, const int *restrict a, int *restrict out) {
  int k = 0;
  for (int i = 0; i < n; i++)
    if (a[i] > 0 && k < most)
      out[k++] = a[i];
  return k;
}

int read(int n, const int *restrict a, int *restrict out) {
  int k = 0;
  for (int i = 0; i < n; i++)
    if (a[i] > 0)
      out[k++] = a[i] + out[i];
  return k;
}
