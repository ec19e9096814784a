// Structures of 3 to 16 bytes that functions return in registers: stored as one number, by members, or by a branch.
// ARGS: 0
// ARGS: 1
// ARGS: 257
// ARGS: 4000
// OFFLOAD: yes
#include "example.h"

struct pixel { unsigned char r, g, b; };
struct point { short x, y, z; };
struct mark { float x, y, z; int id; };
struct best { int place; float value; };
struct five { unsigned char of[5]; };

static struct pixel shade(unsigned char v, float s) {
  if (v == 0)
    return (struct pixel){0, 0, 0};
  if (v > 200)
    return (struct pixel){255, v, 7};
  return (struct pixel){(unsigned char)(v * s), (unsigned char)(v >> 1), v};
}

static struct point added(struct point a, struct point b) {
  return (struct point){(short)(a.x + b.x), (short)(a.y - b.y), (short)(a.z * b.z)};
}

static struct mark moved(struct mark a, float s) { return (struct mark){a.x * s, a.y + s, a.z - s, a.id + 1}; }

static struct best better(struct best a, struct best b) { return a.value < b.value ? a : b; }

__attribute__((noinline)) static void pixels(int n, const unsigned char *v, struct pixel *restrict o, const struct pixel *restrict other) {
  for (int i = 0; i < n; i++) {
    o[i] = shade(v[i], 0.5f);
    if (v[i] % 5 == 1)
      o[i] = other[i];
  }
}

__attribute__((noinline)) static void points(int n, const struct point *a, const struct point *b, struct point *o) {
  for (int i = 0; i < n; i++)
    o[i] = added(a[i], b[i]);
}

__attribute__((noinline)) static void marks(int n, struct mark *o) {
  for (int i = 0; i < n; i++)
    o[i] = moved(o[i], 0.75f);
}

__attribute__((noinline)) static void winners(int n, const struct best *a, const struct best *b, struct best *o) {
  for (int i = 0; i < n; i++) {
    o[i] = better(a[i], b[i]);
    o[i].place += i;
  }
}

__attribute__((noinline)) static void fives(int n, const struct five *restrict a, struct five *restrict o) {
  for (int i = 0; i < n; i++)
    o[n - 1 - i] = a[i];
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 300);
  size_t bytes = (size_t)(n + 1) * sizeof(struct mark);
  unsigned char *of[6];
  for (int k = 0; k < 6; k++) {
    of[k] = malloc(bytes);
    for (size_t i = 0; i < bytes; i++)
      of[k][i] = (unsigned char)(example_uniform() * 256);
  }
  struct mark *m = (struct mark *)of[4];
  struct best *b = (struct best *)of[5], *c = (struct best *)of[1];
  for (int i = 0; i < n; i++) {
    m[i] = (struct mark){(float)example_uniform(), (float)i, 3.0f, i};
    b[i] = (struct best){i, (float)example_uniform()};
    c[i] = (struct best){-i, (float)example_uniform()};
  }
  pixels(n, of[0], (struct pixel *)of[2], (struct pixel *)of[3]);
  printf("%016llx\n", (unsigned long long)example_hash(of[2], (size_t)n * 3));
  marks(n, m);
  winners(n, b, c, (struct best *)of[2]);
  printf("%016llx %016llx\n", (unsigned long long)example_hash(m, n * sizeof *m), (unsigned long long)example_hash(of[2], (size_t)n * 8));
  points(n, (struct point *)of[0], (struct point *)of[3], (struct point *)of[2]);
  fives(n, (struct five *)of[3], (struct five *)of[0]);
  printf("%016llx %016llx\n", (unsigned long long)example_hash(of[2], (size_t)n * 6), (unsigned long long)example_hash(of[0], (size_t)n * 5));
  return 0;
}
