// A function without prospects is not searched; it is where somebody reads remarks, with the same outcome. One loop more that may have a SCoP,
// and the function is searched.
//
// RUN: %clang -O3 -c %s -o /dev/null -mllvm -pollyrs-time 2>&1 | FileCheck --check-prefix=NONE %s
// RUN: %clang -O3 -c %s -o /dev/null -Rpass=pollyrs -Rpass-missed=pollyrs 2>&1 | FileCheck --check-prefix=REMARKS %s
// RUN: %clang -O3 -c %s -o /dev/null -mllvm -pollyrs-time -DMORE='for (long i = 0; i < k; i++) a[i] += 1;' 2>&1 \
// RUN:   | FileCheck --check-prefix=ALL %s
// RUN: %clang -O3 -c %s -o /dev/null -mllvm -pollyrs-time -DMORE='for (long i = 0; i < 300; i++) a[i] += helper(i);' 2>&1 \
// RUN:   | FileCheck --check-prefix=ALL %s
// RUN: %clang -O3 -c %s -o /dev/null -mllvm -pollyrs-time -DMORE='for (long i = 0; i < k; i++) { a[i] = sqrt(a[i]); }' 2>&1 \
// RUN:   | FileCheck --check-prefix=ALL %s
// RUN: %clang -O3 -c %s -o /dev/null -mllvm -pollyrs-time -DMORE='for (long i = 0; i < k; i++) { if (a[i] < 0) stop(i); a[i] += 1; }' 2>&1 \
// RUN:   | FileCheck --check-prefix=ALL %s
// RUN: %clang -O3 -c %s -o /dev/null -mllvm -pollyrs-time -DMORE='memcpy(a, b, k);' 2>&1 | FileCheck --check-prefix=NONE %s
// RUN: %clang -O3 -c %s -o /dev/null -mllvm -pollyrs-time -DMORE='for (int i = 0; i < 8; i++) memcpy(a + i * k, b + i * k, 8 * k);' 2>&1 \
// RUN:   | FileCheck --check-prefix=ALL %s
// RUN: %clang -O3 -c %s -o /dev/null -mllvm -pollyrs-time -DMORE='for (int i = 0; i < 8; i++) a[i] += 1;' 2>&1 \
// RUN:   | FileCheck --check-prefix=NONE %s
// RUN: %clang -O3 -c %s -o /dev/null -mllvm -pollyrs-time -mllvm -pollyrs-min-work=0 2>&1 | FileCheck --check-prefix=ALL %s

#ifndef MORE
#define MORE
#endif

double sqrt(double);
void *memcpy(void *, const void *, unsigned long);
void report(long);
__attribute__((noreturn)) void stop(long);
static double helper(long i) { return 2.0 * (double)i; }
struct node {
  struct node *next;
  double marks[8];
};

// NONE-NOT: detection
// ALL: ( 3) detection
// REMARKS-NOT: internal
// REMARKS: prospects.c:[[# @LINE + 5]]:{{.*}}not offloaded
// REMARKS-NOT: internal

double links(struct node *list, double *a, const double *b, long k) {
  double sum = 0;
  for (struct node *n = list; n; n = n->next)
    for (int i = 0; i < 8; i++)
      sum += n->marks[i];
  MORE
  return sum;
}

void elsewhere(double *a, const double *b, long k) {
  for (long i = 0; i < k; i++) {
    a[i] = b[i];
    report(i);
  }
  MORE
}

void by_pointer(double *a, const double *b, long k, double (*f)(double)) {
  for (long i = 0; i < k; i++)
    a[i] = f(b[i]);
  MORE
}
