// A second loop goes on where the first one ended, twice, with a call between: the bound that both pairs have is computed anew for the
// second pair, as the counter of the first one does not live on; palettes with a count of what is transparent.
// ARGS: 700 1100
// ARGS: 0 7
// ARGS: 7 7
// ARGS: -5 300
// ARGS: 300 -5
// OFFLOAD: yes
#include <stdio.h>
#include <stdlib.h>

typedef struct {
  unsigned char red, green, blue, alpha;
} colour;

// The calls are no part of any region.
static volatile unsigned seen;

__attribute__((noinline)) static void look(const unsigned char *bytes, int count) {
  for (int i = 0; i < count; ++i)
    seen = seen * 31 + bytes[i];
}

__attribute__((noinline)) static void palette(const colour *from, unsigned char *red, unsigned char *alpha, int n, int m, int transparent) {
  int i;
  for (i = 0; i < n; ++i)
    red[i] = from[i].red;
  for (; i < m; ++i)
    red[i] = 42;
  look(red, m);
  if (transparent) {
    int j;
    for (i = j = 0; i < n; ++i)
      if ((alpha[i] = from[i].alpha) < 255)
        j = i + 1;
    for (; i < m; ++i)
      alpha[i] = 24;
    if (j > 0)
      look(alpha, j);
  }
}

int main(int argc, char **argv) {
  int n = atoi(argv[1]), m = atoi(argv[2]), most = (n > m ? n : m) > 0 ? (n > m ? n : m) : 1;
  colour *from = malloc(most * sizeof *from);
  unsigned char *red = calloc(most, 1), *alpha = calloc(most, 1);
  for (int k = 0; k < most; ++k)
    from[k] = (colour){k * 7, k * 3, k, k * 5 % 11 < 3 && k * 3 < 2 * most ? k % 255 : 255};
  palette(from, red, alpha, n, m, 0);
  palette(from, red, alpha, n, m, 1);
  unsigned sum = seen;
  for (int k = 0; k < most; ++k)
    sum = sum * 31 + red[k] * 7 + alpha[k];
  printf("%u %u\n", seen, sum);
  free(from);
  free(red);
  free(alpha);
}
