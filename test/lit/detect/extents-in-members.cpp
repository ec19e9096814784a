// Extents that are members of a view, compared as unsigned numbers with one taken off: `j < m - 1` from 1 on is `m - 3 < -2` before the loop, which
// says that `m` is neither 1 nor 2, and is one comparison of all three loops' guards.
//
// RUN: %clangxx -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-detect>" -disable-output %t.ll 2>&1 | FileCheck %s

#include <cstddef>

struct view {
  double *p;
  size_t extents[3];
  double &at(size_t i, size_t j, size_t k) const { return p[(i * extents[1] + j) * extents[2] + k]; }
};

// CHECK: scop _Z6inside4viewS_ at {{.*}}members.cpp:[[#@LINE+2]]: 1 statements, 2 arrays, 3 loops
void inside(view b, view a) {
  for (size_t i = 1; i < a.extents[0] - 1; i++)
    for (size_t j = 1; j < a.extents[1] - 1; j++)
      for (size_t k = 1; k < a.extents[2] - 1; k++)
        b.at(i, j, k) = a.at(i - 1, j, k) + a.at(i + 1, j, k) + a.at(i, j - 1, k) + a.at(i, j + 1, k) + a.at(i, j, k + 1);
}
