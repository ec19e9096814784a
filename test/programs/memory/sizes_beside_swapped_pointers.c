// Sizes in globals and in a structure, which stores might change, beside pointers that change places in each
// step: two of them, three, and where the stores do change a size, which ends on the host
// ARGS: 37 50 2
// ARGS: 0 4 0
// ARGS: 1 1 1
// ARGS: 2 7 0
// ARGS: 3 64 5
// ARGS: 24 33 3
// OFFLOAD: partial
// KERNELS: path
// REASON: may change
#include "example.h"

static int rows, cols, *wall;

// The least sum on a way through rows of numbers, row by row.
__attribute__((noinline)) static void path(int *src, int *dst) {
  for (int t = 0; t < rows - 1; t++) {
    int *last = src;
    src = dst;
    dst = last;
    for (int n = 0; n < cols; n++) {
      int m = src[n];
      if (n > 0 && src[n - 1] < m)
        m = src[n - 1];
      if (n < cols - 1 && src[n + 1] < m)
        m = src[n + 1];
      dst[n] = wall[(t + 1) * cols + n] + m;
    }
  }
}

struct sizes {
  int steps, count;
};

// Two steps before, and one: three arrays in turn.
__attribute__((noinline)) static void three(const struct sizes *z, int *a, int *b, int *c) {
  for (int t = 0; t < z->steps; ++t) {
    for (int n = 1; n < z->count; ++n)
      c[n] = (2 * b[n] - a[n - 1] + 3 * t) % 1001;
    int *last = a;
    a = b;
    b = c;
    c = last;
  }
}

// As above with a while loop that counts down what it was given.
__attribute__((noinline)) static void behind(const struct sizes *z, int left, int *a, int *b) {
  while (left > z->steps) {
    for (int n = 0; n < z->count; ++n)
      b[n] = (5 * a[z->count - 1 - n] + left) % 1001;
    int *last = a;
    a = b;
    b = last;
    left -= 1;
  }
}

static void show(const char *name, const int *p, int n) {
  long sum = 0;
  for (int i = 0; i < n; ++i)
    sum = (sum * 31 + p[i]) % 1000000007;
  printf("%s %ld\n", name, sum);
}

int main(int argc, char **argv) {
  if (argc < 4)
    return 1;
  rows = atoi(argv[1]), cols = atoi(argv[2]);
  int few = atoi(argv[3]), size = cols + 8, room = 4 * size + 2048;
  wall = malloc(sizeof(int) * (rows + 2) * size);
  int *work = malloc(sizeof(int) * room);
  for (int i = 0; i < (rows + 2) * size; ++i)
    wall[i] = (i * 37 + 11) % 101;
  int *a = work, *b = work + size, *c = work + 2 * size;
  struct sizes z = {rows, cols};
  for (int turn = 0; turn < 2; ++turn) {
    for (int i = 0; i < room; ++i)
      work[i] = (i * 53 + 7) % 89;
    path(a, b);
    show("path", work, room);
    three(&z, a, b, c);
    show("three", work, room);
    z.steps = few;
    behind(&z, rows, a, b);
    show("behind", work, room);
    z.steps = few + 1;
  }
  // The sizes are elements that the loop writes: the steps end when it has changed them, or rows get shorter.
  if (cols < 10)
    return 0;
  for (int at = 0; at < 8; at += 2) {
    for (int i = 0; i < room; ++i)
      work[i] = (i * 53 + 7) % 89;
    struct sizes *own = (struct sizes *)(work + (at < 4 ? size : 2 * size) + at);
    own->steps = rows, own->count = cols;
    three(own, a, b, c);
    show("three, written", work, room);
    own->steps = few, own->count = cols;
    behind(own, rows, a, b);
    show("behind, written", work, room);
  }
  return 0;
}
