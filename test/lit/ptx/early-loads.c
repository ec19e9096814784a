// Columns of a tridiagonal system, each in a thread: the loads of sixteen iterations come ahead of the first division, those of `d[i][j]` ahead of the
// stores to other rows of the same array, too. The values of `d[i-1][j]` stay in a register.
//
// RUN: %clang -O1 -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes='print<pollyrs-ptx;only-function=eliminate>' -disable-output %t.ll 2>&1 | FileCheck %s
// RUN: %opt -passes='print<pollyrs-ptx;only-function=shifted>' -disable-output %t.ll 2>&1 | FileCheck --check-prefix=SHIFTED %s

// CHECK:              .pragma "nounroll";
// CHECK-NOT:          st.global
// CHECK-NOT:          div.rn
// CHECK-COUNT-32:     ld.global
// CHECK-NOT:          ld.global
// CHECK:              div.rn.f32
// CHECK-NOT:          ld.global
// CHECK:              st.global
// CHECK-NOT:          ld.global
// CHECK:              bra
void eliminate(int n, int m, float d[restrict n][m], float b[restrict n][m]) {
  for (int j = 0; j < m; j++)
    for (int i = 1; i < n; i++)
      d[i][j] = (d[i][j] - d[i - 1][j]) / b[i][j];
}

// What iterations before have stored is loaded behind their stores.
//
// SHIFTED:            .pragma "nounroll";
// SHIFTED:            div.rn.f32
// SHIFTED:            st.global
// SHIFTED:            ld.global
// SHIFTED:            bra
void shifted(int n, int m, int s, float d[restrict n][m], float b[restrict n][m]) {
  for (int j = 0; j < m; j++)
    for (int i = s; i < n; i++)
      d[i][j] = d[i - s][j] / b[i][j];
}
