// Remarks speak of the source: types and operators by their names there, the option of a budget, the functions that kernels lack.
//
// RUN: %clang -O2 -g -c %s -o /dev/null -Rpass-missed=pollyrs 2>&1 | FileCheck %s
// RUN: %clang -O2 -c %s -o /dev/null -Rpass-missed=pollyrs 2>&1 | FileCheck %s --check-prefix=NAMELESS
// RUN: %clang -O2 -mllvm -pollyrs-budget=10 -c %s -o /dev/null -Rpass-missed=pollyrs 2>&1 | FileCheck %s --check-prefix=BUDGET
// RUN: %clang -O2 -fcomplex-arithmetic=improved -c %s -o /dev/null -Rpass=pollyrs 2>&1 | FileCheck %s --check-prefix=IMPROVED
#include <complex.h>
#include <math.h>

// CHECK: a division of complex numbers is the call of __divdc3 (-fcomplex-arithmetic=improved and -ffast-math compute it in place) {{.*}}[PRS109]
// IMPROVED: offloaded quotients
void quotients(int n, double complex *a, const double complex *b) {
  for (int i = 0; i < n; i++)
    a[i] = a[i] / b[i];
}

// CHECK: values of type long double (x86_fp80), such as {{.*}}, cannot be held on the device {{.*}}[PRS116]
void extended(int n, long double *a) {
  for (int i = 0; i < n; i++)
    a[i] *= 2;
}

// CHECK: the call of nextafter may have side effects: the device lacks this function {{.*}}[PRS109]
void neighbours(int n, double *a) {
  for (int i = 0; i < n; i++)
    a[i] = nextafter(a[i], 3);
}

// CHECK: the number of iterations is not affine: it depends on i {{.*}}[PRS101]
// NAMELESS: the number of iterations is not affine: it depends on a value that each iteration takes over from the one before
// BUDGET: the operation budget of {{.*}} is spent (the option budget=N raises it) [PRS121]
void doubled(int n, double *a) {
  for (int i = 1; i < n; i = i * 3 + 1)
    a[i] *= 2;
}
