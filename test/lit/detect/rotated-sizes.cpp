// Sizes of vectors that a rotated loop loads before it and at its end, where stores of the loop might change them, and those of a row that a loop around it
// does not change: all loops are in the region.
//
// RUN: %clangxx -std=c++17 -O3 -S -emit-llvm -mllvm -pollyrs-targets=emulated -Rpass=pollyrs -Rpass-missed=pollyrs %s -o %t.ll 2>&1 | FileCheck %s
#include <array>
#include <vector>

// Stores of aggregates have no type that would tell them from pointers.
// CHECK: offloaded {{.*}}sums{{.*}}: 2 loops
void sums(std::vector<std::array<float, 3>> &p, std::vector<std::array<float, 3>> &f) {
  for (std::size_t i = 0; i < p.size(); i++) {
    float s = 0;
    for (std::size_t j = 0; j < p.size(); j++)
      s += p[j][0] - p[i][0];
    f[i] = {s, s, s};
  }
}

// CHECK: offloaded {{.*}}rows{{.*}}: 2 loops
void rows(const std::vector<std::vector<float>> &in, std::vector<std::vector<float>> &out) {
  for (std::size_t i = 1; i + 1 < in.size(); i++)
    for (std::size_t j = 1; j + 1 < in[0].size(); j++)
      out[i][j] = in[i - 1][j] + in[i + 1][j] - in[i][j - 1];
}
