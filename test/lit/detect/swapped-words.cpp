// Two integers in front of a container change places as one word: they become values of the loop like the container's pointer. Those that are read as a word elsewhere
// stay in memory, and a number of 64 bits is no two.
//
// RUN: %clang -O1 -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes='print<pollyrs-detect>' -disable-output %t.ll 2>&1 | FileCheck %s

struct Cells {
  double *first;
  Cells(Cells &&from) : first(from.first) { from.first = nullptr; }
  Cells &operator=(Cells &&from) {
    double *kept = first;
    first = from.first;
    from.first = kept;
    return *this;
  }
};

template <class T> static void exchange(T &a, T &b) {
  T kept = static_cast<T &&>(a);
  a = static_cast<T &&>(b);
  b = static_cast<T &&>(kept);
}

struct Grid {
  int rows, columns;
  Cells cells;
};

// CHECK: scop relax at {{.*}}: 2 statements, 2 arrays, 5 loops
extern "C" void relax(Grid &a, Grid &b, int steps) {
  for (int t = 0; t < steps; ++t) {
    for (int i = 1; i < a.rows - 1; ++i)
      for (int j = 1; j < a.columns - 1; ++j)
        b.cells.first[i * a.columns + j] = 0.5 * (a.cells.first[(i - 1) * a.columns + j] + a.cells.first[(i + 1) * a.columns + j]);
    exchange(a, b);
  }
}

// CHECK-NOT: scop both_sizes at {{.*}} 5 loops
extern "C" void both_sizes(Grid &a, Grid &b, int steps) {
  for (int t = 0; t < steps; ++t) {
    long sizes = *reinterpret_cast<long *>(&a.rows);
    for (int i = 1; i < a.rows - 1; ++i)
      for (int j = 1; j < a.columns - 1; ++j)
        b.cells.first[i * a.columns + j] = 0.5 * (a.cells.first[(i - 1) * a.columns + j] + double(sizes));
    exchange(a, b);
  }
}

struct Halo {
  int rows, columns, width;
  Cells cells;
};

// CHECK: scop bordered at {{.*}}: 2 statements, 2 arrays, 5 loops
extern "C" void bordered(Halo &a, Halo &b, int steps) {
  for (int t = 0; t < steps; ++t) {
    for (int i = 0; i < a.rows; ++i)
      for (int j = 0; j < a.columns; ++j)
        b.cells.first[(i + b.width) * b.columns + j] = 0.5 * a.cells.first[(i + a.width) * a.columns + j];
    exchange(a, b);
  }
}

struct Behind {
  Cells cells;
  int rows, columns;
};

// One of the two is never asked for its sizes, and what keeps the first one's in between begins with them.
// CHECK: scop behind at {{.*}}: 2 statements, 2 arrays, 5 loops
extern "C" void behind(Behind &a, Behind &b, int steps) {
  for (int t = 0; t < steps; ++t) {
    for (int i = 1; i < a.rows - 1; ++i)
      for (int j = 1; j < a.columns - 1; ++j)
        b.cells.first[i * a.columns + j] = 0.5 * (a.cells.first[(i - 1) * a.columns + j] + a.cells.first[(i + 1) * a.columns + j]);
    exchange(a, b);
  }
}

struct Row {
  long size;
  Cells cells;
};

// CHECK: scop row at {{.*}}: 2 statements, 2 arrays, 3 loops
extern "C" void row(Row &a, Row &b, int steps) {
  for (int t = 0; t < steps; ++t) {
    for (long i = 1; i < a.size - 1; ++i)
      b.cells.first[i] = 0.5 * (a.cells.first[i - 1] + a.cells.first[i + 1]);
    exchange(a, b);
  }
}
