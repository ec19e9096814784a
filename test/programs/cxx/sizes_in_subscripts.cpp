// Sizes of vectors in subscripts: what is between two addresses is one number, wherever it is (a reversed vector, its last element, mirrored exchanges, a flipped kernel, an appended
// part), also of two pointers and of the words of a loop in steps. Where arrays overlap the original loop runs.
// ARGS: 333 9
// ARGS: 1 1
// ARGS: 5 5
// ARGS: 0 0
// ARGS: 2000 1
// OFFLOAD: partial
// FALLBACK: overlap
// KERNELS: reversed last mirrored flipped appended between counted halves narrow in_steps
#include "values.hpp"
#include <algorithm>
#include <numeric>
#include <utility>

using Vector = std::vector<double>;

[[gnu::noinline]] static void reversed(const Vector &a, Vector &c) {
  for (std::size_t i = 0; i < a.size(); ++i)
    c[i] = a[a.size() - 1 - i] * 0.5;
}

[[gnu::noinline]] static void last(Vector &c) {
  for (std::size_t i = 0; i + 1 < c.size(); ++i)
    c[i] += c[c.size() - 1];
}

[[gnu::noinline]] static void mirrored(Vector &a) {
  for (std::size_t i = 0; i < a.size() / 2; ++i)
    std::swap(a[i], a[a.size() - 1 - i]);
}

[[gnu::noinline]] static void flipped(const Vector &a, const Vector &k, Vector &c) {
  for (std::size_t i = 0; i + k.size() <= a.size(); ++i) {
    double sum = 0;
    for (std::size_t j = 0; j < k.size(); ++j)
      sum += a[i + j] * k[k.size() - 1 - j];
    c[i] = sum;
  }
}

[[gnu::noinline]] static void appended(const Vector &a, Vector &c) {
  std::size_t from = a.size();
  for (std::size_t i = 0; i < c.size() - from; ++i)
    c[from + i] = a[0] * (double)i;
}

[[gnu::noinline]] static void between(const double *begin, const double *end, double *out) {
  long n = end - begin;
  for (long i = 0; i < n; ++i)
    out[i] = begin[n - 1 - i] + 1;
}

// The loop counts by a quotient of its own, `(end - begin - 8) / 8`.
[[gnu::noinline]] static void counted(const double *begin, const double *end, double *out) {
  for (const double *p = begin; p != end; ++p)
    out[p - begin] = begin[end - p - 1] * 0.25;
}

// Two sizes in one subscript.
[[gnu::noinline]] static void halves(const Vector &a, const Vector &b, Vector &c) {
  for (std::size_t i = 0; i < b.size(); ++i)
    c[i + a.size()] = a[a.size() - 1] + b[b.size() - 1 - i];
}

[[gnu::noinline]] static void narrow(const std::vector<float> &a, std::vector<float> &c) {
  int n = (int)a.size();
  for (int i = 0; i < n; ++i)
    c[i] = a[n - 1 - i] * 2;
}

struct Point {
  double x, y, z;
};

// A size by a number that is no power of two, in a loop over steps.
[[gnu::noinline]] static void in_steps(std::vector<Point> &a, int steps) {
  for (int t = 0; t < steps; ++t) {
    for (std::size_t i = 0; i < a.size() / 2; ++i)
      a[i].x += a[a.size() - 1 - i].y * 0.125;
    for (std::size_t i = 0; i < a.size(); ++i)
      a[i].y += a[i].z;
  }
}

static void fill(Vector &v) {
  for (auto &x : v)
    x = uniform();
}

int main(int argc, char **argv) {
  int n = argc > 1 ? std::atoi(argv[1]) : 333, m = argc > 2 ? std::atoi(argv[2]) : 9;
  Vector a(n), b(n), c(2 * n + 1), k(m), all;
  fill(a), fill(b), fill(c), fill(k);
  auto keep = [&](const Vector &v) { all.insert(all.end(), v.begin(), v.end()); };
  reversed(a, c), keep(c);
  last(c), keep(c);
  mirrored(a), keep(a);
  flipped(a, k, c), keep(c);
  if (n)
    appended(a, c), keep(c);
  between(a.data(), a.data() + n, c.data()), keep(c);
  counted(a.data(), a.data() + n, c.data()), keep(c);
  if (n)
    halves(a, b, c), keep(c);
  std::vector<float> f(n), g(n);
  for (auto &x : f)
    x = (float)uniform();
  narrow(f, g);
  keep(Vector(g.begin(), g.end()));
  std::vector<Point> points(n);
  for (auto &p : points)
    p = {uniform(), uniform(), uniform()};
  in_steps(points, 4);
  for (auto &p : points)
    all.push_back(p.x + p.y * 3);
  // What is written is read later, or was before: the original loop.
  if (n > 1000) {
    between(c.data(), c.data() + n, c.data() + n / 2), keep(c);
    between(c.data() + n / 2, c.data() + n / 2 + n, c.data()), keep(c);
    counted(c.data(), c.data() + n, c.data() + 1), keep(c);
  }
  std::uint64_t hash = 7;
  for (double v : all)
    mix(hash, v);
  std::printf("%016llx\n", static_cast<unsigned long long>(hash));
}
