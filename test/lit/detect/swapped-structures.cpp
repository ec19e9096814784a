// Structures that are swapped in memory keep the loop around a SCoP in it: their pointers and sizes become values of the loop, one version for
// equal sizes. A field that is read in another width stays in memory, and so does its structure.
//
// RUN: %clang -O1 -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes='print<pollyrs-detect>' -disable-output %t.ll 2>&1 | FileCheck %s

struct Grid {
  double *cells;
  int rows, columns;
};

// CHECK: scop relax at {{.*}}: 2 statements, 2 arrays, 5 loops
extern "C" void relax(Grid &a, Grid &b, int steps) {
  for (int t = 0; t < steps; ++t) {
    for (int i = 1; i < a.rows - 1; ++i)
      for (int j = 1; j < a.columns - 1; ++j)
        b.cells[i * a.columns + j] = 0.5 * (a.cells[(i - 1) * a.columns + j] + a.cells[(i + 1) * a.columns + j]);
    Grid kept = a;
    a = b;
    b = kept;
  }
}

// CHECK-NOT: scop both_sizes at {{.*}} 5 loops
extern "C" void both_sizes(Grid &a, Grid &b, int steps) {
  for (int t = 0; t < steps; ++t) {
    long sizes = *reinterpret_cast<long *>(&a.rows);
    for (int i = 1; i < a.rows - 1; ++i)
      for (int j = 1; j < a.columns - 1; ++j)
        b.cells[i * a.columns + j] = 0.5 * (a.cells[(i - 1) * a.columns + j] + sizes);
    Grid kept = a;
    a = b;
    b = kept;
  }
}

struct Vector {
  float x, y, z;
};

static Vector difference(Vector a, Vector b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }

// What is passed in vector registers is computed by element.
// CHECK: scop subtract at
extern "C" void subtract(int n, Vector *__restrict to, const Vector *from, Vector by) {
  for (int i = 0; i < n; ++i)
    to[i] = difference(from[i], by);
}

typedef double Wide __attribute__((vector_size(32)));

// Wider vectors are the program's own.
// CHECK-NOT: scop wide at
extern "C" void wide(int n, Wide *__restrict to, const Wide *from) {
  for (int i = 0; i < n; ++i)
    to[i] = from[i] * 2.0;
}

struct Span {
  double *first, *last;
  double *begin() const { return first; }
  double *end() const { return last; }
};

// The pointers of both loops belong to one array: `begin()` before the loop is inlined, too.
// CHECK: scop pairs at {{.*}}, 1 arrays, 2 loops
extern "C" void pairs(const Span &all) {
  for (double &x : all)
    for (double &y : all)
      x += 0.5 * y;
}
