// What the programs in C++ share: random data, and one line for each loop with a hash of what it wrote. The same numbers come in every run.
#pragma once
#include <cstdio>
#include <cstring>
#include <random>
#include <vector>

#define LOOP __attribute__((noinline))

inline std::mt19937_64 engine(42);

template <class T> std::vector<T> randoms(std::size_t n, T low, T high) {
  std::vector<T> v(n);
  for (auto &x : v)
    x = low + static_cast<T>((engine() >> 11) * 0x1p-53 * (high - low));
  return v;
}

template <class T> std::vector<std::vector<T>> random_rows(std::size_t n, std::size_t m) {
  std::vector<std::vector<T>> v;
  for (std::size_t i = 0; i < n; i++)
    v.push_back(randoms<T>(m, T(0.5), T(1.5)));
  return v;
}

struct Hash {
  unsigned long long h = 1469598103934665603ull;
  template <class T> Hash &add(const T *p, std::size_t n) {
    auto b = reinterpret_cast<const unsigned char *>(p);
    for (std::size_t i = 0; i < n * sizeof(T); i++)
      h = (h ^ b[i]) * 1099511628211ull;
    return *this;
  }
  template <class T> Hash &add(const T &v) { return add(&v, 1); }
  template <class T> Hash &add(const std::vector<T> &v) { return add(v.data(), v.size()); }
  template <class T> Hash &add(const std::vector<std::vector<T>> &v) {
    for (auto &row : v)
      add(row);
    return *this;
  }
  void show(const char *name) {
    std::printf("%s %016llx\n", name, h);
    std::fflush(stdout);
  }
};

#define SHOW(name, what) Hash().add(what).show(#name)
