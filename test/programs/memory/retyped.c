// One block of memory is used as integers, then as floats: a store changes the type of what is there. Two such arrays of a SCoP are compared
// whatever their types are; and a pool hands the same bytes out again.
// ARGS: 1500
// ARGS: 7
// OFFLOAD: partial
// STAYS: pooled_in_one: its arrays are one
#define TYPE float
#include "example.h"

#define OUT_OF_LINE __attribute__((noinline))

OUT_OF_LINE static void both(int *a, float *b, int k, int n) {
  for (int i = 0; i < n; i++)
    a[i] = i;
  for (int i = 0; i < n; i++)
    b[i + k] = i;
}

OUT_OF_LINE static void scaled(int *a, float *b, float scale, int n) {
  for (int i = 0; i < n; i++)
    a[i] = 3 * i;
  for (int i = 0; i < n; i++)
    b[i] = a[i] * scale;
}

OUT_OF_LINE static void backwards(float *b, const int *a, int n) {
  for (int i = 0; i < n; i++)
    b[i] = a[n - 1 - i] + 1;
}

static char *pool;
static size_t used;

OUT_OF_LINE static void *get(size_t bytes) {
  void *block = pool + used;
  used += (bytes + 15) & ~(size_t)15;
  return block;
}

OUT_OF_LINE static void reset(void) { used = 0; }

OUT_OF_LINE static double pooled(int n, int *out, float *other) {
  int *a = get(n * 4);
  for (int i = 0; i < n; i++)
    a[i] = i * 3;
  for (int i = 0; i < n; i++)
    out[i] = a[n - 1 - i] + 1;
  reset();
  float *b = get(n * 4);
  for (int i = 0; i < n; i++)
    b[i] = i * 0.5f;
  for (int i = 0; i < n; i++)
    other[i] = b[n - 1 - i] + 1;
  return b[n / 2];
}

OUT_OF_LINE static double pooled_in_one(int n, int *out) {
  int *a = get(n * 4);
  reset();
  float *b = get(n * 4);
  for (int i = 0; i < n; i++)
    a[i] = i * 3;
  for (int i = 0; i < n; i++)
    out[i] = a[n - 1 - i] + 1;
  for (int i = 0; i < n; i++)
    b[i] = i * 0.5f;
  return b[n / 2];
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 1500);
  float *f = calloc(2 * n + 300, 4);
  int *out = calloc(n, 4);
  float *other = calloc(n, 4);
  both((int *)f, f, 0, n);
  example_print("f", f, 2 * n);
  both((int *)f, f, 300, n);
  example_print("f", f + 300, n);
  both((int *)f, f + n, 0, n); // apart
  example_print("f", f + n, n);
  scaled((int *)f, f, 0.5f, n);
  example_print("f", f, n);
  scaled((int *)f + n, f, 0.5f, n); // apart
  backwards(f, (int *)f + n, n);
  example_print("f", f, n);
  pool = calloc(n, 40);
  double d = pooled(n, out, other);
  printf("%a %d %a\n", d, out[n / 3], other[n / 3]);
  reset();
  d = pooled_in_one(n, out);
  printf("%a %d %a\n", d, out[n / 3], ((float *)pool)[n - 1]);
  free(f), free(out), free(other), free(pool);
  return 0;
}
