// Kernels that differ in their names only are compiled once in a file: the second loop nest has the code of the first one, with its names. The third has
// another constant, and the fourth other types.
//
// RUN: %clang -O1 -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes=pollyrs -pollyrs-targets=cuda -pollyrs-cubin=off -S %t.ll -o %t.out.ll
// RUN: FileCheck %s < %t.out.ll
// RUN: %opt -passes=pollyrs -pollyrs-targets=cuda+emulated -pollyrs-cubin=off -S %t.ll | FileCheck %s --check-prefix=EMULATED

// CHECK-DAG:  c"first_K0\00"
// CHECK-DAG:  c"second\00"
// CHECK-NOT:  c"second_K0\00"
// EMULATED-DAG: define internal void @pollyrs.emu.first_K0
// EMULATED-DAG: define internal void @pollyrs.emu.second_K0
void first(long n, float *restrict a, const float *restrict b) {
  for (long i = 0; i < n; i++)
    a[i] = 2 * b[i] + 1;
}

void second(long n, float *restrict a, const float *restrict b) {
  for (long i = 0; i < n; i++)
    a[i] = 2 * b[i] + 1;
}

// CHECK-DAG:  c"third_K0\00"
void third(long n, float *restrict a, const float *restrict b) {
  for (long i = 0; i < n; i++)
    a[i] = 2 * b[i] + 3;
}

// CHECK-DAG:  c"fourth_K0\00"
void fourth(long n, double *restrict a, const double *restrict b) {
  for (long i = 0; i < n; i++)
    a[i] = 2 * b[i] + 1;
}
