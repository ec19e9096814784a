// An unsigned counter that is widened for the test of its loop, `zext(k) != j`, ends at `j` if it starts below it.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-scop>" -disable-output %t.ll 2>&1 | FileCheck %s

void chains(unsigned n, int *table) {
  for (unsigned i = n; i-- > 0;)
    for (unsigned j = i + 1; j < n; ++j)
      for (unsigned k = i + 1; k < j; ++k)
        table[i * n + j] += table[i * n + k] + table[(k + 1) * n + j];
}

// CHECK: scop chains
// CHECK: array i32 table[*]{{\[\[}}i] -> { [(i)] }] (memory)
// CHECK: domain [i] -> { S0[i0, i1, i2] : i0 < i and i1 < i0 and 0 <= i2 < i1 }
