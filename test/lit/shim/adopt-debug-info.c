// A clone has a subprogram of its own; when its body is adopted, scopes and variables become the original's again, those
// of inlined calls included. There is one subprogram a function in the end, and one of each variable.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes='pollyrs-test-version,verify' -S %t.ll | FileCheck %s
// RUN: %opt -passes='function(sroa,early-cse),pollyrs-test-version,verify' -S %t.ll | FileCheck %s

// CHECK: define dso_local double @kernel({{.*}} !dbg [[SP:![0-9]+]]
// CHECK-NOT: pollyrs(
// CHECK: [[SP]] = distinct !DISubprogram(name: "kernel"
// CHECK-NOT: !DISubprogram(name: "kernel"
// CHECK: !DILocalVariable(name: "accumulator", scope: [[SP]]
// CHECK-NOT: !DILocalVariable(name: "accumulator"
// CHECK-NOT: !DISubprogram(name: "kernel"

static inline double square(double x) { return x * x; }

double kernel(int n, const double *a) {
  double accumulator = 0;
  for (int i = 0; i < n; i++) {
    double term = square(a[i]);
    accumulator += term;
  }
  return accumulator;
}
