// A point and its neighbour square the same difference: three subtractions, not four. Where it is not only squared, there are four.
//
// RUN: %clang -O1 -Xclang -disable-llvm-passes -ffp-contract=off -emit-llvm -S %s -o - \
// RUN:   | %opt -passes='print<pollyrs-ptx>' -disable-output 2>&1 | FileCheck %s

// CHECK: .entry squares_K0
// CHECK-COUNT-3: sub{{.*}}f32
// CHECK-NOT: sub{{.*}}f32
// CHECK: ret;
#define D(X, Y) ((X) - (Y))
#define S(X, Y) (D(X, Y) * D(X, Y))
void squares(long n, float a[restrict n], float b[restrict n][4]) {
  for (long i = 0; i < n; i++) {
    float p = b[i][1], q = b[i][2];
    a[i] = (S(p, b[i][0]) + S(p, q)) / (S(q, p) + S(q, b[i][3]));
  }
}

// CHECK: .entry cubes_K0
// CHECK-COUNT-4: sub{{.*}}f32
// CHECK-NOT: sub{{.*}}f32
// CHECK: ret;
void cubes(long n, float a[restrict n], float b[restrict n][4]) {
  for (long i = 0; i < n; i++) {
    float p = b[i][1], q = b[i][2];
    a[i] = (S(p, b[i][0]) + S(p, q) * D(p, q)) / (S(q, p) * D(q, p) + S(q, b[i][3]));
  }
}
