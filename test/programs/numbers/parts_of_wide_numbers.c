// Sizes and offsets that are a part of a number of 64 bits which may be any: remainders, quotients, low bits. The number itself is no
// parameter, which would have to be smaller.
// ARGS: 7
// ARGS: 1
// ARGS: 12345
// OFFLOAD: yes
// KERNELS: remainder_of quotient_of low_of both_of
#include <stdio.h>
#include <stdlib.h>

#define OUT_OF_LINE __attribute__((noinline))
#define ROOM 4096

static unsigned long long state;
static double out[ROOM], in[ROOM];

// The step of Marsaglia's generator (Xorshift RNGs, Journal of Statistical Software 2003).
static unsigned long long next(void) {
  state ^= state << 13;
  state ^= state >> 7;
  return state ^= state << 17;
}

OUT_OF_LINE static unsigned long long mixed(void) {
  return next() * 0x9e3779b97f4a7c15ull;
}

OUT_OF_LINE static void remainder_of(unsigned long long wide) {
  unsigned long long n = wide % 2000;
  for (unsigned long long i = 0; i < n; i++)
    out[i] += in[i] * 2;
}

OUT_OF_LINE static void quotient_of(unsigned long long wide) {
  unsigned long long n = wide / (1ull << 53);
  for (unsigned long long i = 0; i < n; i++)
    out[i] -= in[i];
}

OUT_OF_LINE static void low_of(unsigned long long wide) {
  unsigned long long n = wide & 1023;
  for (unsigned long long i = 0; i < n + 3; i++)
    out[i] += in[i + n] * 0.5;
}

OUT_OF_LINE static void both_of(unsigned long long wide) {
  unsigned long long n = wide % 1500, first = wide / 0x2000000000000000ull;
  for (unsigned long long i = first; i < n + first + 5; i++)
    out[i] = out[i] * 0.75 + in[i + 2 * first];
}

int main(int argc, char **argv) {
  state = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
  for (int i = 0; i < ROOM; i++)
    in[i] = (double)(next() % 1000) / 7, out[i] = (double)(next() % 1000) / 9;
  for (int i = 0; i < 12; i++) {
    remainder_of(mixed());
    quotient_of(mixed());
    low_of(mixed());
    both_of(mixed());
  }
  for (int i = 0; i < ROOM; i += 23)
    printf("%a\n", out[i]);
}
