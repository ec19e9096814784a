// Two forms of one nest: the loops of a block, and tiles of a wavefront. The parameter that says which one runs holds for the launches of both.
//
// RUN: %clang -O1 -Xclang -disable-llvm-passes -ffp-contract=off -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes='print<pollyrs-mapping;strategy=isl>' -disable-output %t.ll 2>&1 | FileCheck %s

// CHECK:      { K0[] : {{.*}}_n0 <= 0
// CHECK-NEXT: { K1[x0, x1] : {{.*}}_n0 > 0
// CHECK:      kernel K0[]
// CHECK:      kernel K1[_h0, _h1]
#include <stddef.h>

void rows(int n, int steps, double *restrict b) {
  for (int t = 0; t < steps; t++)
    for (size_t i = 0; i != n; i++)
      for (size_t j = 0; j < n; j++)
        for (size_t k = 1; k < n; k++)
          b[i * n + j] = b[(i * n + (k - 1)) * n + j] * 0.325 - b[(k * n + i) * n + j] * 0.475;
}
