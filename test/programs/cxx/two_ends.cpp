// Loops that end where the first of two ranges does: iterators, pointers, binary transforms of ranges, and rows of a matrix against a vector.
// ARGS: 1000 700
// ARGS: 700 1000
// ARGS: 5 5
// ARGS: 1 0
// OFFLOAD: yes
// KERNELS: added blended rows mixed
// FLAGS: -std=c++20
#include "values.hpp"
#include <algorithm>
#include <functional>
#include <ranges>

using Vector = std::vector<double>;

[[gnu::noinline]] static void added(double *a, double *end, const double *b, const double *stop) {
  for (; a != end && b != stop; ++a, ++b)
    *a += *b;
}

[[gnu::noinline]] static void transformed(Vector &a, const Vector &b) {
  std::ranges::transform(a, b, a.begin(), std::plus<>{});
}

[[gnu::noinline]] static void scaled(Vector &a, const Vector &b, double s) {
  auto x = a.begin();
  auto y = b.begin();
  while (x != a.end() && y != b.end())
    *x++ *= s * *y++;
}

[[gnu::noinline]] static void blended(Vector &a, const Vector &b, double alpha) {
  auto d = a.begin();
  auto s = b.cbegin();
  for (; d != a.end() && s != b.cend(); ++d, ++s)
    *d = alpha * *s + (1 - alpha) * *d;
}

[[gnu::noinline]] static void rows(Vector &a, const Vector &b, std::size_t m) {
  for (std::size_t i = 0; i < a.size() / 5; ++i) {
    const double *y = b.data(), *stop = y + m;
    for (double *x = a.data() + i * 5, *end = x + 5; x != end && y != stop; ++x, ++y)
      *x -= *y;
  }
}

[[gnu::noinline]] static void mixed(double *a, std::size_t n, const double *b, const double *stop) {
  for (std::size_t i = 0; i < n && b != stop; ++i, ++b)
    a[i] = a[i] * 0.5 + *b;
}

int main(int argc, char **argv) {
  int n = argc > 1 ? std::atoi(argv[1]) : 33, m = argc > 2 ? std::atoi(argv[2]) : 17;
  Vector a(n), b(m);
  for (auto &v : a)
    v = uniform();
  for (auto &v : b)
    v = uniform();
  added(a.data(), a.data() + n, b.data(), b.data() + m);
  transformed(a, b);
  scaled(a, b, 1.5);
  blended(a, b, 0.25);
  rows(a, b, m);
  mixed(a.data(), n, b.data(), b.data() + m);
  std::uint64_t hash = 7;
  for (double v : a)
    mix(hash, v);
  std::printf("%016llx\n", static_cast<unsigned long long>(hash));
}
