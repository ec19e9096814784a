// Elements that are chosen are stored one behind the other (stream compaction): several outputs, from a given place on, with the count used behind, in halves by a
// condition, under two conditions, two at a time, indices, backwards, lists of rows; what is not written stays as it was. In place, with overlaps, without the
// condition and where the count also falls, the original loop runs.
//
// ARGS: 257 5
// ARGS: 0 1
// ARGS: 1 2
// ARGS: 16 16
// ARGS: 1025 3
// ARGS: 16385 2
// OFFLOAD: yes
// TURNS: 2
// KERNELS: chosen from several halves both pairs fields backward lists guarded started_again
#include "example.h"

#define KEEP __attribute__((noinline)) static

KEEP int chosen(int n, const int *restrict x, int *restrict out) {
  int k = 0;
  for (int i = 0; i < n; i++)
    if (x[i] > 0)
      out[k++] = x[i];
  return k;
}

KEEP unsigned from(int n, const int *x, int *out, unsigned k) {
  for (int i = 0; i < n; i++)
    if (x[i] % 3 == 0) {
      out[k] = i;
      k++;
    }
  return k;
}

KEEP int overlapped(int n, const int *x, int *out) {
  int k = 0;
  for (int i = 0; i < n; i++)
    if (x[i] % 3 == 0) {
      out[k] = i;
      k++;
    }
  return k;
}

KEEP long several(long n, const float *restrict x, float *restrict out, int *restrict place) {
  long k = 0;
  for (long i = 0; i < n; i++)
    if (x[i] > 0.75f) {
      out[k] = x[i] * 2;
      place[k] = (int)(i - k);
      k++;
    }
  return k;
}

KEEP int halves(int n, const int *restrict x, int *restrict low, int *restrict high) {
  int a = 0, b = 0;
  for (int i = 0; i < n; i++)
    if (x[i] < 0)
      low[a++] = x[i];
    else
      high[b++] = i;
  return a * 3 + b;
}

KEEP int both(int n, const int *restrict x, int *restrict out) {
  int k = 0;
  for (int i = 0; i < n; i++)
    if (x[i] > -1000000000)
      if ((x[i] & 5) != 1)
        out[k++] = x[i] >> 1;
  return k;
}

// Every other element stays.
KEEP int pairs(int n, const int *restrict x, int *restrict out) {
  int k = 1;
  for (int i = 0; i < n; i++)
    if (x[i] & 2) {
      out[k] = x[i];
      k += 2;
    }
  return k;
}

struct record {
  int key;
  float value;
};

KEEP int fields(int n, const float *restrict x, struct record *restrict out) {
  int k = 0;
  for (int i = 0; i < n; i++)
    if (x[i] < 0.3f) {
      out[k].key = i;
      out[k].value = x[i];
      k++;
    }
  return k;
}

KEEP int backward(int n, const int *restrict x, int *restrict out) {
  int k = 0;
  for (int i = n - 1; i >= 0; i--)
    if (x[i] & 1)
      out[k++] = i;
  return k;
}

// Neighbours of each one that are near.
KEEP void lists(int n, int m, const float *restrict x, int *restrict counts, int list[restrict n][m]) {
  for (int i = 0; i < n; i++) {
    int c = 0;
    for (int j = 0; j < m; j++) {
      float d = x[i] - x[j];
      if (d * d < 0.09f)
        list[i][c++] = j;
    }
    counts[i] = c;
  }
}

// Where the first condition does not hold, there need be no element for the second.
KEEP int guarded(int n, const int *restrict x, const int *restrict limits, int *restrict out) {
  int k = 0;
  for (int i = 0; i < n; i++)
    if (x[i] >= 0 && limits[i] > x[i])
      out[k++] = limits[i] - x[i];
  return k;
}

KEEP long neighbours(int n, int most, const float *restrict x, int *restrict counts, int *restrict list) {
  long sum = 0;
  for (int i = 0; i < n; i++) {
    int c = 0;
    for (int j = 0; j < n; j++) {
      float d = x[i] - x[j];
      if (j != i && d * d < 0.04f)
        list[i * most + c++] = j;
    }
    counts[i] = c;
  }
  return sum;
}

// The last condition is on the count itself.
KEEP int first_ones(int n, int most, const int *restrict x, int *restrict out) {
  int k = 0;
  for (int i = 0; i < n; i++)
    if (x[i] & 1 && k < most)
      out[k++] = x[i];
  return k;
}

KEEP int in_place(int n, int *x) {
  int k = 0;
  for (int i = 0; i < n; i++)
    if (x[i] & 1)
      x[k++] = x[i];
  return k;
}

KEEP int always(int n, const int *restrict x, int *restrict out) {
  int k = 0;
  for (int i = 0; i < n; i++) {
    out[k] = i;
    k += x[i] > 0;
  }
  return k;
}

KEEP int stack(int n, const int *restrict x, int *restrict out) {
  int k = 0;
  for (int i = 0; i < n; i++)
    if (x[i] & 1)
      out[k++] = x[i];
    else if (k > 0)
      k--;
  return k;
}

KEEP int read_again(int n, const int *restrict x, int *restrict out) {
  int k = 0;
  for (int i = 0; i < n; i++)
    if (x[i] & 1)
      out[k++] = x[i] + out[i / 2];
  return k;
}

KEEP int started_again(int n, int m, const int *restrict x, int *restrict out) {
  int k = 0;
  for (int t = 0; t < m; t++) {
    k = 0;
    for (int i = 0; i < n; i++)
      if (x[i] % (t + 2) == 0)
        out[k++] = x[i] + t;
  }
  return k;
}

static void show(const char *name, long count, const void *data, size_t bytes) {
  printf("%s %ld %016llx\n", name, count, (unsigned long long)example_hash(data, bytes));
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 257, m = argc > 2 ? atoi(argv[2]) : 5;
  size_t all = 2 * (size_t)n + 64, bytes = all * sizeof(int), matrix = ((size_t)n * m + 1) * sizeof(int);
  int *x = malloc(bytes), *y = calloc(1, bytes), *z = calloc(1, bytes), *list = calloc(1, matrix);
  float *f = malloc(bytes), *g = calloc(1, bytes);
  struct record *r = calloc(all, sizeof *r);
  for (size_t i = 0; i < all; i++) {
    x[i] = (int)example_bits();
    f[i] = (float)example_uniform();
    y[i] = (int)i;
  }
  long k = chosen(n, x, y);
  show("chosen", k, y, bytes);
  k = from(n, x, y, 7);
  show("from", k, y, bytes);
  k = several(n, f, g, z);
  show("several", k, g, bytes);
  show("places", k, z, bytes);
  k = halves(n, x, y, z);
  show("low", k, y, bytes);
  show("high", k, z, bytes);
  k = both(n, x, y);
  show("both", k, y, bytes);
  k = pairs(n, x, z);
  show("pairs", k, z, bytes);
  k = fields(n, f, r);
  show("fields", k, r, all * sizeof *r);
  k = backward(n, x, y);
  show("backward", k, y, bytes);
  lists(n, m, f, z, (int(*)[m])list);
  show("counts", m, z, bytes);
  show("lists", m, list, matrix);
  int half = n / 2, *limits = malloc(half * sizeof(int) + 1);
  for (int i = 0; i < n; i++)
    x[i] = i < half ? x[i] : -1 - i;
  for (int i = 0; i < half; i++)
    limits[i] = (int)example_bits();
  k = guarded(n, x, limits, y);
  show("guarded", k, y, bytes);
  for (int i = 0; i < n; i++)
    x[i] = (int)example_bits();
  int near = n < 300 ? n : 300, *close = calloc((size_t)near * (near + 1) + 1, sizeof(int));
  for (int room = near; room >= near - 1; room--) {
    k = neighbours(near, room, f, z, close);
    show("neighbours", k, z, bytes);
    show("close", k, close, (size_t)near * near * sizeof(int));
  }
  k = first_ones(n, n / 5, x, y);
  show("first_ones", k, y, bytes);
  // What is read is stored to.
  k = overlapped(n / 2, y, y + n / 4);
  show("overlap", k, y, bytes);
  k = overlapped(n, y, y);
  show("same", k, y, bytes);
  k = in_place(n, y);
  show("in_place", k, y, bytes);
  k = always(n, x, y);
  show("always", k, y, bytes);
  k = stack(n, x, y);
  show("stack", k, y, bytes);
  k = read_again(n, x, y);
  show("read_again", k, y, bytes);
  k = started_again(n, m, x, y);
  show("started_again", k, y, bytes);
  return 0;
}
