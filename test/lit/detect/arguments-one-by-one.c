// Type: what a function has behind its '...' is found by pointers, which the remark says.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-detect>" -disable-output %t.ll 2>&1 | FileCheck %s

#include <stdarg.h>

double total(int n, ...) {
  va_list list;
  va_start(list, n);
  double sum = 0;
  for (int i = 0; i < n; i++)
    sum += va_arg(list, double);
  va_end(list);
  return sum;
}

// CHECK: rejected Type at {{.*}}one-by-one.c:[[#@LINE-6]]: values of type pointer (ptr), such as the arguments behind '...'{{( \(list\))?}}, cannot be held on the device
