// What a loop over data leaves in a number (a sum, a count, the place of a maximum) bounds a later loop, is its condition, or shifts its subscripts, behind a check of sizes: both run on the
// device, alone and in a loop over time that stays on the host.
// ARGS: 700 3
// ARGS: 0 2
// ARGS: 1 1
// ARGS: 2 2
// ARGS: 257 4
// OFFLOAD: yes
// KERNELS: summed.1 summed.2 counted.1 counted.2 compacted.1 compacted.2 shifted.1 shifted.2 stepped
#define TYPE int
#include "example.h"

#define NOINLINE __attribute__((noinline)) static

/* A condition of the sum. */
NOINLINE void summed(int n, const int *restrict v, int *restrict w) {
  if (n < 2)
    return;
  unsigned sum = 0;
  for (int i = 0; i < n; i++)
    sum += v[i] & 7;
  if (sum > 7)
    for (int i = 0; i < n; i++)
      w[i] += sum + v[i];
}

/* As many as were counted. */
NOINLINE void counted(int n, const int *restrict v, int *restrict w) {
  if (n < 2)
    return;
  int count = 0;
  for (int i = 0; i < n; i++)
    count += v[i] % 3 == 0;
  for (int i = 0; i < count; i++)
    w[i] = 2 * w[i] + count;
}

/* As many as were kept. */
NOINLINE int compacted(int n, const int *restrict v, int *restrict kept) {
  if (n < 2)
    return 0;
  int k = 0;
  for (int i = 0; i < n; i++)
    if (v[i] % 5 > 1)
      kept[k++] = v[i];
  for (int i = 0; i < k; i++)
    kept[i] = 3 * kept[i] + 1;
  return k;
}

/* From the place of the greatest one on. */
NOINLINE void shifted(int n, const int *restrict v, int *restrict w) {
  if (n < 2)
    return;
  int place = 0;
  for (int i = 0; i < n; i++)
    if (v[i] > v[place])
      place = i;
  for (int i = place; i < n; i++)
    w[i - place] += v[i];
}

/* A sum in each step, of which the next step is made. */
NOINLINE void stepped(int n, int times, int *restrict v, int *restrict w) {
  if (n < 2)
    return;
  for (int t = 0; t < times; t++) {
    unsigned odd = 0;
    for (int i = 0; i < n; i++)
      odd += v[i] & 1;
    if (odd > 3)
      for (int i = 0; i < n; i++)
        w[i] += v[i] + odd;
    for (int i = 0; i < n; i++)
      v[i] = w[i] / 2 + t;
  }
}

int main(int argc, char **argv) {
  int n = example_arg(argc, argv, 1, 700), times = example_arg(argc, argv, 2, 3);
  int *v = example_array(n), *w = example_array(n), *kept = example_array(n);
  example_fill(v, n);
  example_fill(w, n);
  example_fill(kept, n);
  for (int i = 0; i < n; i++)
    v[i] = (i * 7919 + 13) % 1009;
  summed(n, v, w);
  counted(n, v, w);
  int k = compacted(n, v, kept);
  shifted(n, v, w);
  stepped(n, times, v, w);
  printf("%d kept\n", k);
  example_print("w", w, n);
  example_print("v", v, n);
  example_print("kept", kept, n);
  free(v);
  free(w);
  free(kept);
}
