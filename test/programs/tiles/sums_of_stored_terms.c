// Sums in order of what another nest has stored for them, over a part of an array that is cleared before: a tile of the whole array has points without a sum.
// ARGS:
// OFFLOAD: yes
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
enum { few = 72, many = 600 };
static float x[many], y[many], z[many], mass[many], a[many], b[many], c[many];

static float number(void) { return (float)(rand() % 10007) / 10007.0f; }

__attribute__((noinline)) static void sums(float step, float far, float soft) {
  for (int i = 1; i < many; i++) {
    x[i] = x[i - 1] + step;
    y[i] = y[i - 1] + 2 * step;
    z[i] = z[i - 1] + 3 * step;
  }
  for (int i = 0; i < many; i++) {
    a[i] = 0;
    b[i] = 0;
    c[i] = 0;
  }
  for (int i = 0; i < few; i++) {
    float xi = 0, yi = 0, zi = 0, m;
    for (int j = 0; j < many; j++) {
      float dx = x[j] - x[i], dy = y[j] - y[i], dz = z[j] - z[i], r2 = dx * dx + dy * dy + dz * dz;
      if (r2 < far)
        m = mass[j];
      else
        m = 0;
      float f = r2 + soft;
      f = m * (1.0f / (f * sqrtf(f)) - r2);
      xi += f * dx;
      yi += f * dy;
      zi += f * dz;
    }
    a[i] = a[i] + xi * 0.25f;
    b[i] = b[i] + yi * 0.25f;
    c[i] = c[i] + zi * 0.25f;
  }
}

int main(void) {
  for (int i = 0; i < many; i++) {
    mass[i] = number();
  }
  sums(1.0f / many, 0.5f, 0.03f);
  for (int i = 0; i < many; i++) {
    if (i < few + 8)
      printf("%a %a %a\n", a[i], b[i], c[i]);
  }
  return 0;
}
