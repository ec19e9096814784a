// Matrices as vectors of vectors: products, steps between two of them that change places, and rows of different lengths.
// ARGS: 33 17
// ARGS: 2 3
// ARGS: 40 65
// OFFLOAD: yes
// KERNELS: step scale
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

using Matrix = std::vector<std::vector<double>>;

static Matrix filled(size_t n, size_t m) {
  static unsigned state = 1;
  Matrix a(n, std::vector<double>(m));
  for (auto &row : a)
    for (double &x : row)
      x = (int)(state = state * 1664525u + 1013904223u) * 0x1p-31;
  return a;
}

__attribute__((noinline)) static void multiply(int n, int m, int p, const Matrix &a, const Matrix &b, Matrix &c) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j)
      for (int k = 0; k < p; ++k)
        c[i][j] += a[i][k] * b[k][j];
}

__attribute__((noinline)) static void step(const Matrix &u, Matrix &v) {
  for (size_t i = 1; i + 1 < u.size(); ++i)
    for (size_t j = 1; j + 1 < u[0].size(); ++j)
      v[i][j] = u[i][j] + 0.1 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1] - 4 * u[i][j]);
}

__attribute__((noinline)) static void scale(Matrix &a, int n, int m, double by) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j)
      a[i][j] = by * a[i][j] + i - j;
}

static void print(const char *name, const Matrix &a) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i)
    for (size_t j = 0; j < a[i].size(); ++j)
      sum += a[i][j] * (double)(1 + (i + 3 * j) % 11);
  printf("%s %.17g\n", name, sum);
}

int main(int argc, char **argv) {
  size_t n = argc > 1 ? std::atoi(argv[1]) : 33, m = argc > 2 ? std::atoi(argv[2]) : 17;
  Matrix a = filled(n, m), b = filled(m, n), c(n, std::vector<double>(n));
  multiply((int)n, (int)n, (int)m, a, b, c);
  print("product", c);
  Matrix d = filled(n, n);
  for (int t = 0; t < 4; ++t) {
    step(c, d);
    std::swap(c, d);
  }
  print("stepped", c);
  for (size_t i = 0; i < n; ++i)
    a[i].resize(m + i % 3);
  scale(a, (int)n, (int)m, 0.5);
  print("uneven", a);
  scale(b, (int)m, (int)n, 0.25);
  print("scaled", b);
  return 0;
}
