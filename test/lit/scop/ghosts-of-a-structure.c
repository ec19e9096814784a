// Pointers of a structure that are read under a guard whose number the outer loop takes over from the iteration before, where it is loaded for the bound: `-ghost < nx` of the
// inner loop. They are read before the loop, as the guard is.
//
// RUN: %clang -O1 -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes='print<pollyrs-scop>' -disable-output %t.ll 2>&1 | FileCheck %s
double sqrt(double);

typedef struct {
  int nx, ny, ghost;
  double *rho, *sound;
} Gas;

// CHECK-LABEL: scop speed
// CHECK: S0[i0, i1]
void speed(Gas *g) {
  for (int j = 0; j < g->ny + g->ghost; j++)
    for (int i = -g->ghost; i < g->nx; i++)
      g->sound[j * 100 + i + g->ghost] = sqrt(g->rho[j * 100 + i + g->ghost]);
}
