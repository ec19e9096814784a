// Sizes of vectors in the bounds of nested loops: of the vector that is written, of the first row, of vectors of arrays whose elements are assigned whole.
// ARGS: 33 17
// ARGS: 0 0
// ARGS: 1 1
// ARGS: 2 3
// ARGS: 31 65
// OFFLOAD: partial
// FALLBACK: overlap
// KERNELS: _ZL4rows\w*
// KERNELS: _ZL5grown\w*
#include <array>

#include "values.hpp"

using Points = std::vector<std::array<float, 3>>;
using Matrix = std::vector<std::vector<double>>;

[[gnu::noinline]] static void sums(Points &p, Points &f) {
  for (std::size_t i = 0; i < p.size(); i++) {
    float s = 0;
    for (std::size_t j = 0; j < p.size(); j++)
      s += p[j][0] - p[i][1];
    f[i] = {s, 2 * s, p[i][2]};
  }
}

[[gnu::noinline]] static void rows(const Matrix &in, Matrix &out) {
  for (std::size_t i = 1; i + 1 < in.size(); i++)
    for (std::size_t j = 1; j + 1 < in[0].size(); j++)
      out[i][j] = in[i - 1][j] + in[i + 1][j] - in[i][j - 1];
}

[[gnu::noinline]] static void grown(std::vector<double> &a, std::vector<long> &b) {
  for (std::size_t i = 0; i < a.size(); i++)
    for (std::size_t j = 0; j < b.size(); j++)
      a[i] += static_cast<double>(b[j] % 7) * 0.25;
}

int main(int argc, char **argv) {
  int n = argc > 1 ? std::atoi(argv[1]) : 33, m = argc > 2 ? std::atoi(argv[2]) : 17;
  Points p(n), f(n);
  for (auto &point : p)
    for (float &x : point)
      x = static_cast<float>(uniform());
  std::uint64_t hash = 1;
  auto print = [&](const char *name) { std::printf("%s %016llx\n", name, static_cast<unsigned long long>(hash)); };
  auto all = [&](const Points &points) {
    for (const auto &point : points)
      for (float x : point)
        mix(hash, x);
  };
  sums(p, f);
  all(f);
  print("sums");
  // One vector twice: what was written is read again.
  sums(p, p);
  all(p);
  print("in place");
  Matrix in(n, std::vector<double>(m)), out(n, std::vector<double>(m));
  for (auto &row : in)
    for (double &x : row)
      x = uniform();
  if (n)
    rows(in, out);
  for (const auto &row : out)
    for (double x : row)
      mix(hash, x);
  print("rows");
  std::vector<double> a(n, 0.5);
  std::vector<long> b(m);
  for (int i = 0; i < m; i++)
    b[i] = 3 * i + 1;
  grown(a, b);
  for (double x : a)
    mix(hash, x);
  print("grown");
  return 0;
}
