// Where no loop is parallel but the sum of two or three is a wavefront, boxes of the loops are tiles: a launch for each diagonal of tiles, the steps of a tile between
// barriers, values in shared memory. A tile that overwrites nothing that it reads from outside copies the rim of its window alone.
//
// RUN: %clang -O2 -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes='print<pollyrs-mapping;only-function=table>' -disable-output %t.ll 2>&1 | FileCheck %s --check-prefix=TABLE
// RUN: %opt -passes='print<pollyrs-mapping;only-function=relax>' -disable-output %t.ll 2>&1 | FileCheck %s --check-prefix=RELAX
// RUN: %opt -passes='print<pollyrs-mapping;only-function=gauss>' -disable-output %t.ll 2>&1 | FileCheck %s --check-prefix=GAUSS
// RUN: %opt -passes='print<pollyrs-mapping;only-function=gauss;wave-tile=4x8x16>' -disable-output %t.ll 2>&1 | FileCheck %s --check-prefix=SIZES
// RUN: %opt -passes='print<pollyrs-mapping;only-function=intervals>' -disable-output %t.ll 2>&1 | FileCheck %s --check-prefix=PLAIN
// RUN: %opt -passes='print<pollyrs-mapping;only-function=table;wave-tile=none>' -disable-output %t.ll 2>&1 | FileCheck %s --check-prefix=PLAIN
// RUN: not %opt -passes='print<pollyrs-mapping;only-function=table;wave-tile=64>' -disable-output %t.ll 2>&1 | FileCheck %s --check-prefix=WRONG
// RUN: not %opt -passes='print<pollyrs-mapping;only-function=table;wave-tile=64x64x64>' -disable-output %t.ll 2>&1 | FileCheck %s --check-prefix=WRONG

// TABLE:      K0[x0] : {{.*}}x0 >= 0 and 2*floor((-1 + {{[a-z_0-9]+}})/64) >= x0
// TABLE:      grid _b0
// TABLE:      block _t0 size 64
// TABLE:      window _in0 array {{[0-9]+}} size [65, 66]
// TABLE:      { _in0[i0, 64_h0 - 64_b0] : {{.*}}; _in0[64_b0, i1] :
// WRONG:      option 'wave-tile': {{.*}} is neither none nor two or three sizes from 1 to 1024, with 1024 threads at most
void table(int n, double a[restrict n + 1][n + 1], double b[restrict n][n]) {
  for (int i = 1; i <= n; i++)
    for (int j = 1; j <= n; j++)
      a[i][j] = b[i - 1][j - 1] + a[i - 1][j] + a[i][j - 1] - a[i - 1][j - 1];
}

// RELAX:      window _in0 array {{[0-9]+}} size [66, 66]
// RELAX:      { _in0[i0, i1] : (-_t0 + i1) mod 64 = 0 and
void relax(int n, double a[n][n]) {
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < n - 1; j++)
      a[i][j] = 0.25 * (a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1]);
}

// GAUSS:      block _t0 size 16
// GAUSS-NEXT: block _t1 size 16
// GAUSS:      window _in0
// SIZES:      block _t0 size 4
// SIZES-NEXT: block _t1 size 8
void gauss(int t, int n, double a[n][n]) {
  for (int k = 0; k < t; k++)
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        a[i][j] = 0.25 * (a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1]);
}

// A loop beneath the wavefront.
// PLAIN:     kernel K0
// PLAIN-NOT: _barrier
void intervals(int n, int s[n][n]) {
  for (int i = n - 1; i >= 0; i--)
    for (int j = i + 1; j < n; j++)
      for (int k = i; k < j; k++)
        s[i][j] = s[i][k] + s[k + 1][j] > s[i][j] ? s[i][k] + s[k + 1][j] : s[i][j];
}
