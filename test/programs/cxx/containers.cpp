// Loops over C++ containers: range-for, std::array, lambdas, vectors of bytes, iterators, algorithms, and a try block between nests.
// ARGS: 40 23
// ARGS: 1 1
// ARGS: 2 3
// ARGS: 300 65
// OFFLOAD: yes
// KERNELS: ranged arrays lambda bytes iterators between
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <vector>

extern "C" {
[[gnu::noinline]] void ranged(std::vector<double> &a, double by) {
  for (double &x : a)
    x = x * by + 1;
}

[[gnu::noinline]] void arrays(std::vector<std::array<double, 4>> &a, const std::array<double, 4> &by) {
  for (auto &row : a)
    for (std::size_t k = 0; k < row.size(); ++k)
      row[k] *= by[k];
}

[[gnu::noinline]] void lambda(std::size_t n, std::size_t m, std::vector<double> &a, const std::vector<double> &b) {
  auto at = [m](std::size_t i, std::size_t j) { return i * m + j; };
  for (std::size_t i = 1; i + 1 < n; ++i)
    for (std::size_t j = 1; j + 1 < m; ++j)
      a[at(i, j)] = 0.25 * (b[at(i - 1, j)] + b[at(i + 1, j)] + b[at(i, j - 1)] + b[at(i, j + 1)]);
}

[[gnu::noinline]] void bytes(std::size_t n, std::vector<unsigned char> &to, const std::vector<unsigned char> &from) {
  for (std::size_t i = 0; i < n; ++i)
    to[i] = static_cast<unsigned char>((to[i] + 3 * from[i]) >> 2);
}

[[gnu::noinline]] void iterators(std::vector<double> &a, const std::vector<double> &b) {
  auto y = b.begin();
  for (auto x = a.begin(); x != a.end(); ++x, ++y)
    *x -= 0.5 * *y;
}

[[gnu::noinline]] void algorithms(std::vector<double> &a, const std::vector<double> &b) {
  std::transform(a.begin(), a.end(), b.begin(), a.begin(), [](double x, double y) { return 2 * x + y; });
}

[[gnu::noinline]] void between(std::size_t n, std::vector<double> &a, int limit) {
  for (std::size_t i = 0; i < n; ++i)
    a[i] += 1;
  try {
    if (static_cast<int>(n) > limit)
      throw std::length_error("long");
  } catch (const std::length_error &) {
    std::puts("long");
  }
  for (std::size_t i = 0; i < n; ++i)
    a[i] *= 3;
}
}

static std::vector<double> values(std::size_t n, std::uint64_t seed) {
  std::vector<double> v(n);
  std::uint64_t s = seed * 0x9e3779b97f4a7c15u | 1;
  for (double &x : v) {
    s ^= s << 13;
    s ^= s >> 7;
    s ^= s << 17;
    x = double(s >> 11) * 0x1p-53;
  }
  return v;
}

static void report(const char *name, const std::vector<double> &a) {
  std::printf("%s", name);
  for (double x : a)
    std::printf(" %.17g", x);
  std::putchar('\n');
}

int main(int argc, char **argv) {
  std::size_t n = argc > 1 ? std::atol(argv[1]) : 40, m = argc > 2 ? std::atol(argv[2]) : 23;
  auto a = values(n * m, 1), b = values(n * m, 2);
  ranged(a, 0.75);
  report("ranged", a);
  std::vector<std::array<double, 4>> quads(n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 0; k < 4; ++k)
      quads[i][k] = 0.25 * double(i) + double(k);
  arrays(quads, {0.5, 1.5, 2.5, -1});
  std::vector<double> flat;
  for (const auto &q : quads)
    flat.insert(flat.end(), q.begin(), q.end());
  report("arrays", flat);
  lambda(n, m, a, b);
  report("lambda", a);
  std::vector<unsigned char> to(n), from(n);
  for (std::size_t i = 0; i < n; ++i) {
    to[i] = static_cast<unsigned char>(37 * i);
    from[i] = static_cast<unsigned char>(11 * i + 5);
  }
  bytes(n, to, from);
  for (unsigned char c : to)
    std::printf("%d ", c);
  std::putchar('\n');
  iterators(a, b);
  report("iterators", a);
  algorithms(a, b);
  report("algorithms", a);
  between(n, a, 100);
  report("between", a);
  return 0;
}
