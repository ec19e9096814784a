// Loops over containers of one function, one behind the other, as a main has them; between some of them the containers change.
// ARGS: 100 7
// ARGS: 3 1
// OFFLOAD: yes
// KERNELS: main.\d
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

using Vector = std::vector<double>;

static void scale(Vector &y, const Vector &x) {
  for (std::size_t i = 0; i < x.size(); i++)
    y[i] = 2 * x[i] + 1;
}

__attribute__((noinline)) static void exchange(Vector &x, Vector &y) {
  std::swap(x, y);
  y.resize(y.size() / 2);
}

static void print(const char *name, const Vector &v) {
  std::printf("%s", name);
  for (double e : v)
    std::printf(" %g", e);
  std::printf("\n");
}

int main(int argc, char **argv) {
  std::size_t n = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 100;
  int rounds = argc > 2 ? std::atoi(argv[2]) : 3;
  Vector x(n), y(n + 2);
  for (std::size_t i = 0; i < n; i++)
    x[i] = (i % 17) * 0.25;
  scale(y, x);
  print("y", y);
  for (std::size_t i = 0; i < x.size(); i++)
    x[i] += y[i];
  exchange(x, y);
  // Another size, and other elements.
  for (std::size_t i = 0; i < y.size(); i++)
    y[i] = y[i] * 0.5 + x[i];
  for (int r = 0; r < rounds; r++) {
    for (std::size_t i = 0; i < y.size(); i++)
      x[i] = x[i] * 0.5 + y[i];
    if (r % 3 == 1)
      x.swap(y);
    if (x.size() < y.size())
      y.resize(x.size());
  }
  print("x", x);
  print("y", y);
  return 0;
}
