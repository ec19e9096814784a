// Particles in boxes, with those of the 27 boxes around: the search for placements is too much, and the loops that are parallel as they stand are a kernel.
//
// RUN: %clang -O1 -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes='print<pollyrs-schedule>' -disable-output %t.ll 2>&1 | FileCheck %s

// CHECK:      mark kernel
// CHECK-NEXT: band
// CHECK-COUNT-4: coincident
// CHECK-NOT:  mark
typedef struct {
  float x, y, z, q;
} Particle;

void forces(int n, const Particle *restrict p, Particle *restrict f) {
  for (int a = 0; a < n; a++)
    for (int b = 0; b < n; b++)
      for (int c = 0; c < n; c++)
        for (int i = 0; i < 100; i++) {
          int own = ((a * n + b) * n + c) * 100 + i;
          float q = 0, x = 0, y = 0, z = 0;
          for (int u = a - 1; u <= a + 1; u++)
            for (int v = b - 1; v <= b + 1; v++)
              for (int w = c - 1; w <= c + 1; w++) {
                if (u < 0 || u >= n || v < 0 || v >= n || w < 0 || w >= n)
                  continue;
                for (int j = 0; j < 100; j++) {
                  int other = ((u * n + v) * n + w) * 100 + j;
                  float dx = p[own].x - p[other].x, dy = p[own].y - p[other].y, dz = p[own].z - p[other].z;
                  float s = p[other].q / (1 + dx * dx + dy * dy + dz * dz);
                  q += s;
                  x += s * dx;
                  y += s * dy;
                  z += s * dz;
                }
              }
          f[own].q = q;
          f[own].x = x;
          f[own].y = y;
          f[own].z = z;
        }
}
