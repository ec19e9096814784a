// Arrays of different types are compared like others: a store makes memory one of its own type, so that the last of several stores of different
// types counts.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-scop>" -disable-output %t.ll 2>&1 | FileCheck %s

// CHECK-LABEL: scop stores
// CHECK: check disjoint a b{{$}}
void stores(int *a, float *b, int n) {
  for (int i = 0; i < n; i++) {
    a[i] = i;
    b[i] = i;
  }
}

// CHECK-LABEL: scop reads
// CHECK: check disjoint a b
void reads(const short *a, double *b, int n) {
  for (int i = 0; i < n; i++)
    b[i] = a[i];
}
