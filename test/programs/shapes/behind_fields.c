// A table at the end of a structure, behind numbers that no row of the table has room for: a stage of a Fourier transform of radix 3,
// whose factors are `step` and `2 * step` apart. Whatever the step, it runs on the device.
// OFFLOAD: yes
// ARGS: 1 1
// ARGS: 7 2
// ARGS: 30 40
// ARGS: 65 33
#include <stdio.h>
#include <stdlib.h>

typedef struct {
  float r, i;
} complex_t;

typedef struct {
  int n;
  int inverse;
  int factors[64];
  complex_t table[1];
} plan_t;

__attribute__((noinline)) static void stage(complex_t *out, size_t step, const plan_t *plan, size_t m) {
  const complex_t *one = plan->table, *two = plan->table;
  const complex_t root = plan->table[step * m];
  size_t k = m;
  do {
    complex_t a = {out[m].r * one->r - out[m].i * one->i, out[m].r * one->i + out[m].i * one->r};
    complex_t b = {out[2 * m].r * two->r - out[2 * m].i * two->i, out[2 * m].r * two->i + out[2 * m].i * two->r};
    complex_t sum = {a.r + b.r, a.i + b.i}, difference = {root.i * (a.r - b.r), root.i * (a.i - b.i)};
    one += step;
    two += 2 * step;
    out[m].r = out->r - 0.5f * sum.r;
    out[m].i = out->i - 0.5f * sum.i;
    out->r += sum.r;
    out->i += sum.i;
    out[2 * m].r = out[m].r + difference.i;
    out[2 * m].i = out[m].i - difference.r;
    out[m].r -= difference.i;
    out[m].i += difference.r;
    ++out;
  } while (--k);
}

int main(int argc, char **argv) {
  const size_t m = argc > 1 ? atoi(argv[1]) : 100, step = argc > 2 ? atoi(argv[2]) : 5, n = 3 * m * step;
  plan_t *plan = malloc(sizeof(plan_t) + n * sizeof(complex_t));
  complex_t *data = malloc(3 * m * sizeof(complex_t));
  unsigned seed = 7;
  for (size_t k = 0; k < n; k++) {
    seed = seed * 1664525 + 1013904223;
    plan->table[k] = (complex_t){(float)(seed >> 16) / 65536, (float)(seed & 0xffff) / 65536};
  }
  for (size_t k = 0; k < 3 * m; k++) {
    seed = seed * 1664525 + 1013904223;
    data[k] = (complex_t){(float)(seed >> 16) / 65536, (float)(seed & 0xffff) / 65536};
  }
  stage(data, step, plan, m);
  for (size_t k = 0; k < 3 * m; k++)
    printf("%a %a\n", data[k].r, data[k].i);
  free(data);
  free(plan);
  return 0;
}
