// Parallel algorithms with std::execution::par_unseq: for_each over elements and over iota, transform, reduce, transform_reduce, fill, copy, count_if. The numbers are
// such that no order of the sums rounds.
//
// ARGS: 1000
// ARGS: 0
// ARGS: 1
// ARGS: 40000
// FLAGS: -std=c++20 -fopenmp-simd -D_GLIBCXX_USE_TBB_PAR_BACKEND=0
// OFFLOAD: yes
// KERNELS: __simd_walk_1\w* __simd_walk_2\w* __simd_walk_3\w* __simd_transform_reduce\w* __simd_count\w* io\w*
#include "example.h"
#include <algorithm>
#include <execution>
#include <numeric>
#include <ranges>
#include <vector>

#define KEEP __attribute__((noinline)) static

using std::execution::par_unseq;
using Numbers = std::vector<double>;

KEEP void scale(Numbers &v) {
  std::for_each(par_unseq, v.begin(), v.end(), [](double &x) { x = 2 * x + 1; });
}

KEEP void squares(const Numbers &a, Numbers &b) {
  std::transform(par_unseq, a.begin(), a.end(), b.begin(), [](double x) { return x * x; });
}

KEEP void products(const Numbers &a, const Numbers &b, Numbers &c) {
  std::transform(par_unseq, a.begin(), a.end(), b.begin(), c.begin(), [](double x, double y) { return x * y; });
}

KEEP double total(const Numbers &a) { return std::reduce(par_unseq, a.begin(), a.end(), 0.5); }

KEEP double dot(const Numbers &a, const Numbers &b) {
  return std::transform_reduce(par_unseq, a.begin(), a.end(), b.begin(), 0.0);
}

KEEP long positive(const Numbers &a) {
  return std::count_if(par_unseq, a.begin(), a.end(), [](double x) { return x > 0; });
}

KEEP void io(int n, double *a, const double *b) {
  auto range = std::views::iota(0, n);
  std::for_each(par_unseq, range.begin(), range.end(), [=](int i) { a[i] = b[n - 1 - i] + i; });
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 1000);
  Numbers a(n), b(n), c(n), d(n), e(n);
  for (int i = 0; i < n; i++) {
    a[i] = (int)(example_bits() >> 40) % 1000;
    b[i] = (int)(example_bits() >> 40) % 1000;
  }
  scale(a);
  squares(a, c);
  products(a, b, d);
  io(n, e.data(), a.data());
  printf("%.17g %.17g %ld\n", total(c), dot(a, b), positive(d));
  double check = 0;
  for (int i = 0; i < n; i++)
    check = check * 0.5 + c[i] + d[i] * 3 + e[i];
  printf("%.17g\n", check);
}
