// NestedTables: planes are tables of rows; what is inside, where rows come from one table, is offloaded.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-detect>" -disable-output %t.ll 2>&1 | FileCheck %s

// CHECK: scop cube.1 at {{.*}}, 2 loops
// CHECK: scop cube.2 at {{.*}}, 1 loops
// CHECK: rejected NestedTables at {{.*}}nested-tables.c:{{[0-9]+}}: rows of u are found through a table of tables (a pointer to pointers to pointers)
void cube(int n, double ***u, double ***v) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++)
        v[i][j][k] = 2 * u[i][j][k];
}
