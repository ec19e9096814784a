// The least of two by reference, as std::min has it: the variables that its arguments were stored to are in nobody's way once values are compared.
//
// RUN: %clang -O1 -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-scop>" -disable-output %t.ll 2>&1 | FileCheck %s

static inline const float &least(const float &a, const float &b) { return b < a ? b : a; }
static inline const float &most(const float &a, const float &b) { return a < b ? b : a; }
static inline float middle(float a, float b, float c) { return most(least(a, b), least(most(a, b), c)); }

// CHECK: scop {{.*}}middles
// CHECK: array float argument_1
// CHECK-NEXT: array float argument_2
// CHECK-NOT: array
// CHECK: statement S0
// CHECK-NOT: statement S1
void middles(int n, const float *a, float *b) {
  for (int i = 1; i < n - 1; ++i)
    b[i] = middle(a[i - 1], a[i], a[i + 1]);
}
