// The place of a minimum or maximum kept by a pointer or an iterator: std::min_element and max_element of numbers, of integers, by a comparison of
// members, of the rows of a matrix; ties of which the last one counts, and from behind.
// ARGS: 257 5
// ARGS: 1 1
// ARGS: 2 1
// ARGS: 256 16
// ARGS: 4100 41
// OFFLOAD: yes
// KERNELS: _Z4lastPKdS0_ _Z6behindPKdl _Z4rowsRK.* _ZSt13__min_element.* _ZSt13__max_element.*
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define KEEP [[gnu::noinline]] static

struct marked {
  double value;
  int mark;
};

KEEP long least(const std::vector<double> &x) { return std::min_element(x.begin(), x.end()) - x.begin(); }

KEEP long greatest(const std::vector<int> &x) { return std::max_element(x.begin(), x.end()) - x.begin(); }

KEEP int mark_of_least(const std::vector<marked> &x) {
  return std::min_element(x.begin(), x.end(), [](const marked &a, const marked &b) { return a.value < b.value; })->mark;
}

// A NaN would be reported.
[[gnu::noinline]] const double *last(const double *from, const double *to) {
  const double *best = from;
  for (; from != to; ++from)
    if (*from <= *best)
      best = from;
  return best;
}

[[gnu::noinline]] const double *behind(const double *x, long n) {
  const double *best = x + n;
  for (const double *p = best; p-- != x;)
    if (*best < *p)
      best = p;
  return best;
}

[[gnu::noinline]] void rows(const std::vector<double> &x, size_t n, size_t m, std::vector<double> &out) {
  for (size_t i = 0; i < n; i++)
    out[i] = *std::max_element(x.begin() + i * m, x.begin() + (i + 1) * m);
}

int main(int, char **argv) {
  long n = atol(argv[1]), m = atol(argv[2]);
  unsigned state = 12345;
  auto next = [&] { return (state = state * 1103515245u + 12345u) >> 8; };
  std::vector<double> x(n + 1), out(n / m);
  std::vector<int> k(n);
  std::vector<marked> p(n);
  for (auto &v : x)
    v = next() % 97 * 0.5 - 20;
  for (auto &v : k)
    v = next() % 109 - 50;
  for (auto &v : p)
    v = {next() % 89 * 0.25, (int)next()};
  printf("%ld %ld %d\n", least(x), greatest(k), mark_of_least(p));
  printf("%td %td\n", last(x.data(), x.data() + n) - x.data(), behind(x.data(), n) - x.data());
  rows(x, n / m, m, out);
  double sum = 0;
  for (double v : out)
    sum = sum * 0.75 + v;
  printf("%.17g\n", sum);
}
