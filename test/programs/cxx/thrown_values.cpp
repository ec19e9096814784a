// Exceptions thrown where what a loop computes is wrong: from loops over vectors, with something to clean up, and of rows whose sum is wrong. With an argument below zero
// none is thrown, else one at about that element.
// ARGS: 1000 -1
// ARGS: 1000 0
// ARGS: 1000 617
// ARGS: 30 29
// OFFLOAD: partial
// FALLBACK: a check in the loop failed, which ends it
// KERNELS: energies relaxed normalised
#include "values.hpp"
#include <cmath>
#include <stdexcept>
#include <string>

using Vector = std::vector<double>;

[[gnu::noinline]] static void energies(const Vector &mass, const Vector &speed, Vector &energy) {
  Vector twice(mass.size());
  for (std::size_t i = 0; i < mass.size(); ++i) {
    twice[i] = mass[i] * speed[i] * speed[i];
    if (!(twice[i] >= 0))
      throw std::domain_error("negative energy");
    energy[i] = 0.5 * twice[i];
  }
}

[[gnu::noinline]] static void relaxed(Vector &a, Vector &b, int steps) {
  std::size_t n = a.size();
  for (int t = 0; t < steps; ++t) {
    for (std::size_t i = 1; i + 1 < n; ++i) {
      double x = 0.25 * a[i - 1] + 0.5 * a[i] + 0.25 * a[i + 1];
      if (x > 100)
        throw std::runtime_error("diverged in step " + std::to_string(t));
      b[i] = x;
    }
    for (std::size_t i = 1; i + 1 < n; ++i)
      a[i] = b[i];
  }
}

[[gnu::noinline]] static void normalised(Vector &a, std::size_t n, std::size_t m) {
  for (std::size_t i = 0; i < n; ++i) {
    double sum = 0;
    for (std::size_t j = 0; j < m; ++j)
      sum += a.at(i * m + j) * a.at(i * m + j);
    if (sum == 0)
      throw std::domain_error("an empty row");
    for (std::size_t j = 0; j < m; ++j)
      a.at(i * m + j) /= sum;
  }
}

template <class Loop> [[gnu::noinline]] static void run(const Vector &result, Loop loop) {
  try {
    loop();
  } catch (const std::exception &e) {
    std::puts(e.what());
  }
  std::uint64_t hash = 7;
  for (double x : result)
    mix(hash, x);
  std::printf("%016llx\n", static_cast<unsigned long long>(hash));
}

int main(int argc, char **argv) {
  int n = argc > 1 ? std::atoi(argv[1]) : 1000, wrong = argc > 2 ? std::atoi(argv[2]) : -1;
  Vector a(n), b(n, 1.5), c(n, -1.0);
  for (auto &x : a)
    x = uniform();
  if (wrong >= 0)
    b[wrong] = -1;
  run(c, [&] { energies(b, a, c); });
  if (wrong >= 0)
    for (int j = 0; j < 10; ++j)
      a[wrong / 10 * 10 + j] = 0;
  run(a, [&] { normalised(a, n / 10, 10); });
  if (wrong >= 0)
    a[wrong] = 500;
  run(a, [&] { relaxed(a, b, 10); });
}
