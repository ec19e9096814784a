// Sizes in unsigned numbers of 8 and 16 bits, beyond the largest signed ones, in members and behind pointers; and signed ones beside them, which may be negative.
// ARGS: 200 40000 -3 5
// ARGS: 128 32768 0 2
// ARGS: 127 32767 -128 127
// ARGS: 255 65535 7 -9
// ARGS: 0 3 -5 5
// ARGS: 3 0 1 0
// OFFLOAD: yes
// KERNELS: image rows shifted counted
#include "example.h"

struct sizes {
  unsigned char width, other;
  unsigned short length;
  signed char from, to;
};

__attribute__((noinline)) static void image(const struct sizes *s, TYPE *a) {
  for (int i = 0; i < 40; i++)
    for (int j = 0; j < s->width; j++)
      a[i * s->width + j] += i - j;
}

__attribute__((noinline)) static void rows(const struct sizes *s, TYPE *a) {
  for (int i = 0; i < s->length; i++)
    a[i] += a[70000 + i] * s->other;
}

__attribute__((noinline)) static void shifted(const struct sizes *s, TYPE *a) {
  for (int i = s->from; i < s->to; i++)
    a[i + 300] -= s->from;
}

__attribute__((noinline)) static void counted(const unsigned char *n, const unsigned short *m, TYPE *a) {
  for (int i = 0; i < *n; i++)
    for (int j = 0; j < *m && j < 500; j++)
      a[i * 500 + j] += *n - i;
}

int main(int argc, char **argv) {
  struct sizes s = {(unsigned char)example_arg(argc, argv, 1, 200), (unsigned char)(example_arg(argc, argv, 1, 200) ^ 129),
                    (unsigned short)example_arg(argc, argv, 2, 40000), (signed char)(argc > 3 ? atoi(argv[3]) : -3), (signed char)(argc > 4 ? atoi(argv[4]) : 5)};
  size_t size = 140000;
  TYPE *a = example_array(size);
  example_fill(a, size);
  image(&s, a);
  rows(&s, a);
  shifted(&s, a);
  counted(&s.width, &s.length, a);
  example_print("a", a, size);
}
