// One buffer is mapped at two addresses, side by side: a ring buffer that wraps round by itself. What is written at the one is read at the
// other, by another loop, by the same one, and past the middle.
// ARGS: 1024
// OFFLOAD: any
#define _GNU_SOURCE
#define TYPE float
#include "example.h"
#include <sys/mman.h>
#include <unistd.h>

#define OUT_OF_LINE __attribute__((noinline))

OUT_OF_LINE static void produce(float *b, int n) {
  for (int i = 0; i < n; i++)
    b[i] = i + 1;
}

OUT_OF_LINE static void twice(float *o, const float *b, int n) {
  for (int i = 0; i < n; i++)
    o[i] = b[i] * 2;
}

static double rounds(float *a, float *b, float *out, int n) {
  double sum = 0;
  for (int t = 0; t < 4; t++) {
    produce(a + n / 2, n);
    twice(out, a, n);
    twice(a, out, n);
    twice(out, b, n);
    sum += out[n - 1] + out[0];
  }
  return sum;
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 1024);
  size_t bytes = (size_t)sysconf(_SC_PAGESIZE);
  if (n != (int)(bytes / sizeof(float)))
    return 0;
  int file = memfd_create("ring", 0);
  if (file < 0 || ftruncate(file, bytes))
    return 0;
  char *room = mmap(0, 2 * bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  float *a = mmap(room, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0);
  float *b = mmap(room + bytes, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0);
  if (a == MAP_FAILED || b == MAP_FAILED)
    return 2;
  float *out = example_array(n);
  produce(a + n / 2, n);
  twice(out, a, n);
  example_print("out", out, n);
  twice(a, b, n);
  example_print("a", a, n);
  printf("%.9g\n", rounds(a, b, out, n));
  free(out);
  return 0;
}
