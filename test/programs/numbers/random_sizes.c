// Lengths, first places, row lengths and steps that are made of random numbers, which may be any of their type: remainders by numbers and
// arguments, quotients of quotients, upper halves, sums and multiples of these, narrower ones. The generators are in sight.
// ARGS: 7
// ARGS: 12345
// OFFLOAD: yes
// KERNELS: length_of place_of row_of argument_of first_of congruential_of rotated_of narrow_of upper_of narrow_row_of narrow_first_of narrow_rows_of
#include <stdio.h>
#include <stdlib.h>

#define OUT_OF_LINE __attribute__((noinline, annotate("pollyrs: on")))
#define ROOM 8192

static unsigned long state;
static unsigned narrow_state = 2463534242u;
static double out[ROOM];

// Marsaglia, Xorshift RNGs, Journal of Statistical Software 2003.
static unsigned long shifted(void) {
  state ^= state << 13;
  state ^= state >> 7;
  return state ^= state << 17;
}

// Knuth's multiplier (The Art of Computer Programming, volume 2, 3.3.4).
static unsigned long congruential(void) {
  state = state * 6364136223846793005ul + 1442695040888963407ul;
  return state;
}

static unsigned narrow(void) {
  narrow_state ^= narrow_state << 13;
  narrow_state ^= narrow_state >> 17;
  return narrow_state ^= narrow_state << 5;
}

OUT_OF_LINE static void length_of(void) {
  long n = 300 + shifted() % 50;
  for (long i = 0; i < n; i++)
    out[i] += i * 2;
}

OUT_OF_LINE static void place_of(void) {
  long first = shifted() % 77;
  for (long i = 0; i < 700; i++)
    out[i + 2 * first + 5] += i * 0.5;
}

OUT_OF_LINE static void row_of(void) {
  long width = 40 + shifted() % 9;
  for (long i = 0; i < 60; i++)
    for (long j = 0; j < width; j++)
      out[i * width + j] -= i + j;
}

OUT_OF_LINE static void argument_of(unsigned long most) {
  long n = shifted() % most;
  for (long i = 0; i < n + 100; i++)
    out[i + n] += i;
}

OUT_OF_LINE static void first_of(void) {
  int first = (int)(shifted() % 64) + 1;
  for (int i = first; i < 900; i++)
    out[i] *= 0.75;
}

OUT_OF_LINE static void congruential_of(void) {
  long n = (congruential() >> 11) % 500, first = congruential() % 1000 / 10;
  for (long i = 0; i < n; i++)
    out[i + first] += i;
}

OUT_OF_LINE static void rotated_of(void) {
  unsigned long x = congruential();
  long n = ((x << 23 | x >> 41) * 5) % 600;
  for (long i = 0; i < n; i++)
    out[i] -= 3 * i;
}

OUT_OF_LINE static void narrow_of(void) {
  unsigned n = 400 + narrow() % 30;
  for (unsigned i = 0; i < n; i++)
    out[i] += i;
}

OUT_OF_LINE static void upper_of(void) {
  int n = (int)((unsigned)(shifted() >> 32) % 700);
  for (int i = 0; i < n; i++)
    out[i] = out[i] * 0.5 + i;
}

// Of 32 bits, by a divisor that is not 0, or a sum.
OUT_OF_LINE static void narrow_row_of(int most) {
  int rows = narrow() % (unsigned long)(most < 1 ? 1 : most), width = narrow() % (unsigned long)(most < 1 ? 1 : most);
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < width; j++)
      out[i * width + j] += i - j;
}

OUT_OF_LINE static void narrow_first_of(int most) {
  int first = (int)((unsigned long)narrow() % (most + 1));
  for (int i = first; i < first + 700; i++)
    out[i] = out[i] * 0.5 + (i - first);
}

OUT_OF_LINE static void narrow_rows_of(int most) {
  int first = (int)((unsigned long)narrow() % (most + 1)), width = (int)((unsigned long)narrow() % (most + 1));
  for (int i = 0; i < 60; i++)
    for (int j = 0; j < width + 3; j++)
      out[first + i * (width + 3) + j] += j;
}

int main(int argc, char **argv) {
  state = argc > 1 ? strtoul(argv[1], NULL, 10) : 1;
  for (int i = 0; i < ROOM; i++)
    out[i] = (double)(shifted() % 1000) / 9;
  for (int i = 0; i < 12; i++) {
    length_of();
    place_of();
    row_of();
    argument_of(argc > 1 ? 200 + i : 3);
    first_of();
    congruential_of();
    rotated_of();
    narrow_of();
    upper_of();
    narrow_row_of(argc > 1 ? 80 - i : -1);
    narrow_first_of(argc > 1 ? 60 + i : 0);
    narrow_rows_of(argc > 1 ? 70 + i : 2);
  }
  double sum = 0;
  for (int i = 0; i < ROOM; i++)
    sum = sum * 0.999 + out[i];
  printf("%.17g %.17g\n", sum, out[401]);
  return 0;
}
