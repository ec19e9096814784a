// Subscripts that are checked as Rust and Julia check them; at last one check fails in the middle of a nest.
// ARGS: 33 17
// ARGS: 0 0
// ARGS: 1 1
// ARGS: 2 3
// ARGS: 31 65
// OFFLOAD: yes
#include "example.h"

struct slice {
  double *at;
  size_t length;
};

static struct slice A, B, C;

__attribute__((noinline, noreturn)) static void out_of_range(size_t index, size_t length) {
  printf("index %zu out of range for length %zu\n", index, length);
  example_print("C", C.at, A.length);
  exit(0);
}

static inline double *element(struct slice s, size_t index) {
  if (index >= s.length)
    out_of_range(index, s.length);
  return &s.at[index];
}

__attribute__((noinline)) static void product(size_t n, struct slice a, struct slice b, struct slice c) {
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j < n; ++j)
      for (size_t k = 0; k < n; ++k)
        *element(c, i * n + j) += *element(a, i * n + k) * *element(b, k * n + j);
}

__attribute__((noinline)) static void smooth(size_t n, struct slice a, struct slice b) {
  for (size_t i = 1; i + 1 < n; ++i)
    *element(b, i) = *element(a, i - 1) * 0.5 + *element(a, i + 1) * 0.375;
}

int main(int argc, char **argv) {
  size_t n = (size_t)example_arg(argc, argv, 1, 33);
  size_t count = n * n;
  A = (struct slice){example_array(count), count};
  B = (struct slice){example_array(count), count};
  C = (struct slice){example_array(count), count};
  example_fill(A.at, count);
  example_fill(B.at, count);
  example_fill(C.at, count);
  product(n, A, B, C);
  smooth(count, A, C);
  example_print("C", C.at, count);
  if (!count)
    return 0;
  B.length = count / 2;
  product(n, A, B, C);
  C.length -= 1;
  smooth(count + 1, A, C);
  return 0;
}
