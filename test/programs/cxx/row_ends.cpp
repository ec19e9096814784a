// Rows that are found between two iterators, whose ends are products: accumulate, inner_product, max_element of each row of a matrix in one vector.
// ARGS: 33 17
// ARGS: 1 1
// ARGS: 40 0
// ARGS: 0 5
// OFFLOAD: yes
// KERNELS: sums products longest
#include "values.hpp"
#include <numeric>

using Vector = std::vector<double>;

[[gnu::noinline]] static void sums(const Vector &a, Vector &y, std::size_t m) {
  for (std::size_t i = 0; i < y.size(); ++i)
    y[i] = std::accumulate(a.begin() + i * m, a.begin() + (i + 1) * m, 0.5);
}

[[gnu::noinline]] static void products(const Vector &a, const Vector &x, Vector &y) {
  std::size_t n = y.size(), m = x.size();
  for (std::size_t i = 0; i < n; ++i)
    y[i] += std::inner_product(a.begin() + i * m, a.begin() + (i + 1) * m, x.begin(), 0.0);
}

[[gnu::noinline]] static void longest(const Vector &a, Vector &y, std::size_t m) {
  for (std::size_t i = 0; i < y.size(); ++i) {
    double most = -1;
    for (const double *p = a.data() + i * m, *end = a.data() + (i + 1) * m; p != end; ++p)
      most = *p > most ? *p : most;
    y[i] += most;
  }
}

int main(int argc, char **argv) {
  int n = argc > 1 ? std::atoi(argv[1]) : 33, m = argc > 2 ? std::atoi(argv[2]) : 17;
  Vector a(std::size_t(n) * m), x(m), y(n);
  for (auto &v : a)
    v = uniform();
  for (auto &v : x)
    v = uniform();
  sums(a, y, m);
  products(a, x, y);
  longest(a, y, m);
  std::uint64_t hash = 7;
  for (double v : y)
    mix(hash, v);
  std::printf("%016llx\n", static_cast<unsigned long long>(hash));
}
