// Neighbours that a mask selects: LLVM makes one load from a selected address of `wall[j] ? t[i] : t[j]`, and one store to one; cells that
// an iteration leaves alone; the arrays change places between steps. Rows chosen by data.
// ARGS: 33 17
// ARGS: 1 1
// ARGS: 2 3
// ARGS: 3 4
// ARGS: 31 65
// OFFLOAD: yes
#include "example.h"

__attribute__((noinline)) static void heat(int h, int w, int steps, double *t, double *u, const unsigned char *wall) {
  for (int s = 0; s < steps; ++s) {
    for (int i = 1; i < h - 1; ++i)
      for (int j = 1; j < w - 1; ++j) {
        int c = i * w + j;
        if (wall[c]) {
          u[c] = t[c];
          continue;
        }
        double left = wall[c - 1] ? t[c] : t[c - 1], right = wall[c + 1] ? t[c] : t[c + 1];
        double up = wall[c - w] ? t[c] : t[c - w], down = wall[c + w] ? t[c] : t[c + w];
        u[c] = t[c] + 0.2 * (left + right + up + down - 4.0 * t[c]);
      }
    double *old = t;
    t = u;
    u = old;
  }
}

__attribute__((noinline)) static void sort_in_two(int h, int w, const double *t, double *warm, double *cold, const unsigned char *wall) {
  for (int i = 0; i < h; ++i)
    for (int j = 0; j < w; ++j) {
      double *to = t[i * w + j] > 0.0 ? warm : cold;
      to[i * w + j] += t[i * w + j];
      const double *from = wall[i * w + j] & 1 ? cold : t;
      warm[i * w + j] += 0.5 * from[(wall[i * w + j] & 2 ? i : h - 1 - i) * w + j];
    }
}

int main(int argc, char **argv) {
  int h = (int)example_arg(argc, argv, 1, 33), w = (int)example_arg(argc, argv, 2, 17);
  size_t count = (size_t)h * w;
  double *t = example_array(count), *u = example_array(count), *v = example_array(count);
  unsigned char *wall = malloc(count);
  example_fill(t, count);
  example_fill(u, count);
  example_fill(v, count);
  for (size_t i = 0; i < count; ++i)
    wall[i] = i % 7 == 3 || i % 11 == 5 ? 1 + i % 3 : 0;
  heat(h, w, 5, t, u, wall);
  example_print("t", t, count);
  example_print("u", u, count);
  sort_in_two(h, w, t, u, v, wall);
  example_print("u", u, count);
  example_print("v", v, count);
  return 0;
}
