// Views with layouts as templates, as std::mdspan has them: extents in members, taken one off as unsigned numbers.
// ARGS: 12 14 20
// ARGS: 3 3 3
// ARGS: 2 3 4
// ARGS: 3 2 4
// ARGS: 33 5 32
// OFFLOAD: yes
// KERNELS: _Z9laplacianI.*
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

struct right {
  static size_t at(const std::array<size_t, 3> &e, size_t i, size_t j, size_t k) { return (i * e[1] + j) * e[2] + k; }
};
struct left {
  static size_t at(const std::array<size_t, 3> &e, size_t i, size_t j, size_t k) { return i + e[0] * (j + e[1] * k); }
};

template <class Layout> struct view {
  double *p;
  std::array<size_t, 3> e;
  double &operator()(size_t i, size_t j, size_t k) const { return p[Layout::at(e, i, j, k)]; }
  size_t extent(int d) const { return e[d]; }
};

template <class A, class B> [[gnu::noinline]] void laplacian(A a, B b) {
  for (size_t i = 1; i < a.extent(0) - 1; i++)
    for (size_t j = 1; j < a.extent(1) - 1; j++)
      for (size_t k = 1; k < a.extent(2) - 1; k++)
        b(i, j, k) = a(i - 1, j, k) + a(i + 1, j, k) + a(i, j - 1, k) + a(i, j + 1, k) + a(i, j, k - 1) + a(i, j, k + 1) - 6 * a(i, j, k);
}

static void show(const char *name, const std::vector<double> &v) {
  uint64_t sum = 0, bits;
  for (double x : v) {
    memcpy(&bits, &x, sizeof bits);
    sum = (sum ^ bits) * 0x100000001b3;
  }
  printf("%s %016llx\n", name, (unsigned long long)sum);
}

int main(int, char **argv) {
  std::array<size_t, 3> e{(size_t)atoi(argv[1]), (size_t)atoi(argv[2]), (size_t)atoi(argv[3])};
  size_t count = e[0] * e[1] * e[2];
  std::vector<double> a(count), b(count), c(count);
  for (size_t i = 0; i < count; i++)
    a[i] = (double)(i * 7919 % 1013) * 1e-3 - 0.5;
  laplacian(view<right>{a.data(), e}, view<right>{b.data(), e});
  laplacian(view<left>{b.data(), e}, view<right>{c.data(), e});
  show("b", b);
  show("c", c);
}
