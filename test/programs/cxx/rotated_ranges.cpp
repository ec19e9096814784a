// Ranges rotated, reversed and exchanged by the standard library: std::rotate exchanges pairs of elements so that
// each iteration needs what earlier ones left, but for one place, and stays; the others run on the device
// ARGS: 500 200
// ARGS: 0 0
// ARGS: 1 1
// ARGS: 1000 500
// ARGS: 2050 1
// ARGS: 777 776
// OFFLOAD: yes
// KERNELS: swap_ranges reverse
#include "example.h"
#include <algorithm>
#include <vector>

__attribute__((noinline)) static void turned(std::vector<double> &v, long k) { std::rotate(v.begin(), v.begin() + k, v.end()); }

__attribute__((noinline)) static void turned(int *v, long n, long k) { std::rotate(v, v + k, v + n); }

__attribute__((noinline)) static void backwards(std::vector<double> &v) { std::reverse(v.begin(), v.end()); }

__attribute__((noinline)) static void exchanged(std::vector<double> &v, std::vector<double> &w) {
  std::swap_ranges(v.begin(), v.end(), w.begin());
}

int main(int argc, char **argv) {
  long n = example_arg(argc, argv, 1, 500), k = example_arg(argc, argv, 2, 200);
  std::vector<double> v(n), w(n);
  std::vector<int> p(n + 1);
  for (long i = 0; i < n; i++) {
    v[i] = example_uniform(), w[i] = example_uniform();
    p[i] = static_cast<int>(example_bits() % 1000);
  }
  turned(v, k);
  turned(p.data(), n, k);
  backwards(v);
  exchanged(v, w);
  double sum = 0;
  for (long i = 0; i < n; i++)
    sum = sum * 0.99 + v[i] + 3 * p[i] + 7 * w[i];
  printf("%.17g\n", sum);
  return 0;
}
