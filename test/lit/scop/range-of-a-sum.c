// `(i == n - 1 ? 0 : i + 1) * n` is `n + i * n + q * n` with `q = -n` in the last row: what has to stay in 32 bits is bounded by the range of
// `i + q`, not by those of `i` and `q`.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-scop>" -disable-output %t.ll 2>&1 | FileCheck %s

void f(int n, const float *A, float *B) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      int down = i == n - 1 ? 0 : i + 1;
      B[i * n + j] = A[down * n + j];
    }
}

// CHECK: scop f at
// CHECK: assume no wrap: {{.*}} times [n] -> { [(-1)] } to
// CHECK: read [n] -> { S0[i0, i1] -> A[1 + i0, i1] : i0 <= -2 + n; S0[-1 + n, i1] -> A[0, i1] }
