// A bound that is an unsigned number of 32 bits times four: as many blocks as iterations, not as many as numbers of 32 bits.
// ARGS: 10 1
// ARGS: 3 16
// OFFLOAD: yes
// KERNELS: main.1
#include <cstddef>
#include <cstdio>
#include <cstdlib>

__attribute__((noinline)) static void columns(size_t *a, size_t *b) { __asm__ volatile("" : : "r"(a), "r"(b) : "memory"); }

int main(int, char **argv) {
  size_t n = std::strtoul(argv[1], nullptr, 10);
  unsigned s = 4 * std::atoi(argv[2]) + 1;
  double *m = static_cast<double *>(std::malloc(n * s * sizeof(double)));
  size_t *at = static_cast<size_t *>(std::calloc(n * s, sizeof(size_t)));
  for (size_t row = 0; row < n; row++) {
    columns(&at[row * s], &at[(row + 1) * s]);
    for (size_t k = row * s; k < (row + 1) * s; k++)
      m[k] = 1.0 / (at[k] + row + 1.);
  }
  double t = 0;
  for (size_t i = 0; i < n * s; i++)
    t = t * .5 + m[i];
  std::printf("%a\n", t);
  std::free(m);
  std::free(at);
}
