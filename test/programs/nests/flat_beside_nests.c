// A product over all positions as one loop beside loops over batches and positions, in a loop over layers: no one view is that of both
// but for batches of one, so each is a nest of its own
// ARGS: 4 16 3 12
// ARGS: 1 16 2 12
// ARGS: 0 3 1 4
// ARGS: 2 1 2 5
// ARGS: 3 7 1 9
// OFFLOAD: yes
// KERNELS: forward backward
#include "example.h"

__attribute__((noinline)) static void forward(size_t B, size_t T, int L, int C, const float *in, const float *w, float *norm, float *mean, float *out) {
  for (int l = 0; l < L; l++) {
    float *l_norm = norm + l * B * T * C, *l_mean = mean + l * B * T, *l_out = out + l * B * T * C;
    const float *x = l == 0 ? in : out + (l - 1) * B * T * C, *l_w = w + l * C * C;
    int b_count = (int)B, t_count = (int)T;
    for (int b = 0; b < b_count; b++)
      for (int t = 0; t < t_count; t++) {
        float m = 0;
        for (int i = 0; i < C; i++)
          m += x[b * t_count * C + t * C + i];
        m /= C;
        for (int i = 0; i < C; i++)
          l_norm[b * t_count * C + t * C + i] = x[b * t_count * C + t * C + i] - m;
        l_mean[b * t_count + t] = m;
      }
    int all = (int)(B * T);
    for (int p = 0; p < all; p++)
      for (int o = 0; o < C; o++) {
        float sum = 0;
        for (int i = 0; i < C; i++)
          sum += l_norm[p * C + i] * l_w[o * C + i];
        l_out[p * C + o] = sum;
      }
  }
}

__attribute__((noinline)) static void backward(size_t B, size_t T, int L, int C, float *d, const float *norm, float *dw) {
  for (int l = L - 1; l >= 0; l--) {
    const float *l_norm = norm + l * B * T * C;
    float *l_d = d + l * B * T * C, *l_dw = dw + l * C * C;
    int b_count = (int)B, t_count = (int)T, all = (int)(B * T * C);
    for (int i = 0; i < all; i++)
      l_d[i] += 0.5f * l_norm[i];
    for (int o = 0; o < C; o++)
      for (int i = 0; i < C; i++) {
        float sum = 0;
        for (int b = 0; b < b_count; b++)
          for (int t = 0; t < t_count; t++)
            sum += l_d[b * t_count * C + t * C + o] * l_norm[b * t_count * C + t * C + i];
        l_dw[o * C + i] += sum;
      }
  }
}

static float *numbers(size_t n) {
  float *p = malloc(sizeof(float) * (n + 1));
  for (size_t i = 0; i < n; i++)
    p[i] = (float)example_uniform();
  return p;
}

static double sum(const float *p, size_t n) {
  double s = 0;
  for (size_t i = 0; i < n; i++)
    s = s * 0.999 + p[i];
  return s;
}

int main(int argc, char **argv) {
  size_t B = example_arg(argc, argv, 1, 4), T = example_arg(argc, argv, 2, 16);
  int L = (int)example_arg(argc, argv, 3, 3), C = (int)example_arg(argc, argv, 4, 12);
  size_t n = B * T * C;
  float *in = numbers(n), *w = numbers((size_t)L * C * C), *norm = numbers(L * n), *mean = numbers(L * B * T), *out = numbers(L * n);
  float *d = numbers(L * n), *dw = numbers((size_t)L * C * C);
  forward(B, T, L, C, in, w, norm, mean, out);
  backward(B, T, L, C, d, norm, dw);
  printf("%.17g %.17g %.17g %.17g\n", sum(norm, L * n), sum(mean, L * B * T), sum(out, L * n), sum(dw, (size_t)L * C * C));
  return 0;
}
