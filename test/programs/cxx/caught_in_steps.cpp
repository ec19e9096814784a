// Exceptions that are caught within a loop over steps, in front of loops and behind them: what handles one leads on to the next loop, which is a second way into it.
// ARGS: 333
// ARGS: 0
// ARGS: 5
// OFFLOAD: yes
// KERNELS: beforeiPdS_ aroundiPdS_ behindiPdS_
#include "values.hpp"

static unsigned seed = 7;

[[gnu::noinline]] static bool fails() {
  seed = seed * 1664525u + 1013904223u;
  return seed >> 31;
}

[[gnu::noinline]] static void before(int n, double *a, double *b) {
  for (int t = 0; t < 6; t++) {
    try {
      if (fails())
        throw 1;
      for (int i = 0; i < n; i++)
        a[i] += 1;
    } catch (int) {
    }
    for (int i = 0; i < n; i++)
      b[i] += a[i] * 0.5;
  }
}

[[gnu::noinline]] static void around(int n, double *a, double *b) {
  for (int t = 0; t < 6; t++)
    try {
      if (fails())
        throw t;
      for (int i = 0; i < n; i++)
        a[i] *= 0.75;
    } catch (int by) {
      for (int i = 0; i < n; i++)
        b[i] -= by;
    }
}

[[gnu::noinline]] static void behind(int n, double *a, double *b) {
  try {
    for (int t = 0; t < 6; t++) {
      for (int i = 0; i < n; i++)
        a[i] += b[i];
      if (fails())
        throw t;
    }
  } catch (int by) {
    a[0] += by;
  }
  for (int i = 0; i < n; i++)
    b[i] += a[i];
}

int main(int argc, char **argv) {
  int n = argc > 1 ? std::atoi(argv[1]) : 333;
  std::vector<double> a(n + 1), b(n + 1);
  for (auto &v : a)
    v = uniform();
  for (auto &v : b)
    v = uniform();
  before(n, a.data(), b.data());
  around(n, a.data(), b.data());
  behind(n, a.data(), b.data());
  std::uint64_t hash = 7;
  for (double v : a)
    mix(hash, v);
  for (double v : b)
    mix(hash, v);
  std::printf("%016llx\n", static_cast<unsigned long long>(hash));
}
