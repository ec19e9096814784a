// Structures that are returned as short vectors by calls that may throw, with what would be destroyed then: their elements are taken where the call returns to, also
// where that place is reached from elsewhere, too, and what follows the call is still there.
// ARGS: 700
// ARGS: 3
// OFFLOAD: yes
// KERNELS: halves summary
#include "values.hpp"
#include <algorithm>
#include <complex>
#include <utility>
#include <vector>

__attribute__((noinline)) std::pair<float, float> ends(const std::vector<float> &v) {
  auto [low, high] = std::minmax_element(v.begin(), v.end());
  return {*low, *high};
}

__attribute__((noinline)) static std::complex<float> turned(std::complex<float> z, long n) {
  if (n < 0)
    throw 2;
  return {-z.imag(), z.real() + (float)n};
}

__attribute__((noinline)) static size_t above(const std::vector<float> &v, float t) {
  return (size_t)std::count_if(v.begin(), v.end(), [=](float x) { return x > t; });
}

__attribute__((noinline)) static void halves(std::vector<float> &v) {
  for (size_t i = 0; i < v.size(); ++i)
    v[i] *= 0.5f;
}

// What follows the first call needs the vector that lives here.
__attribute__((noinline)) static void summary(const float *x, size_t n) {
  std::vector<float> f(n), g(n);
  for (size_t i = 0; i < n; ++i) {
    f[i] = x[i];
    g[i] = x[i] * 2;
  }
  auto [low, high] = ends(f);
  printf("%a %a %zu\n", low, high, above(f, 0.1f));
  double sum = 0;
  for (size_t i = 0; i < n; ++i)
    sum += f[i] + g[i];
  printf("%a\n", sum);
}

// One more way to the place where the call returns to.
__attribute__((noinline)) static float either(const std::vector<float> &v, long n) {
  std::vector<float> copy(v);
  std::complex<float> z(copy[0], 1);
  if (n > 5)
    z = turned(z, n);
  for (size_t i = 0; i < copy.size(); ++i)
    copy[i] += z.real() * (float)i;
  return z.real() + z.imag() + copy[copy.size() / 2];
}

__attribute__((noinline)) static void caught(std::complex<float> z, long n) {
  try {
    printf("%a\n", (double)turned(z, -n).real());
  } catch (int e) {
    printf("thrown %d\n", e);
  }
}

int main(int argc, char **argv) {
  long n = argc > 1 ? std::atol(argv[1]) : 700;
  std::vector<float> f((size_t)n), g((size_t)n);
  for (size_t i = 0; i < f.size(); ++i) {
    f[i] = (float)uniform();
    g[i] = (float)uniform();
  }
  halves(f);
  summary(g.data(), g.size());
  auto [low, high] = ends(f);
  std::complex<float> z = turned({low, high}, n);
  for (size_t i = 0; i < g.size(); ++i)
    g[i] = g[i] * z.real() + f[i] * z.imag();
  printf("%a %zu %a %a\n", (double)g[g.size() / 2], above(g, 0.2f), (double)either(f, n), (double)either(g, 4));
  caught(z, n);
  return 0;
}
