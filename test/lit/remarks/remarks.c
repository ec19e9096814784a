// Every loop gets an answer at its place in the source: offloaded, with what is assumed, or why not.
//
// RUN: %clang -O3 -g -c %s -o /dev/null -Rpass=pollyrs -Rpass-missed=pollyrs -Rpass-analysis=pollyrs 2>&1 | FileCheck %s

void unknown(void);

void offloaded(int n, float *A, unsigned m, float *B) {
  // CHECK: remarks.c:[[# @LINE + 1]]:3: remark: offloaded offloaded: 1 loop, 1 statement, 2 arrays, 1 kernel [PRS001] [-Rpass=pollyrs]
  for (int i = 0; i < n; i++)
    A[i] = B[i];
  // CHECK: remark: checks that {{A and B|B and A}} do not overlap, or are one array [PRS040] [-Rpass-analysis=pollyrs]
}

void refused(int n, float *A) {
  for (int i = 0; i < n; i++) {
    A[i] = 1;
    // CHECK: remarks.c:[[# @LINE + 1]]:5: remark: not offloaded: the call of unknown may have side effects {{.*}}[-Rpass-missed=pollyrs]
    unknown();
  }
}
