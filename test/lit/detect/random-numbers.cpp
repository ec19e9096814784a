// LittleWork: the state of a generator (std::mt19937 has 624 words) is made anew within the loop that draws numbers. On a device that never pays, and as a
// SCoP it would have the loop ask, for each number, whether the state is there.
//
// RUN: %clangxx -O2 -S -emit-llvm -Xclang -disable-llvm-passes %s -o %t.ll
// RUN: %opt -O2 %t.ll -S -o %t.out.ll -pass-remarks=pollyrs -pass-remarks-missed=pollyrs 2>&1 | FileCheck %s
// RUN: FileCheck %s --check-prefix=CODE < %t.out.ll
#include <random>

// CHECK-NOT: offloaded {{.*}}draw
// CHECK: not offloaded: too little work for the device: at most {{[0-9]+}} executions of statements
// CODE-LABEL: define {{.*}}draw
// CODE-NOT: pollyrs_rt_
// CODE: {{^}}}
void draw(double *x, int n) {
  std::mt19937 engine(17);
  std::uniform_real_distribution<double> some(0.0, 1.0);
  for (int i = 0; i < n; i++)
    x[i] = some(engine);
}
