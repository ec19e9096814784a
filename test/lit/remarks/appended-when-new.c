// What is appended only where it is new depends on what was appended before: no order but the program's is
// right, which is a refusal, and no error of ours.
// RUN: %clang -O2 -g %s -c -o /dev/null -Rpass=pollyrs -Rpass-missed=pollyrs 2>&1 | FileCheck %s

// CHECK-NOT: internal error
// CHECK: appended-when-new.c:[[@LINE+5]]:{{.*}}not offloaded: no loop can run in parallel
// CHECK-NOT: internal error
int collect(int n, int have, int scale, const int *restrict wanted, int *restrict names,
            int *restrict places) {
  int count = have;
  for (int j = 0; j < n; ++j) {
    int name = wanted[j];
    if (places[name] < 0) {
      names[count] = name;
      places[name] = count * scale;
      ++count;
    }
  }
  return count;
}
