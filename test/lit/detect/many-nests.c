// A function with many nests has all of them found: what its regions may cost counts where it is in vain. (The shapes of arrays are known after the first.
// A main program into which everything was inlined has forty, say.)
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-detect;budget=30000>" -disable-output %t.ll 2>&1 | FileCheck %s
void between(float *);

#define NEST \
  for (int i = 1; i < n - 1; i++) \
    for (int j = 1; j < n - 1; j++) \
      b[i * n + j] = a[i * n + j] + a[(i - 1) * n + j] + a[(i + 1) * n + j] + a[i * n + j - 1] + a[i * n + j + 1]; \
  between(b);
#define FIVE NEST NEST NEST NEST NEST

// CHECK-NOT: rejected Budget
// CHECK-COUNT-20: {{^}}scop f
// CHECK-NOT: rejected Budget
void f(int n, float *restrict a, float *restrict b) { FIVE FIVE FIVE FIVE }
