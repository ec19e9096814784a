// Calls in loops are inlined for the analysis, but into loops that go along links. A loop that a callee has on the device anyway, and whose array is another one each time, has no copy in the
// caller, whatever the caller knows of sizes; nor where another loop of the caller's comes to nothing. It has one where the caller has other work for the device, where
// the array can stay there between executions, and where the loop around is part of it.
// RUN: %clang -O3 -fpass-plugin=%plugin -Rpass=pollyrs -mllvm -pollyrs-targets=emulated -c %s -o /dev/null 2>&1 | FileCheck %s
// RUN: %clang -O3 -fpass-plugin=%plugin -mllvm -pollyrs-log=debug -mllvm -pollyrs-targets=emulated -c %s -o /dev/null 2>&1 | FileCheck --check-prefix=LOG %s

// CHECK: offloaded clear:
// CHECK-NOT: offloaded all
// CHECK-NOT: offloaded known
// CHECK-NOT: offloaded links
// CHECK: offloaded both.1:
// CHECK: offloaded both.2:
// CHECK: offloaded stays:
// CHECK: offloaded rows: 2 loops
// LOG: pollyrs: all{{.*}}: a callee has it
// LOG: pollyrs: known{{.*}}: a callee has it

int stop(int) __attribute__((const, nothrow));

struct list {
  struct list *next;
  float *values;
  long n;
};

static void clear(float *values, long n) {
  for (long i = 0; i < n; ++i)
    values[i] = 1.5f;
}

void all(struct list *l) {
  for (int t = 0; !stop(t); ++t)
    clear(l[t].values, l[t].n);
}

void known(struct list *l) {
  for (int t = 0; !stop(t); ++t)
    clear(l[t].values, 1 << 20);
}

void links(struct list *l) {
  for (; l; l = l->next)
    clear(l->values, l->n);
}

void both(struct list *l, long n) {
  for (int t = 0; !stop(t); ++t) {
    clear(l[t].values, l[t].n);
    for (long i = 0; i < n; ++i)
      l[t].values[i] = l[t].values[i] * 2 + i;
  }
}

void stays(float *restrict a, long n) {
  for (int t = 0; !stop(t); ++t)
    clear(a, n);
}

void rows(float *restrict a, long n) {
  for (long i = 0; i < n; ++i)
    clear(a + i * n, n);
}
