// What a library loops over is told where the author's code calls it, however deep that is: parallel algorithms go through ten functions of the library.
//
// RUN: %clangxx -O2 -g -std=c++17 -fopenmp-simd -D_GLIBCXX_USE_TBB_PAR_BACKEND=0 -c %s -o /dev/null -Rpass=pollyrs -Rpass-missed=pollyrs -fno-caret-diagnostics 2>&1 | FileCheck %s
// RUN: rm -f %t.jsonl
// RUN: env POLLYRS_REMARK_FILE=%t.jsonl %clangxx -O2 -g -std=c++17 -fopenmp-simd -D_GLIBCXX_USE_TBB_PAR_BACKEND=0 -c %s -o /dev/null
// RUN: FileCheck --check-prefix=RECORD %s < %t.jsonl
#include <algorithm>
#include <execution>
#include <map>
#include <numeric>
#include <vector>

// The function of the library that is called is in the record.
// RECORD-DAG: "line":[[# @LINE + 4]],{{.*}}"library":"_ZSt8for_each
// RECORD-DAG: "line":[[# @LINE + 7]],{{.*}}"library":"_ZSt6reduce
// CHECK-DAG: algorithms-of-libraries.cpp:[[# @LINE + 2]]:{{.*}} offloaded
void twice(std::vector<double> &v) {
  std::for_each(std::execution::par_unseq, v.begin(), v.end(), [](double &x) { x *= 2; });
}

// CHECK-DAG: algorithms-of-libraries.cpp:[[# @LINE + 1]]:{{.*}} offloaded
double total(const std::vector<double> &v) { return std::reduce(std::execution::par_unseq, v.begin(), v.end()); }

// A search in a tree, inlined here.
// RECORD-DAG: "line":[[# @LINE + 2]],{{.*}}"library":"_ZNSt3map
void count(const std::vector<int> &keys, std::map<int, int> &counts) {
  for (int k : keys) counts[k]++;
}
