// Terminator: the place is that of the call that may throw, not that of the loop.
//
// RUN: %clangxx -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-detect>" -disable-output %t.ll 2>&1 | FileCheck %s

struct Row {
  Row(int);
  ~Row();
  int length() const;
};

void lengths(int n, int *A) {
  for (int i = 0; i < n; i++) {
    Row row(i);
    A[i] = row.length();
  }
}

// CHECK: rejected Terminator at {{.*}}handlers.cpp:[[#@LINE-6]]: the call of _ZNK3Row6lengthEv may throw an exception that is handled here (at {{.*}}handlers.cpp:[[#@LINE-4]])
