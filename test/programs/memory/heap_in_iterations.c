// Small arrays of the heap that each iteration allocates and frees: on one way or on two, as numbers of two types, with a test
// whether there is memory; one that is kept, one that is freed on some ways only, and a large one stay as they are
// ARGS: 300
// ARGS: 0
// ARGS: 1
// ARGS: 65
// OFFLOAD: yes
// KERNELS: turned tested either
#include "example.h"

__attribute__((noinline)) static void turned(int n, double *a, const double *b) {
  for (int i = 0; i < n; i++) {
    double *t = malloc(4 * sizeof(double));
    for (int k = 0; k < 4; k++)
      t[k] = a[4 * i + k] + 2 * b[4 * i + 3 - k];
    for (int k = 0; k < 4; k++)
      a[4 * i + k] = t[3 - k];
    free(t);
  }
}

__attribute__((noinline)) static int tested(int n, float *a) {
  for (int i = 0; i < n; i++) {
    float *t = malloc(6 * sizeof(float));
    if (!t)
      return -1;
    memset(t, 0, 6 * sizeof(float));
    for (int k = 0; k < 6; k++)
      for (int l = 0; l <= k; l++)
        t[k] += a[6 * i + l];
    memcpy(a + 6 * i, t, 6 * sizeof(float));
    free(t);
  }
  return 0;
}

__attribute__((noinline)) static void either(int n, int *a, int by) {
  for (int i = 0; i < n; i++) {
    int *t = malloc(3 * sizeof(int));
    t[0] = a[i] + by, t[1] = a[i] * by, t[2] = i;
    if (by > 2) {
      a[i] = t[0] - t[2];
      free(t);
    } else {
      a[i] = t[1] ^ t[2];
      free(t);
    }
  }
}

// The last one is handed out.
__attribute__((noinline)) static int *kept(int n, int *a) {
  int *last = NULL;
  for (int i = 0; i < n; i++) {
    int *t = malloc(2 * sizeof(int));
    t[0] = a[i] + 1, t[1] = i;
    a[i] = t[0] * 3;
    if (i == n - 1)
      last = t;
    else
      free(t);
  }
  return last;
}

// Each is freed one iteration later.
__attribute__((noinline)) static int late(int n, int *a) {
  int *before = NULL, sum = 0;
  for (int i = 0; i < n; i++) {
    int *t = malloc(2 * sizeof(int));
    t[0] = a[i], t[1] = before ? before[0] : 7;
    sum = (sum * 3 + t[1]) % 10007;
    free(before);
    before = t;
  }
  free(before);
  return sum;
}

__attribute__((noinline)) static void large(int n, double *a) {
  for (int i = 0; i < n; i++) {
    double *t = malloc(4096 * sizeof(double));
    for (int k = 0; k < 4; k++)
      t[1000 * k] = a[4 * i + k];
    for (int k = 0; k < 4; k++)
      a[4 * i + k] = t[3000 - 1000 * k];
    free(t);
  }
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 300);
  double *a = malloc(sizeof(double) * (4 * n + 1)), *b = malloc(sizeof(double) * (4 * n + 1));
  float *f = malloc(sizeof(float) * (6 * n + 1));
  int *p = malloc(sizeof(int) * (n + 1));
  for (int i = 0; i < 4 * n; i++)
    a[i] = example_uniform(), b[i] = example_uniform();
  for (int i = 0; i < 6 * n; i++)
    f[i] = (float)example_uniform();
  for (int i = 0; i < n; i++)
    p[i] = (int)(example_bits() % 1000);
  turned(n, a, b);
  int failed = tested(n, f);
  either(n, p, 3);
  either(n, p, 2);
  int *last = kept(n, p);
  int sum = late(n, p);
  large(n, a);
  double total = 0;
  for (int i = 0; i < 4 * n; i++)
    total = total * 0.999 + a[i];
  for (int i = 0; i < 6 * n; i++)
    total = total * 0.999 + f[i];
  for (int i = 0; i < n; i++)
    sum = (sum * 31 + p[i]) % 1000003;
  printf("%.17g %d %d %d\n", total, failed, sum, last ? last[0] + last[1] : -1);
  free(last), free(a), free(b), free(f), free(p);
  return 0;
}
