// Arrays of variable length whose size is a number that the compiler finds, `const int n = 8; float r[n];`: sums of a block of rows, a window sorted in place, one in a
// loop that is left early, and one whose address is kept. Those of a size that is an argument are allocated once, before the loop, if that
// runs an iteration: no size is one where it runs none.
// ARGS: 32 17 21
// ARGS: 8 1 1
// ARGS: 40 64 33
// OFFLOAD: yes
// KERNELS: product median early of_any_size columns
#include "example.h"

#define KERNEL __attribute__((noinline)) static

KERNEL void product(float *restrict out, const float *restrict in, const float *restrict w, int rows, int c, int o) {
  const int lanes = 8;
  for (int b = 0; b < rows; b += lanes)
    for (int p = 0; p < o; p++) {
      float sums[lanes];
      for (int k = 0; k < lanes; k++)
        sums[k] = 0.5f;
      for (int i = 0; i < c; i++)
        for (int k = 0; k < lanes; k++)
          sums[k] += in[(b + k) * c + i] * w[p * c + i];
      for (int k = 0; k < lanes; k++)
        out[(b + k) * o + p] = sums[k];
    }
}

KERNEL void median(int n, const float *restrict in, float *restrict out) {
  const int width = 3;
  for (int i = 1; i < n - 1; i++) {
    float window[width];
    for (int k = 0; k < width; k++)
      window[k] = in[i - 1 + k];
    for (int a = 0; a < width - 1; a++)
      for (int b = a + 1; b < width; b++) {
        float low = window[a] < window[b] ? window[a] : window[b];
        float high = window[a] < window[b] ? window[b] : window[a];
        window[a] = low;
        window[b] = high;
      }
    out[i] = window[width / 2];
  }
}

// What is stored in one iteration is not seen in the next one, and the loop ends at an element.
KERNEL int until(int n, const float *in, float *out) {
  const int width = 4;
  int i;
  for (i = 0; i < n; i++) {
    float parts[width];
    for (int k = 0; k < width; k++)
      parts[k] = in[i] * (float)(k + 1);
    if (parts[3] > 1.99f * 4)
      break;
    out[i] = parts[0] + parts[1] * parts[2];
  }
  return i;
}

// Parallel all the same: what each iteration works with is its own.
KERNEL void early(int n, int m, const float *restrict in, float *restrict out) {
  const int width = 4;
  for (int i = 0; i < n; i++) {
    if (i % 3 == 1)
      continue;
    float parts[width];
    for (int k = 0; k < width; k++)
      parts[k] = (float)k;
    for (int j = 0; j < m; j++)
      parts[j & 3] += in[i * m + j];
    out[i] = parts[0] * parts[1] - parts[2] * parts[3];
  }
}

KERNEL float largest(const float *values, int n) {
  float found = values[0];
  for (int k = 1; k < n; k++)
    found = values[k] > found ? values[k] : found;
  return found;
}

KERNEL void given_away(int n, const float *in, float *out) {
  const int width = 5;
  for (int i = 0; i + width <= n; i++) {
    float window[width];
    for (int k = 0; k < width; k++)
      window[k] = in[i + k];
    out[i] = largest(window, width);
  }
}

KERNEL void of_any_size(int n, int width, const float *in, float *out) {
  for (int i = 0; i + width <= n; i++) {
    float window[width];
    for (int k = 0; k < width; k++)
      window[k] = in[i + k];
    out[i] = window[width - 1] + window[0];
  }
}

// A system of equations for each column, eliminated in arrays of its own. Of no columns the length may be anything.
KERNEL void columns(int n, int length, const float *restrict k, float *restrict x) {
  for (int c = 0; c < n; c++) {
    float upper[length], right[length];
    upper[0] = k[0] / (2 + k[0]);
    right[0] = x[c * length] / (2 + k[0]);
    for (int i = 1; i < length; i++) {
      upper[i] = k[i] / (2 + k[i] - upper[i - 1]);
      right[i] = (x[c * length + i] + right[i - 1]) / (2 + k[i] - upper[i - 1]);
    }
    x[c * length + length - 1] = right[length - 1];
    for (int i = length - 2; i >= 0; i--)
      x[c * length + i] = right[i] + upper[i] * x[c * length + i + 1];
  }
}

int main(int argc, char **argv) {
  int rows = argc > 1 ? atoi(argv[1]) : 32, c = argc > 2 ? atoi(argv[2]) : 17, o = argc > 3 ? atoi(argv[3]) : 21;
  size_t large = (size_t)rows * (size_t)(c > o ? c : o) + 16;
  float *in = malloc(large * sizeof *in), *w = malloc((size_t)(c * o + 16) * sizeof *w), *out = malloc(large * sizeof *out);
  for (size_t i = 0; i < large; i++)
    in[i] = (float)((i * 2654435761u >> 7) % 1000) * 0.002f, out[i] = 0;
  for (int i = 0; i < c * o + 16; i++)
    w[i] = (float)(i % 13) - 6.0f;
  double sum = 0;
  int n = rows * c;
  product(out, in, w, rows, c, o);
  for (size_t i = 0; i < large; i++) sum = sum * 0.75 + out[i];
  printf("product %a\n", sum);
  median(n, in, out);
  for (size_t i = 0; i < large; i++) sum = sum * 0.75 + out[i];
  printf("median %a\n", sum);
  printf("until %d\n", until(n, in, out));
  for (size_t i = 0; i < large; i++) sum = sum * 0.75 + out[i];
  early(rows, c, in, out);
  for (size_t i = 0; i < large; i++) sum = sum * 0.75 + out[i];
  printf("early %a\n", sum);
  given_away(n < 24 ? n : 24, in, out);
  of_any_size(n, 3 + argc % 2, in, out);
  for (size_t i = 0; i < large; i++) sum = sum * 0.75 + out[i];
  printf("windows %a\n", sum);
  columns(0, -1000000000, in, out);
  columns(rows, c, in, out);
  for (size_t i = 0; i < large; i++) sum = sum * 0.75 + out[i];
  printf("columns %a\n", sum);
  return 0;
}
