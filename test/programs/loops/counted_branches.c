// What is counted, summed up and multiplied behind branches on data, beside stores under the same branches: several kinds, several ways back to the head of a loop,
// values that are looked at in between, and members of a structure under conditions.
// ARGS: 700 13
// ARGS: 1 1
// ARGS: 33 40
// OFFLOAD: yes
// KERNELS: kinds again pairs
#include "example.h"

__attribute__((noinline)) long kinds(int n, const double *restrict a, const int *restrict w, double *restrict b, int *restrict out) {
  int low = 0, high = 0, odd = 0, bits = 0;
  long weight = 1;
  for (int i = 0; i < n; i++) {
    double x = a[i];
    int v = w[i];
    if (x != x) {
      odd -= 3;
      continue;
    }
    if (x < 0.2) {
      low++;
      b[i] = 0;
      continue;
    }
    if (x > 0.7) {
      high += v;
      weight *= 3;
      bits ^= v;
    } else {
      b[i] = x;
      weight *= v | 1;
      bits ^= 1 << (v & 15);
    }
  }
  out[0] = low;
  out[1] = high;
  out[2] = odd;
  out[3] = bits;
  return weight;
}

__attribute__((noinline)) int again(int n, int m, const double *restrict a, double *restrict b) {
  int bad = 0;
  for (int j = 0; j < m; j++) {
    int i = 0;
    while (i < n) {
      int at = i++;
      if (a[j * n + at] < 0.5) {
        bad++;
        continue;
      }
      b[j * n + at] = a[j * n + at] * 2;
      if (b[j * n + at] > 1.5)
        bad += 2;
    }
  }
  return bad;
}

// The number so far is a place, or what is stored.
__attribute__((noinline)) int positions(int n, const double *restrict a, int *restrict at, int *restrict before) {
  int found = 0;
  for (int i = 0; i < n; i++) {
    before[i] = found;
    if (a[i] > 0.6)
      at[found++] = i;
  }
  return found;
}

struct points {
  int n;
  double *x, *y, *force;
};

__attribute__((noinline)) int pairs(struct points *p, double cut) {
  int near = 0;
  for (int i = 0; i < p->n; i++) {
    double sum = 0;
    for (int j = 0; j < p->n; j++) {
      if (j == i)
        continue;
      double dx = p->x[i] - p->x[j], dy = p->y[i] - p->y[j], r = dx * dx + dy * dy;
      if (r > cut)
        continue;
      sum += dx / (r + 0.01);
      near++;
    }
    p->force[i] = sum;
  }
  return near;
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 700), m = (int)example_arg(argc, argv, 2, 13);
  size_t all = (size_t)n * m;
  double *a = example_array(all), *b = example_array(all);
  int *w = malloc(all * sizeof *w), *at = malloc(all * sizeof *at), out[4];
  example_fill(a, all);
  example_fill(b, all);
  double least = a[0], most = a[0];
  for (size_t i = 0; i < all; i++) {
    w[i] = (int)(i * 37 % 101) - 30;
    at[i] = -1;
    least = a[i] < least ? a[i] : least;
    most = a[i] > most ? a[i] : most;
  }
  for (size_t i = 0; i < all; i++)
    a[i] = most > least ? (a[i] - least) / (most - least) : 0.4;
  a[all / 2] = __builtin_nan("");
  long weight = kinds((int)all, a, w, b, out);
  printf("%ld %d %d %d %d\n", weight, out[0], out[1], out[2], out[3]);
  a[all / 2] = 0.3;
  example_print("kinds", b, all);
  printf("%d\n", again(n, m, a, b));
  example_print("again", b, all);
  printf("%d\n", positions((int)all, a, at, w));
  for (size_t i = 0; i < all; i += 1 + all / 20)
    printf("%d %d\n", at[i], w[i]);
  struct points p = {n, a, a + (m > 1 ? n : 0), b};
  printf("%d\n", pairs(&p, 0.1));
  example_print("pairs", b, (size_t)n);
  p.n = 0;
  printf("%d\n", pairs(&p, 0.1));
  return 0;
}
