// Members of structures, of different widths, are arrays among each other's bytes: what stays on the device of one of them is not lost when
// others are written, when the range grows, or when one pointer goes over the structures' bytes.
// ARGS: 300
// ARGS: 3
// ARGS: 0
// ARGS: 1000
// OFFLOAD: any
#include "example.h"
#include <string.h>

#define OUT_OF_LINE __attribute__((noinline))

struct particle {
  double x;
  int id;
  char tag, flag;
  short z;
};

#pragma pack(push, 1)
struct packed {
  char kind;
  float v[2];
  short n;
};
#pragma pack(pop)

OUT_OF_LINE static void set_x(struct particle *p, int n) {
  for (int i = 0; i < n; i++)
    p[i].x = n + i;
}

/* One member is read, another one and a third are written. */
OUT_OF_LINE static void set_flags(struct particle *p, int n) {
  for (int i = 0; i < n; i++) {
    p[i].flag = 44;
    p[i].z = p[n - 1 - i].tag;
  }
}

OUT_OF_LINE static void set_most(struct particle *p, int n) {
  for (int i = 0; i < n; i++) {
    p[i].x = i;
    p[i].id = i * 3;
    p[i].tag = i;
  }
}

OUT_OF_LINE static void scale(double *x, int n) {
  for (int i = 0; i < n; i++)
    x[2 * i] += 0.25;
}

OUT_OF_LINE static void turn(char *c, int n) {
  for (int i = 0; i < n; i++)
    c[16 * i + 12] ^= i;
}

OUT_OF_LINE static void move_packed(struct packed *q, int n) {
  for (int i = 0; i < n; i++) {
    q[i].v[0] = q[i].v[1] * 0.5f + i;
    q[i].n = i - 7;
  }
}

OUT_OF_LINE static void count_packed(struct packed *q, const struct particle *p, int n) {
  for (int i = 0; i < n; i++) {
    q[i].kind = p[i].tag + 1;
    q[i].v[1] = p[i].id;
  }
}

static unsigned sum(const void *memory, size_t bytes) {
  unsigned h = 0;
  for (size_t i = 0; i < bytes; i++)
    h = h * 31 + ((const unsigned char *)memory)[i];
  return h;
}

static void flags_first(int n) {
  struct particle *p = calloc(n + 1, sizeof *p);
  set_flags(p, n);
  set_x(p, n);
  printf("%x\n", sum(p, n * sizeof *p));
  set_flags(p, n / 2);
  set_flags(p, n);
  if (n > 2)
    set_x(p + 1, n - 2);
  printf("%x\n", sum(p, n * sizeof *p));
  free(p);
}

static void many_widths(int n) {
  struct particle *p = malloc((n + 1) * sizeof *p);
  struct packed *q = calloc(n + 1, sizeof *q);
  memset(p, 0, n * sizeof *p);
  for (int round = 0; round < 3; round++) {
    set_most(p, n);
    scale(&p[0].x, n);
    turn((char *)p, n);
    set_most(p + n / 2, n / 4);
    if (n > 5)
      scale(&p[3].x, n - 5);
    move_packed(q, n);
    count_packed(q, p, n);
    if (round == 1 && n > 2)
      p[2].id = q[1].n;
  }
  printf("%x %x\n", sum(p, n * sizeof *p), sum(q, n * sizeof *q));
  free(p);
  free(q);
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 300);
  flags_first(n);
  many_widths(n);
  return 0;
}
