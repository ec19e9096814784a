// A structure's pointer that an arm loads is read before the loop where the structure's size was: at once on the same page, else by the run-time library.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-scop>" -disable-output %t.ll 2>&1 | FileCheck %s
// RUN: %opt -passes="pollyrs<targets=emulated>" -S %t.ll | FileCheck %s --check-prefix=IR

struct grid { unsigned width, height; double *cells; };

void borders(const struct grid *g, const int *of) {
  for (unsigned x = 0; x < g->width; x++)
    for (unsigned y = 0; y < g->height; y++)
      if (of[x * g->height + y] == 1)
        g->cells[x * g->height + y] += 1;
}
// CHECK: scop borders
// CHECK: read {{.*}} S0[i0, i1] -> of[i0, i1]
// CHECK: may-write {{.*}} S0[i0, i1] -> g[i0, i1]
// IR: icmp ult i64 {{.*}}, 4096
