// Loops over the layers of a network, which count down, halve or step by an argument, and call what only the host can do: what is done in each layer runs on the device.
// ARGS: 3 1 2
// ARGS: 1 5 7
// ARGS: 6 33 40
// OFFLOAD: yes
// KERNELS: backwards halved stepped
#include "example.h"

#define NOINLINE __attribute__((noinline)) static

static long seen;

/* Not for the device: it counts in a volatile. */
NOINLINE void layer_done(int l) {
  volatile long s = seen;
  seen = s * 3 + l;
}

/* The pointers of a layer move with a counter that starts at an argument. */
NOINLINE void backwards(int layers, int rows, int width, float *grad, const float *weights, const float *acts) {
  for (int l = layers - 1; l >= 0; l--) {
    const float *w = weights + l * width, *a = acts + l * rows * width;
    float *g = grad + l * rows * width;
    for (int i = 0; i < rows; i++)
      for (int j = 0; j < width; j++)
        g[i * width + j] += a[i * width + j] * w[j];
    layer_done(l);
  }
}

NOINLINE void halved(int layers, int rows, int width, float *grad, const float *acts) {
  float *g = grad;
  for (int l = layers; l > 0; l /= 2) {
    for (int i = 0; i < rows; i++)
      for (int j = 0; j < width; j++)
        g[i * width + j] = g[i * width + j] * 0.5f + acts[i * width + j];
    g += (long)rows * width;
    layer_done(l);
  }
}

NOINLINE void stepped(int layers, int step, int rows, int width, float *grad, const float *acts) {
  for (int l = step; l < layers; l += step) {
    float *now = grad + (long)l * rows * width;
    const float *before = grad + (long)(l - step) * rows * width, *a = acts + (long)l * rows * width;
    for (int i = 0; i < rows; i++)
      for (int j = 0; j < width; j++)
        now[i * width + j] = before[i * width + j] * 0.25f + a[i * width + j];
    layer_done(l);
  }
}

static float *values(int n) {
  float *x = malloc(sizeof(float) * (size_t)(n + 1));
  for (int k = 0; k < n; k++)
    x[k] = (float)example_uniform();
  return x;
}

int main(int argc, char **argv) {
  int layers = (int)example_arg(argc, argv, 1, 6), rows = (int)example_arg(argc, argv, 2, 33), width = (int)example_arg(argc, argv, 3, 40);
  int n = layers * rows * width;
  float *grad = values(n), *acts = values(n), *weights = values(layers * width);
  for (int t = 0; t < 2; t++) {
    backwards(layers, rows, width, grad, weights, acts);
    halved(layers, rows, width, grad, acts);
    stepped(layers, 1, rows, width, grad, acts);
    stepped(layers, 2, rows, width, grad, acts);
  }
  printf("%016llx %ld\n", (unsigned long long)example_hash(grad, sizeof(float) * (size_t)n), seen);
  return 0;
}
