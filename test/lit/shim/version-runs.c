// Programs do what they did with every loop region versioned: values computed in the region and used behind it, regions
// inside loops, early exits. The CFG is kept as it is (-O0 code generation), so that no later pass repairs it.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: clang -O0 %t.ll -o %t.ref && %t.ref > %t.expected
// RUN: FileCheck %s < %t.expected
// RUN: %opt -passes='pollyrs-test-version,verify' %t.ll -o %t.1.bc && clang -O0 %t.1.bc -o %t.1 && %t.1 | diff %t.expected -
// RUN: %opt -passes='pollyrs-test-version-largest,verify' %t.ll -o %t.2.bc && clang -O0 %t.2.bc -o %t.2 && %t.2 | diff %t.expected -
// RUN: %opt -passes='pollyrs-test-version-innermost,verify' %t.ll -o %t.3.bc && clang -O0 %t.3.bc -o %t.3 && %t.3 | diff %t.expected -
// RUN: %opt -passes='pollyrs-canonicalise,pollyrs-test-version-innermost,verify' %t.ll -o %t.4.bc && clang -O0 %t.4.bc -o %t.4 && %t.4 | diff %t.expected -

#include <stdio.h>

static int find(const int *a, int n, int wanted) {
  int i;
  for (i = 0; i < n; i++) {
    if (a[i] == wanted)
      break;
    if (a[i] < 0)
      return -1;
  }
  return i;
}

static long triangle(int n, unsigned long *last) {
  long sum = 0;
  unsigned long product = 1;
  for (int i = 0; i < n; i++) {
    int inner = 0;
    for (int j = 0; j <= i; j++) {
      inner += i ^ j;
      product = product * 3 + j;
    }
    sum += inner * (i & 1 ? -1 : 1);
  }
  *last = product;
  return sum;
}

int main(void) {
  int a[] = {5, 3, 9, -4, 7};
  unsigned long last;
  // CHECK: 2 -1 0
  printf("%d %d %d\n", find(a, 5, 9), find(a, 5, 7), find(a, 0, 5));
  // CHECK-NEXT: 368 15227647440957482787
  long sum = triangle(17, &last);
  printf("%ld %lu\n", sum, last);
  // CHECK-NEXT: 0 1
  sum = triangle(0, &last);
  printf("%ld %lu\n", sum, last);
  return 0;
}
