// The index of a block is taken apart by products with factors that the host computes: no division by the
// number of tiles is on the device.
//
// RUN: %clang -O1 -Xclang -disable-llvm-passes -emit-llvm -S %s -o %t.ll
// RUN: %opt -passes='print<pollyrs-ptx;arch=sm_90>' -disable-output %t.ll 2>&1 | FileCheck %s --implicit-check-not='div.{{[us]}}' --implicit-check-not='rem.{{[us]}}'
// RUN: %opt -passes='print<pollyrs-host>' -disable-output %t.ll 2>&1 | FileCheck %s --check-prefix=HOST

// CHECK:     .entry shifted_K0
// CHECK:     mul.wide.u32
// CHECK:     mul.wide.u32

// HOST: udiv i64 9223372036854775807, %
// HOST: add {{.*}}i64 %{{.*}}, 1
void shifted(int p, int n, int m, const float x[restrict p][n][m + 1], float y[restrict p][n][m]) {
  for (int h = 0; h < p; h++)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < m; j++)
        y[h][i][j] = x[h][i][j + 1] * 2;
}
