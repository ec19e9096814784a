// A structure of three bytes that a function returns is stored by members; a number that a program puts together is one.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="default<O1>,print<pollyrs-scop>" -disable-output %t.ll 2>&1 | FileCheck %s

struct pixel { unsigned char r, g, b; };

static inline struct pixel shade(unsigned char v) {
  struct pixel p = {v, (unsigned char)(v >> 1), 7};
  return p;
}

void members(int n, const unsigned char *restrict v, struct pixel *restrict o) {
  for (int i = 0; i < n; i++)
    o[i] = shade(v[i]);
}

void assembled(int n, const unsigned char *restrict v, unsigned *restrict o) {
  for (int i = 0; i < n; i++)
    o[i] = 0xffu << 24 | (unsigned)v[i] << 16 | (unsigned)v[n + i] << 8 | v[2 * n + i];
}

// CHECK-LABEL: scop members
// CHECK:      must-write {{.*}} S0[i0] -> [[O:.*]][i0, 0] }
// CHECK:      must-write {{.*}} S1[i0] -> [[O]][i0, 1] }
// CHECK:      must-write {{.*}} S2[i0] -> [[O]][i0, 2] }
// CHECK-LABEL: scop assembled
// CHECK:      array i32 [[W:.*]][*] (memory)
// CHECK:      must-write {{.*}} -> [[W]][i0] }
// CHECK-NOT:  must-write
