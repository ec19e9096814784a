#include <stdio.h>

void scale(int n, double *restrict y, const double *restrict x);

static double x[4000], y[4000];

int main(void) {
  for (int i = 0; i < 4000; i++)
    x[i] = i % 17 * 0.25;
  scale(4000, y, x);
  double sum = 0;
  for (int i = 0; i < 4000; i++)
    sum = sum * 0.5 + y[i];
  printf("%.17g\n", sum);
}
