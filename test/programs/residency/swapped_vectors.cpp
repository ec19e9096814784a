// std::swap of two vectors after each time step.
// ARGS: 5 33 17
// ARGS: 0 9 9
// ARGS: 4 3 50
// OFFLOAD: yes
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

[[gnu::noinline]] static std::vector<double> smooth(int steps, int n, int m, const std::vector<double> &start) {
  std::vector<double> from(start), to(start);
  for (int t = 0; t < steps; ++t) {
    for (int i = 1; i < n - 1; ++i)
      for (int j = 1; j < m - 1; ++j)
        to[i * m + j] = 0.4 * from[i * m + j] + 0.15 * (from[(i - 1) * m + j] + from[(i + 1) * m + j]) +
                        0.15 * (from[i * m + j - 1] + from[i * m + j + 1]);
    std::swap(from, to);
  }
  return from;
}

int main(int argc, char **argv) {
  int steps = argc > 1 ? std::atoi(argv[1]) : 5;
  int n = argc > 2 ? std::atoi(argv[2]) : 33, m = argc > 3 ? std::atoi(argv[3]) : 17;
  std::vector<double> A(static_cast<std::size_t>(n) * m);
  unsigned state = 1;
  for (double &x : A) {
    state = state * 1664525u + 1013904223u;
    x = static_cast<double>(state) * 0x1p-31 - 1.0;
  }
  std::vector<double> last = smooth(steps, n, m, A);
  for (std::size_t i = 0; i < last.size(); ++i)
    std::printf("%a\n", last[i]);
  return 0;
}
