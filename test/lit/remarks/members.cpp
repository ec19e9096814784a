// Arrays of members are named by the members, those of the C++ library too; a place in code that was inlined from it is that of the call.
//
// RUN: %clangxx -O2 -g -c %s -o /dev/null -Rpass=pollyrs -Rpass-analysis=pollyrs 2>&1 | FileCheck %s
#include <algorithm>
#include <vector>

struct grid {
  int n;
  double *p, *q;
  std::vector<double> a, b;
  void pointers();
  void vectors();
};

// CHECK: checks that this->q and this->p do not overlap, or are one array [PRS040]
void grid::pointers() {
  for (int i = 0; i < n; i++)
    p[i] = q[i] * 2;
}

// CHECK: checks that this->b and this->a do not overlap, or are one array [PRS040]
void grid::vectors() {
  for (int i = 0; i < n; i++)
    a[i] = b[i] * 2;
}

// CHECK: members.cpp:[[# @LINE + 2]]:{{[0-9]+}}: remark: offloaded {{.*}}doubled
void doubled(std::vector<double> &to, const std::vector<double> &from) {
  std::transform(from.begin(), from.end(), to.begin(), [](double x) { return 2 * x; });
}
