// A load from an address that data selects is a branch with a load in either arm; so is a store.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-scop>" -disable-output %t.ll 2>&1 | FileCheck %s

void loads(int n, const char *restrict wall, const float *restrict A, float *restrict B) {
  for (int i = 1; i < n; i++)
    B[i] = wall[i] ? A[i] : A[i - 1];
}

// CHECK: scop loads at
// CHECK: subregion of 2 blocks and 0 loops
// CHECK: may-read [n] -> { S0[i0] -> A[1 + i0]
// CHECK: may-read [n] -> { S0[i0] -> A[i0]

void stores(int n, const float *restrict A, float *restrict warm, float *restrict cold) {
  for (int i = 0; i < n; i++) {
    float *to = A[i] > 0 ? warm : cold;
    to[i] = A[i];
  }
}

// CHECK: scop stores at
// CHECK: subregion of 2 blocks and 0 loops
// CHECK-DAG: may-write [n] -> { S0[i0] -> warm[i0]
// CHECK-DAG: may-write [n] -> { S0[i0] -> cold[i0]
