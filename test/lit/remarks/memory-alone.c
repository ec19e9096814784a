// A call that copies or fills memory is not worth a kernel by itself: beside a loop over the same array
// it runs there, and in a loop of the same function.
//
// RUN: %clang -O3 -c %s -o /dev/null -Rpass=pollyrs -Rpass-missed=pollyrs 2>&1 | FileCheck %s
// RUN: %clang -O3 -c %s -o /dev/null -Rpass=pollyrs -Rpass-missed=pollyrs -mllvm -pollyrs-min-work=0 2>&1 | FileCheck --check-prefix=ANY %s

void *memcpy(void *, const void *, unsigned long);
void *memset(void *, int, unsigned long);
void report(void);

// CHECK: offloaded beside
// CHECK-NOT: not offloaded: it only
void beside(long n, double *restrict a, double *restrict b) {
  for (long i = 0; i < n; i++)
    b[i] = a[i] * 2 + 1;
  report();
  memcpy(a, b, n * sizeof(double));
}

// CHECK: offloaded rows
void rows(long n, long m, double (*restrict a)[m]) {
  for (long i = 0; i < n; i++)
    memset(a[i], 0, m * sizeof(double));
}

// Another array than the loop's.
// CHECK: [[# @LINE + 7]]:{{.*}}not offloaded: it only copies or fills memory, and no loop beside it works with that on the device [PRS126]
// CHECK: offloaded other
// ANY: offloaded other.2: 1 loop
void other(long n, double *restrict a, double *restrict b, char *restrict c) {
  for (long i = 0; i < n; i++)
    b[i] = a[i] * 2 + 1;
  report();
  memset(c, 0, n);
}
