// Objects whose two or three integers in front of a container, or behind one, are copied as one word where the objects change places: equal sizes, sizes that differ, one object passed
// twice, an integer beside a float, sizes that change in the loop, a number of 64 bits that is none of two.
// ARGS: 5 33 17
// ARGS: 0 9 9
// ARGS: 4 3 50
// OFFLOAD: yes
// KERNELS: smooth with_halo lambda behind
#include "../cxx/values.hpp"
#include <utility>

class Field {
  int columns_, rows_;
  std::vector<double> cells_;

public:
  Field(int columns, int rows) : columns_(columns), rows_(rows), cells_(std::size_t(columns) * std::size_t(rows)) {}
  double &operator()(int i, int j) { return cells_[std::size_t(j) * std::size_t(columns_) + std::size_t(i)]; }
  const double &operator()(int i, int j) const { return cells_[std::size_t(j) * std::size_t(columns_) + std::size_t(i)]; }
  int columns() const { return columns_; }
  int rows() const { return rows_; }
  void narrow() { --columns_; }
  std::vector<double> &cells() { return cells_; }
};

extern "C" [[gnu::noinline]] void smooth(Field &from, Field &to, int steps) {
  for (int t = 0; t < steps; ++t) {
    for (int j = 1; j < from.rows() - 1; ++j)
      for (int i = 1; i < from.columns() - 1; ++i)
        to(i, j) = 0.4 * from(i, j) + 0.15 * (from(i - 1, j) + from(i + 1, j) + from(i, j - 1) + from(i, j + 1));
    std::swap(from, to);
  }
}

template <class F> static void inside(const Field &f, F &&each) {
  for (int j = 0; j < f.rows(); ++j)
    for (int i = 0; i < f.columns(); ++i)
      each(i, j);
}

extern "C" [[gnu::noinline]] void lambda(Field &from, Field &to, int steps) {
  for (int t = 0; t < steps; ++t) {
    inside(from, [&](int i, int j) { to(i, j) = 0.5 * from(i, j) + 0.125; });
    std::swap(from, to);
  }
}

// One size changes in the loop.
extern "C" [[gnu::noinline]] void narrowing(Field &from, Field &to, int steps) {
  for (int t = 0; t < steps && from.columns() > 2; ++t) {
    for (int j = 0; j < from.rows(); ++j)
      for (int i = 0; i < from.columns(); ++i)
        to(i, j) = from(i, j) + 0.25;
    to.narrow();
    std::swap(from, to);
  }
}

struct Halo {
  int nx, ny, width;
  std::vector<double> cells;
  double &at(int i, int j) { return cells[std::size_t(j + width) * std::size_t(nx + 2 * width) + std::size_t(i + width)]; }
};

extern "C" [[gnu::noinline]] void with_halo(Halo &from, Halo &to, int steps) {
  for (int t = 0; t < steps; ++t) {
    for (int j = 0; j < from.ny; ++j)
      for (int i = 0; i < from.nx; ++i)
        to.at(i, j) = 0.25 * (from.at(i - 1, j) + from.at(i + 1, j) + from.at(i, j - 1) + from.at(i, j + 1));
    std::swap(from, to);
  }
}

struct Behind {
  std::vector<double> cells;
  int columns, rows;
};

extern "C" [[gnu::noinline]] void behind(Behind &from, Behind &to, int steps) {
  for (int t = 0; t < steps; ++t) {
    for (int j = 1; j < from.rows - 1; ++j)
      for (int i = 0; i < from.columns; ++i)
        to.cells[std::size_t(j * from.columns + i)] = from.cells[std::size_t((j - 1) * from.columns + i)] + 0.5;
    std::swap(from, to);
  }
}

struct Weighted {
  int n;
  float weight;
  std::vector<float> cells;
};

extern "C" [[gnu::noinline]] void weighted(Weighted &from, Weighted &to, int steps) {
  for (int t = 0; t < steps; ++t) {
    for (int i = 1; i < from.n - 1; ++i)
      to.cells[std::size_t(i)] = from.weight * (from.cells[std::size_t(i - 1)] + from.cells[std::size_t(i + 1)]);
    std::swap(from, to);
  }
}

struct Long {
  long n;
  std::vector<float> cells;
};

extern "C" [[gnu::noinline]] long wide(Long &from, Long &to, int steps) {
  long sum = 0;
  for (int t = 0; t < steps; ++t) {
    for (long i = 1; i < from.n - 1; ++i)
      to.cells[std::size_t(i)] = 0.5f * from.cells[std::size_t(i - 1)] + from.cells[std::size_t(i + 1)];
    std::swap(from, to);
    sum += from.n;
  }
  return sum;
}

template <class T> static void print(const char *name, const std::vector<T> &values) {
  std::uint64_t hash = 1;
  for (T x : values)
    mix(hash, double(x));
  std::printf("%s %016llx\n", name, static_cast<unsigned long long>(hash));
}

int main(int argc, char **argv) {
  int steps = argc > 1 ? std::atoi(argv[1]) : 5, n = argc > 2 ? std::atoi(argv[2]) : 33, m = argc > 3 ? std::atoi(argv[3]) : 17;
  Field a(n, m), b(n, m), c(n + 2, m + 1);
  for (Field *f : {&a, &b, &c})
    for (double &x : f->cells())
      x = uniform();
  auto both = [&](const char *name, Field &x, Field &y) {
    print(name, x.cells());
    print(name, y.cells());
    std::printf("%d %d, %d %d\n", x.columns(), x.rows(), y.columns(), y.rows());
  };
  smooth(a, b, steps);
  both("smooth", a, b);
  lambda(a, b, steps);
  both("lambda", a, b);
  smooth(a, a, steps);
  both("itself", a, a);
  smooth(b, c, 1);
  both("larger", b, c);
  lambda(c, b, 1);
  both("back", b, c);
  Field d(n, m);
  narrowing(a, d, steps);
  both("narrowing", a, d);
  Halo h{n, m, 2, std::vector<double>(std::size_t((n + 4) * (m + 4)))}, k = h;
  for (double &x : h.cells)
    x = uniform();
  with_halo(h, k, steps);
  print("halo", h.cells);
  print("halo", k.cells);
  with_halo(k, k, 3);
  print("one halo", k.cells);
  k.width = 1;
  with_halo(h, k, 1);
  print("halos", h.cells);
  std::printf("%d %d\n", h.width, k.width);
  Behind x{a.cells(), n, m}, y{d.cells(), n, m}, z{c.cells(), n, m};
  behind(x, y, steps);
  print("behind", x.cells);
  print("behind", y.cells);
  behind(y, y, 2);
  z.rows = m - 1;
  behind(x, z, 3);
  print("behind", x.cells);
  print("behind", z.cells);
  std::printf("%d %d, %d %d\n", x.columns, x.rows, z.columns, z.rows);
  Weighted u{n * m, 0.25f, std::vector<float>(std::size_t(n * m))}, v{n * m, 0.375f, u.cells};
  for (float &x : u.cells)
    x = float(uniform());
  weighted(u, v, steps);
  print("weighted", u.cells);
  std::printf("%a %a\n", double(u.weight), double(v.weight));
  Long p{long(n) * m, u.cells}, q{long(n) * m, v.cells};
  std::printf("wide %ld\n", wide(p, q, steps));
  print("wide", p.cells);
  return 0;
}
