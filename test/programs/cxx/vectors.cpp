// std::vector in nested loops, through operator[] and through data().
// ARGS: 33 17
// ARGS: 0 0
// ARGS: 1 1
// ARGS: 2 3
// ARGS: 31 65
// OFFLOAD: any
#include "values.hpp"

[[gnu::noinline]] static void kernel(int n, int m, std::vector<double> &A, const std::vector<double> &B) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j)
      A[i * m + j] += B[i * m + j] * 0.5;
  double *a = A.data();
  const double *b = B.data();
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j)
      a[i * m + j] -= b[(n - 1 - i) * m + j];
}

int main(int argc, char **argv) {
  int n = argc > 1 ? std::atoi(argv[1]) : 33, m = argc > 2 ? std::atoi(argv[2]) : 17;
  std::vector<double> A(n * m), B(n * m);
  for (auto &x : A)
    x = uniform();
  for (auto &x : B)
    x = uniform();
  kernel(n, m, A, B);
  std::uint64_t hash = 7;
  for (double x : A)
    mix(hash, x);
  std::printf("%016llx\n", static_cast<unsigned long long>(hash));
}
