// Structures exchange their data in each step, but not the lengths of their rows, whose products are of 32 bits: where the lengths are equal, all steps are one SCoP.
//
// RUN: %clang -O1 -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-detect>" -disable-output %t.ll 2>&1 | FileCheck %s

struct field {
  int rows, columns;
  double *values;
};

void smooth(struct field *restrict u, struct field *restrict v, int steps) {
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < u->rows - 1; i++)
      for (int j = 1; j < u->columns - 1; j++)
        v->values[i * v->columns + j] = u->values[(i - 1) * u->columns + j] + u->values[(i + 1) * u->columns + j];
    double *values = u->values;
    u->values = v->values;
    v->values = values;
  }
}

// CHECK: scop smooth.1 {{.*}}: 2 statements, 2 arrays, 5 loops
// CHECK: scop smooth.2 {{.*}}: 1 statements, 2 arrays, 2 loops
