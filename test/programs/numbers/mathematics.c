// Loops as programs have them that call the mathematical library: option prices, a softmax under a mask, a Gaussian filter, logistic regression,
// the escape of complex numbers. Nothing but results that are out of range sets errno.
// ARGS: 33 17
// ARGS: 2 3
// ARGS: 40 65
// OFFLOAD: yes
#include "example.h"
#include <complex.h>
#include <errno.h>
#include <math.h>

typedef struct {
  float spot, strike, rate, volatility, years;
  int put;
  float price;
} Option;

static float normal(float x) {
  int negative = x < 0.0f;
  if (negative)
    x = -x;
  float k = 1.0f / (1.0f + 0.2316419f * x);
  float tail = expf(-0.5f * x * x) * 0.39894228f * k * (0.31938153f + k * (-0.35656378f + k * (1.7814779f + k * (-1.8212559f + k * 1.3302744f))));
  return negative ? tail : 1.0f - tail;
}

__attribute__((noinline)) static void prices(int n, Option *o) {
  for (int i = 0; i < n; ++i) {
    float spread = o[i].volatility * sqrtf(o[i].years);
    float d1 = (logf(o[i].spot / o[i].strike) + (o[i].rate + 0.5f * o[i].volatility * o[i].volatility) * o[i].years) / spread;
    float d2 = d1 - spread, worth = o[i].strike * expf(-o[i].rate * o[i].years);
    o[i].price = o[i].put ? worth * normal(-d2) - o[i].spot * normal(-d1) : o[i].spot * normal(d1) - worth * normal(d2);
  }
}

__attribute__((noinline)) static void softmax(int n, int m, const double *restrict A, double *restrict B) {
  for (int i = 0; i < n; ++i) {
    double most = -1e300, sum = 0.0;
    for (int j = 0; j < m; ++j)
      most = fmax(most, j <= i ? A[i * m + j] : -1e9);
    for (int j = 0; j < m; ++j) {
      B[i * m + j] = exp((j <= i ? A[i * m + j] : -1e9) - most);
      sum += B[i * m + j];
    }
    for (int j = 0; j < m; ++j)
      B[i * m + j] /= sum;
  }
}

__attribute__((noinline)) static void regression(int n, int m, const double *restrict X, const double *restrict y, double *restrict w,
                                                 double *restrict p) {
  for (int step = 0; step < 5; ++step) {
    for (int i = 0; i < n; ++i) {
      double z = 0.0;
      for (int j = 0; j < m; ++j)
        z += X[i * m + j] * w[j];
      p[i] = 1.0 / (1.0 + exp(-z));
    }
    for (int j = 0; j < m; ++j) {
      double slope = 0.0;
      for (int i = 0; i < n; ++i)
        slope += (p[i] - y[i]) * X[i * m + j];
      w[j] -= 0.5 * slope / n;
    }
  }
}

__attribute__((noinline)) static void escape(int n, int m, int *restrict steps) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j) {
      double complex c = -2.0 + 3.0 * j / m + (2.0 * i / n - 1.0) * I, z = 0.0;
      int step;
      for (step = 0; step < 40; ++step) {
        z = z * z + c;
        if (cabs(z) > 2.0)
          break;
      }
      steps[i * m + j] = step;
    }
}

static void tell(const char *what) {
  printf("%s: errno %s\n", what, errno == ERANGE ? "ERANGE" : errno ? "another" : "0");
  errno = 0;
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 33), m = (int)example_arg(argc, argv, 2, 17), count = n * m;
  double *A = example_array(count), *B = example_array(count), *w = example_array(m), *p = example_array(n);
  Option *options = malloc(count * sizeof *options);
  int *steps = malloc(count * sizeof *steps);
  example_fill(A, count);
  for (int i = 0; i < count; ++i) {
    float u = (float)example_uniform() * 0.5f + 0.5f;
    options[i] = (Option){50.0f + 100.0f * u, 100.0f, 0.03f, 0.05f + 0.5f * (1.0f - u), 0.1f + u, i % 3 == 0, 0.0f};
    B[i] = A[i] > 0.0;
  }
  errno = 0;
  prices(count, options);
  tell("prices");
  double sum = 0.0;
  for (int i = 0; i < count; ++i)
    sum += options[i].price * (1 + i % 7);
  printf("%.6g\n", sum);
  memset(w, 0, m * sizeof *w);
  regression(n, m, A, B, w, p);
  tell("regression");
  example_print("w", w, m);
  softmax(n, m, A, B);
  tell("softmax");
  example_print("B", B, count);
  escape(n, m, steps);
  tell("escape");
  for (int i = 0; i < count; ++i)
    A[i] = steps[i];
  example_print("steps", A, count);
  free(A);
  free(B);
  free(w);
  free(p);
  free(options);
  free(steps);
  return 0;
}
