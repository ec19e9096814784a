// Diagnostics: a line each, behind the function or loop nest that it is about; nothing is said unless asked for.
// RUN: %clang -O3 -fpass-plugin=%plugin -mllvm -pollyrs-log=debug -c %s -o %t.o 2>&1 | FileCheck %s
// RUN: %clang -O3 -fpass-plugin=%plugin -mllvm -pollyrs-log=pollyrs::device=debug,warn -c %s -o %t.o 2>&1 | FileCheck --check-prefix=TARGET %s
// RUN: %clang -O3 -fpass-plugin=%plugin -c %s -o %t.o 2>&1 | count 0
// RUN: not %clang -O3 -fpass-plugin=%plugin -mllvm -pollyrs-log=loud -c %s -o %t.o 2>&1 | FileCheck --check-prefix=WRONG %s
// RUN: %clang -O3 -fpass-plugin=%plugin -mllvm -pollyrs-time -c %s -o %t.o 2>&1 | FileCheck --check-prefix=TIME %s

// CHECK: pollyrs: smooth: {{.*}} time iterations a launch
// TARGET-NOT: plan
// TARGET: pollyrs: smooth: made what="ptx" bytes={{[0-9]+}}
// TARGET-NOT: plan
// WRONG: error: pollyrs: option 'log': 'loud' is neither a level
// TIME: pollyrs: time in ms (calls) for
// TIME-NEXT: {{[0-9.]+ \( *[0-9]+\)}} copies and inlining
// TIME: {{[0-9.]+ \( *[1-9][0-9]*\)}} ptx
// TIME: in all
// TIME-NEXT: isl operations

void smooth(int steps, int n, float a[restrict n][n], float b[restrict n][n]) {
  for (int t = 0; t < steps; ++t) {
    for (int i = 1; i < n - 1; ++i)
      for (int j = 1; j < n - 1; ++j)
        b[i][j] = 0.25f * (a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1]);
    for (int i = 1; i < n - 1; ++i)
      for (int j = 1; j < n - 1; ++j)
        a[i][j] = b[i][j];
  }
}
