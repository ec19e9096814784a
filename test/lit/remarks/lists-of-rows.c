// A row of lists that holds fewer elements than the loop has iterations may run over, which only data decides.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes='print<pollyrs-detect>' -disable-output %t.ll 2>&1 | FileCheck %s

void neighbours(int n, int most, float cut, const float *restrict x, int *restrict count, int *restrict list) {
  for (int i = 0; i < n; i++) {
    int c = 0;
    for (int j = 0; j < n; j++)
      if (j != i && x[j] - x[i] < cut)
        list[i * most + c++] = j;
    count[i] = c;
  }
}
// CHECK: it depends on how many elements a row gets, which is data
