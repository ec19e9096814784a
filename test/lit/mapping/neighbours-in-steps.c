// Boxes of many points, a launch a step: neighbouring points share their loads, in arrays of their own and in the two planes of one array, where what is read
// is not what the launch writes.
//
// RUN: %clang -O1 -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes='print<pollyrs-mapping;strategy=isl>' -disable-output %t.ll 2>&1 | FileCheck %s

#define ROW(p, a) (a[p - 2] + a[p - 1] + a[p] + a[p + 1] + a[p + 2])
#define BOX(a, i, j) (ROW(j, a[i - 2]) + ROW(j, a[i - 1]) + ROW(j, a[i]) + ROW(j, a[i + 1]) + ROW(j, a[i + 2]))

// CHECK:      kernel K0[_h0]
// CHECK:      point _v0 of 8 by 8
// CHECK-NEXT: point _v1 of 1 by 1
// CHECK-NEXT: register array 0 {{.*}}(1 + _h0 + o0) mod 2 = 0
// CHECK-NEXT: in memory S0.0 S0.1 {{.*}}S0.24{{$}}
void planes(int n, int steps, float (*restrict a)[n][n]) {
  for (int t = 0; t < steps; t++)
    for (int i = 2; i < n - 2; i++)
      for (int j = 2; j < n - 2; j++)
        a[(t + 1) % 2][i][j] = 0.04f * BOX(a[t % 2], i, j);
}

// The plane is an argument: it may be the one that is read.
// CHECK-NOT:  point _v0 of 8
// CHECK:      kernel K0
void one_plane(int n, int p, int q, float (*restrict a)[n][n]) {
  for (int i = 2; i < n - 2; i++)
    for (int j = 2; j < n - 2; j++)
      a[p][i][j] = 0.04f * BOX(a[q], i, j);
}
