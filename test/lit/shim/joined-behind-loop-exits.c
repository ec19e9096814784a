// Loads through joined addresses: the edges that get one of the loads each are divided without changing others, also where some of them leave a loop.
//
// RUN: timeout 60 %clang -O3 -mllvm -pollyrs-targets=emulated -mllvm -pollyrs-verify -Rpass=pollyrs -c %s -o %t.o 2>&1 | FileCheck %s

int f(int n, const int *x, const int *a, const int *b, const int *c) {
  int s = 0;
  for (int i = 0; i < n; i++) {
    const int *p;
    int k = 0;
    do {
      p = a;
      if (x[k] == i)
        break;
      p = b;
      if (x[k] == n)
        break;
      p = c;
    } while (++k < n);
    s += p[i];
  }
  return s;
}

// CHECK: offloaded f
// CHECK-NOT: internal error
