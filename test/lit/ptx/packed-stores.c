// A number in floating point below its alignment is stored by pieces that are permuted out of it: the assembler takes the lowest byte of one that comes from an integer for the
// integer's. Aligned ones are stored as they are.
//
// RUN: %clang -O1 -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes='print<pollyrs-ptx;only-function=packed>' -disable-output %t.ll 2>&1 | FileCheck %s
// RUN: %opt -passes='print<pollyrs-ptx;only-function=aligned>' -disable-output %t.ll 2>&1 | FileCheck %s --check-prefix=ALIGNED

struct __attribute__((packed)) odd { short s; char c, d; float f; };

// CHECK: .entry packed
// CHECK: cvt.rn.f32.{{.*}} [[F:%[a-z0-9]+]],
// CHECK-COUNT-4: prmt.b32 {{%[a-z0-9]+}}, [[F]], 0, {{[0-9]+}};
void packed(int n, struct odd *restrict a, const short *restrict b) {
  for (int i = 0; i < n; i++)
    a[i].f = b[i] & 1023;
}

// ALIGNED: .entry aligned
// ALIGNED-NOT: prmt
// ALIGNED: st.global.b32
void aligned(int n, float *restrict a, const short *restrict b) {
  for (int i = 0; i < n; i++)
    a[i] = b[i] & 1023;
}
