// Objects that own a grid and its sizes, swapped in each time step: a container inside, a plain structure, sizes that differ, one object passed
// twice.
// ARGS: 5 33 17
// ARGS: 0 9 9
// ARGS: 4 3 50
// OFFLOAD: yes
// STAYS: _ZL9overwriteR4GridS0_ii: the grids that it gets have different sizes
// KERNELS: smooth relax attract distances
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

template <class T> class Field {
  std::size_t rows_, columns_;
  std::vector<T> cells_;

public:
  Field(std::size_t rows, std::size_t columns) : rows_(rows), columns_(columns), cells_(rows * columns) {}
  T &operator()(std::size_t i, std::size_t j) { return cells_[i * columns_ + j]; }
  const T &operator()(std::size_t i, std::size_t j) const { return cells_[i * columns_ + j]; }
  std::size_t rows() const { return rows_; }
  std::size_t columns() const { return columns_; }
  std::vector<T> &cells() { return cells_; }
};

extern "C" [[gnu::noinline]] void smooth(Field<double> &from, Field<double> &to, int steps) {
  for (int t = 0; t < steps; ++t) {
    for (std::size_t i = 1; i + 1 < from.rows(); ++i)
      for (std::size_t j = 1; j + 1 < from.columns(); ++j)
        to(i, j) = 0.4 * from(i, j) + 0.15 * (from(i - 1, j) + from(i + 1, j) + from(i, j - 1) + from(i, j + 1));
    std::swap(from, to);
  }
}

struct Grid {
  double *cells;
  int rows, columns;
};

// Where the sizes are not equal, the second one's rows are longer.
extern "C" [[gnu::noinline]] void relax(Grid &from, Grid &to, int steps) {
  for (int t = 0; t < steps; ++t) {
    for (int i = 1; i < from.rows - 1; ++i)
      for (int j = 1; j < from.columns - 1; ++j)
        to.cells[i * to.columns + j] = 0.25 * (from.cells[(i - 1) * from.columns + j] + from.cells[(i + 1) * from.columns + j] +
                                               from.cells[i * from.columns + j - 1] + from.cells[i * from.columns + j + 1]);
    std::swap(from, to);
  }
}

// Rows have a length of their own.
[[gnu::noinline]] static void overwrite(Grid &from, Grid &to, int steps, int n) {
  for (int t = 0; t < steps; ++t) {
    for (int i = 0; i < from.rows; ++i)
      for (int j = 0; j < n; ++j)
        to.cells[i * n + j] = from.cells[i * n + j] + 1.5;
    Grid kept = from;
    from = to;
    to = kept;
  }
}

struct Particle {
  double x, y, vx, vy, mass;
};

extern "C" [[gnu::noinline]] void attract(std::vector<Particle> &all, double dt) {
  for (auto &p : all) {
    double ax = 0, ay = 0;
    for (const auto &q : all) {
      double dx = q.x - p.x, dy = q.y - p.y, d = dx * dx + dy * dy + 1e-2;
      ax += q.mass * dx / d;
      ay += q.mass * dy / d;
    }
    p.vx += dt * ax;
    p.vy += dt * ay;
  }
}

struct Vector {
  float x, y, z;
  Vector operator-(Vector o) const { return {x - o.x, y - o.y, z - o.z}; }
  float dot(Vector o) const { return x * o.x + y * o.y + z * o.z; }
};

// Structures that are passed by value in vector registers.
extern "C" [[gnu::noinline]] void distances(int n, int m, const Vector *from, const Vector *to, float *out) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j) {
      Vector d = from[i] - to[j];
      out[i * m + j] = d.dot(d);
    }
}

static unsigned state = 1;
static double random_number() {
  state = state * 1664525u + 1013904223u;
  return (state >> 8) / 16777216.0;
}

template <class T> static void print(const char *name, const T *values, std::size_t count) {
  std::printf("%s\n", name);
  for (std::size_t i = 0; i < count; ++i)
    std::printf("%a\n", static_cast<double>(values[i]));
}

int main(int argc, char **argv) {
  int steps = argc > 1 ? std::atoi(argv[1]) : 5;
  std::size_t n = argc > 2 ? std::atoi(argv[2]) : 33, m = argc > 3 ? std::atoi(argv[3]) : 17;
  Field<double> a(n, m), b(n, m), c(n + 2, m + 1);
  for (Field<double> *f : {&a, &b, &c})
    for (double &x : f->cells())
      x = random_number();
  smooth(a, b, steps);
  print("a", a.cells().data(), a.cells().size());
  print("b", b.cells().data(), b.cells().size());
  smooth(a, a, steps);
  print("itself", a.cells().data(), a.cells().size());
  // After an odd number of steps they have changed places.
  smooth(b, c, 1);
  print("larger", b.cells().data(), b.cells().size());
  std::printf("%zu %zu\n", b.rows(), c.columns());

  Grid g{a.cells().data(), int(n), int(m)}, h{c.cells().data(), int(n), int(m)};
  relax(g, h, steps);
  print("g", g.cells, n * m);
  print("h", h.cells, n * m);
  std::vector<double> wide(n * (m + 3));
  Grid w{wide.data(), int(n), int(m + 3)};
  relax(g, w, 1);
  print("wide", wide.data(), wide.size());
  std::printf("%d %d\n", g.columns, w.columns);
  relax(h, h, steps);
  print("h alone", h.cells, n * m);
  overwrite(g, h, steps, int(m));
  print("added", g.cells, n * m);

  std::vector<Particle> all(n * 5);
  for (Particle &p : all)
    p = {random_number(), random_number(), 0, 0, random_number()};
  attract(all, 0.1);
  attract(all, 0.1);
  print("particles", &all[0].x, all.size() * 5);
  std::vector<Vector> from(n), to(m);
  for (Vector &v : from)
    v = {float(random_number()), float(random_number()), float(random_number())};
  for (Vector &v : to)
    v = {float(random_number()), float(random_number()), float(random_number())};
  std::vector<float> out(n * m);
  distances(int(n), int(m), from.data(), to.data(), out.data());
  print("distances", out.data(), out.size());
  return 0;
}
