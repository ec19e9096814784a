// Grids that exchange their data in each step, but not their extents: the pointers change places, the lengths of rows (numbers of 32 bits) stay where they are. Steps are fused where both grids have
// one extent, and each is a nest of its own where they don't.
// ARGS: 33 31 31 5
// ARGS: 33 31 28 5
// ARGS: 0 4 4 2
// ARGS: 40 20 20 4
// ARGS: 3 3 5 1
// OFFLOAD: yes
// KERNELS: diffuse smooth
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

namespace {
template <class T> class Grid {
  int rows_, columns_;
  std::vector<T> data_;

public:
  Grid(int rows, int columns, int room) : rows_(rows), columns_(columns), data_(room) {}
  T &operator()(int i, int j) { return data_[i * columns_ + j]; }
  int rows() const { return rows_; }
  int columns() const { return columns_; }
  std::vector<T> &data() { return data_; }
  void swap(Grid &other) { std::swap(data_, other.data_); }
};

struct Field {
  int rows, columns;
  double *values;
  double &operator()(int i, int j) const { return values[i * columns + j]; }
};
} // namespace

__attribute__((noinline)) void diffuse(Grid<double> &u, Grid<double> &v, double k, int steps) {
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < u.rows() - 1; i++)
      for (int j = 1; j < u.columns() - 1; j++)
        v(i, j) = u(i, j) + k * (u(i + 1, j) + u(i - 1, j) + u(i, j + 1) + u(i, j - 1) - 4 * u(i, j));
    u.swap(v);
  }
}

__attribute__((noinline)) void smooth(Field &u, Field &v, int steps) {
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < u.rows - 1; i++)
      for (int j = 1; j < u.columns - 1; j++)
        v(i, j) = 0.25 * (u(i - 1, j) + u(i + 1, j) + u(i, j - 1) + u(i, j + 1));
    std::swap(u.values, v.values);
  }
}

int main(int argc, char **argv) {
  int arguments[4] = {33, 31, 31, 5};
  for (int i = 1; i < argc && i < 5; i++)
    arguments[i - 1] = atoi(argv[i]);
  auto [rows, columns, others, steps] = arguments;
  int room = rows * (columns > others ? columns : others) + 1;
  Grid<double> u(rows, columns, room), v(rows, others, room);
  for (int i = 0; i < room; i++) {
    u.data()[i] = i * 7 % 101;
    v.data()[i] = i * i % 103;
  }
  diffuse(u, v, 0.1, steps);
  Field a{rows, columns, u.data().data()}, b{rows, others, v.data().data()};
  smooth(a, b, steps);
  for (int i = 0; i < room; i += 7)
    printf("%.17g %.17g\n", a.values[i], b.values[i]);
}
