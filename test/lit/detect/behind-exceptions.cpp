// A nest behind a loop that may throw: what handles the exception leads elsewhere than what follows the loop, so no block
// follows both. The nest is found all the same.
//
// RUN: %clangxx -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-detect>" -disable-output %t.ll 2>&1 | FileCheck %s

struct owner {
  double *p;
  owner();
  ~owner();
};
void grow(owner &o, long i);

// CHECK: scop _Z6filledPdPKdl at
void filled(double *a, const double *b, long n) {
  owner o;
  for (long i = 0; i < n; i++)
    grow(o, i);
  for (long i = 0; i < n; i++)
    for (long j = 0; j < n; j++)
      a[i * n + j] = 2 * b[j * n + i];
}
