// A loop on the host whose ways out are joined with one from elsewhere, and the block where they meet, are no region: the search goes on behind
// them, and ends.
//
// RUN: %clang -O1 -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: timeout 60 %opt -passes='print<pollyrs-detect>' -disable-output %t.ll 2>&1 | FileCheck %s

void report(long);

// CHECK: scop arms
int arms(long n, double *a, int *out, int s) {
  int r = 1;
  switch (s) {
  case 1:
    goto join;
  case 2:
    for (long i = 0; i < n; i++) {
      report(i);
      if (a[i] > 5) {
        r = 2;
        goto join;
      }
    }
    r = 7;
  case 3:
    r += 5;
  join:
    out[0] = r;
    if (r > n)
      for (long i = 0; i < n; i++)
        a[i] *= 2;
    break;
  default:
    for (long i = 0; i < n; i++) {
      while (a[i] > 0) {
        report(i);
        if (s > i)
          goto join;
      }
      a[i] += 1;
    }
  }
  for (long i = 0; i < n; i++)
    a[i] += r;
  return r;
}
