// A bound that is an unsigned number of 32 bits, a multiple modulo 2^32: as many blocks as iterations need, not as many as 32 bits.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-mapping>" -disable-output %t.ll 2>&1 | FileCheck %s

// CHECK: kernel K0
// CHECK-NOT: count {{.*}}[(16777216)]
// CHECK: count {{.*}}floor
void ones(unsigned long row, long x, double *m, const unsigned long *c) {
  unsigned s = 4 * (unsigned)x + 1;
  for (unsigned long k = row * s; k < (row + 1) * s; k++)
    m[k] = 1.0 / (c[k] + 1.0);
}
