// Two loops over one container: what the second one loads of it is what the first one had loaded before it.
//
// RUN: %clangxx -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-detect>" -disable-output %t.ll 2>&1 | FileCheck %s

#include <cstddef>
#include <vector>

void use(std::vector<double> &, std::vector<double> &);

// CHECK: scop _Z4fillm{{.*}}.1 {{.*}}containers-in-turn.cpp:[[#@LINE+4]]
// CHECK: scop _Z4fillm{{.*}}.2 {{.*}}containers-in-turn.cpp:[[#@LINE+5]]
void fill(size_t n) {
  std::vector<double> x(n), y(n);
  for (size_t i = 0; i < n; i++)
    x[i] = i * 0.25;
  for (size_t i = 0; i < x.size(); i++)
    y[i] = 2 * x[i];
  use(x, y);
}
