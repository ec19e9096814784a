// One load of an address that branches choose, behind them, is a load in each: of elements that the branches name.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-scop>" -disable-output %t.ll 2>&1 | FileCheck %s

static double u[48][64], t[48][64], f[48][64];

// CHECK-LABEL: scop upwind
// CHECK-DAG: may-read { S{{[0-9]}}[i0, i1] -> t[1 + i0, 1 + i1] :
// CHECK-DAG: may-read { S{{[0-9]}}[i0, i1] -> t[1 + i0, 2 + i1] :
void upwind(void) {
  for (int j = 1; j < 47; j++)
    for (int i = 1; i < 63; i++)
      f[j][i] = u[j][i] > 0 ? u[j][i] * t[j][i] : u[j][i] * t[j][i + 1];
}
