// Functions that throw, around and inside loops; an exception leaves a loop half done.
// ARGS: 333
// ARGS: 0
// ARGS: 5
// OFFLOAD: yes
// KERNELS: plainiPd
#include <stdexcept>

#include "values.hpp"

[[gnu::noinline]] static double checked(double x) {
  if (x > 0.96875)
    throw std::runtime_error("too large");
  return x * 0.5;
}

[[gnu::noinline]] static int throwing(std::vector<double> &A) {
  int done = 0;
  try {
    for (auto &x : A) {
      x = checked(x);
      ++done;
    }
  } catch (const std::runtime_error &e) {
    std::printf("%s after %d\n", e.what(), done);
  }
  return done;
}

[[gnu::noinline]] static void plain(int n, double *a) {
  try {
    for (int i = 0; i < n; ++i)
      a[i] = a[i] * 1.5 + 1.0;
    if (n > 20)
      throw n;
  } catch (int size) {
    std::printf("size %d\n", size);
  }
}

int main(int argc, char **argv) {
  int n = argc > 1 ? std::atoi(argv[1]) : 33;
  std::vector<double> A(n);
  for (auto &x : A)
    x = uniform();
  std::printf("%d\n", throwing(A));
  plain(n, A.data());
  std::uint64_t hash = 7;
  for (double x : A)
    mix(hash, x);
  std::printf("%016llx\n", static_cast<unsigned long long>(hash));
}
