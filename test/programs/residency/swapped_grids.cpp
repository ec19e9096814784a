// Grids that own their memory and know their sizes, whose memory changes places after each step; also two of different widths.
// ARGS: 9 33 17
// ARGS: 0 9 9
// ARGS: 1 5 7
// ARGS: 4 3 50
// ARGS: 20 64 64
// OFFLOAD: yes
// KERNELS: _ZL4heat\w*
#include <memory>
#include <utility>

#include "../cxx/values.hpp"

template <class T> struct Grid {
  std::size_t rows, columns;
  std::unique_ptr<T[]> data;
  Grid(std::size_t n, std::size_t m) : rows(n), columns(m), data(new T[n * m]()) {}
  T &operator()(std::size_t i, std::size_t j) { return data[i * columns + j]; }
};

[[gnu::noinline]] static void heat(Grid<double> &a, Grid<double> &b, int steps) {
  for (int t = 0; t < steps; t++) {
    for (std::size_t i = 1; i + 1 < a.rows; i++)
      for (std::size_t j = 1; j + 1 < a.columns; j++)
        b(i, j) = 0.25 * (a(i - 1, j) + a(i + 1, j) + a(i, j - 1) + a(i, j + 1));
    std::swap(a.data, b.data);
  }
}

static void print(const char *name, Grid<double> &a, std::size_t count) {
  std::uint64_t hash = 1;
  for (std::size_t i = 0; i < count; i++)
    mix(hash, a.data[i]);
  std::printf("%s %016llx\n", name, static_cast<unsigned long long>(hash));
}

int main(int argc, char **argv) {
  int steps = argc > 1 ? std::atoi(argv[1]) : 9, n = argc > 2 ? std::atoi(argv[2]) : 33, m = argc > 3 ? std::atoi(argv[3]) : 17;
  std::size_t count = static_cast<std::size_t>(n) * m;
  Grid<double> a(n, m), b(n, m);
  for (std::size_t i = 0; i < count; i++)
    a.data[i] = uniform();
  heat(a, b, steps);
  print("a", a, count);
  print("b", b, count);
  // Rows that are further apart in one of the two: what is one's row begins in the middle of another's.
  Grid<double> c(n, m), d(n, m + 3);
  c.data.reset(new double[count + 3 * n]());
  for (std::size_t i = 0; i < count; i++)
    c.data[i] = uniform();
  heat(c, d, steps);
  print("c", c, count);
  print("d", d, count);
  return 0;
}
