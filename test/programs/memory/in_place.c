// Functions with an output and an input array, called with the same array for both: each reads an element before it stores to it, so that
// device memory of their own for both is as good as one array.
// ARGS: 1000 37
// ARGS: 3 2
// ARGS: 129 65
// OFFLOAD: yes
// KERNELS: axpby scale_into relu_into layer_norm add_matrix add_pitched suffix_difference twice momentum conditional flip_rows bits_of
#include "example.h"

#define KERNEL __attribute__((noinline)) static

KERNEL void axpby(int n, double *out, double c, const double *a, const double *b) {
  for (int i = 0; i < n; i++)
    out[i] = a[i] + c * b[i];
}

KERNEL void scale_into(size_t n, float *out, const float *in, float c) {
  for (size_t i = 0; i < n; i++)
    out[i] = in[i] * c;
}

KERNEL void relu_into(unsigned n, double *out, const double *in) {
  for (unsigned i = 0; i < n; i++)
    out[i] = in[i] > 0 ? in[i] : 0.125 * in[i];
}

// All reads of a row come before its stores, in other statements and loops.
KERNEL void layer_norm(int rows, int width, double *out, const double *in, const double *weight) {
  for (int r = 0; r < rows; r++) {
    double mean = 0, var = 0;
    for (int i = 0; i < width; i++)
      mean += in[r * width + i];
    mean /= width;
    for (int i = 0; i < width; i++)
      var += (in[r * width + i] - mean) * (in[r * width + i] - mean);
    for (int i = 0; i < width; i++)
      out[r * width + i] = (in[r * width + i] - mean) * weight[i] / (var / width + 1e-5);
  }
}

KERNEL void add_matrix(int n, int m, double (*out)[m], double (*a)[m], double (*b)[m]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      out[i][j] = a[i][j] - 0.5 * b[i][j];
}

// Rows of lengths that are arguments: equal ones, as equal arrays need.
KERNEL void add_pitched(int n, int m, double *out, long to, const double *in, long from) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      out[i * to + j] = in[i * from + j] + 0.25;
}

// Reads what is stored later.
KERNEL void suffix_difference(int n, double *out, const double *in) {
  for (int i = 0; i < n - 1; i++)
    out[i] = in[i] - in[i + 1];
}

// Two loops, two outputs, of which one is the input.
KERNEL void twice(int n, double *out, double *other, const double *in) {
  for (int i = 0; i < n; i++)
    other[i] = 2 * in[i];
  for (int i = 0; i < n; i++)
    out[i] = in[i] + other[i];
}

// Two stores of what one load gave: the load comes before both.
KERNEL void momentum(int n, double *velocity, double *out, const double *in) {
  for (int i = 0; i < n; i++) {
    double x = in[i];
    out[i] = x - 0.1 * velocity[i];
    velocity[i] = 0.9 * velocity[i] + x;
  }
}

KERNEL void conditional(int n, double *out, const double *in) {
  for (int i = 0; i < n; i++)
    if (in[i] > 0.25)
      out[i] = 1 - in[i];
}

// A statement that reads two elements and stores them both, nobody else's.
KERNEL void flip_rows(int n, double (*out)[2], double (*in)[2]) {
  for (int i = 0; i < n; i++) {
    double a = in[i][0], b = in[i][1];
    out[i][0] = b;
    out[i][1] = a;
  }
}

KERNEL void bits_of(int n, unsigned char *out, const unsigned char *in) {
  for (int i = 0; i < n; i++)
    out[i] = (unsigned char)(in[i] ^ 0x5a);
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 100), m = (int)example_arg(argc, argv, 2, 7);
  size_t all = (size_t)n * m;
  double *A = example_array(all), *B = example_array(all), *W = example_array(all);
  float *F = malloc(all * sizeof *F);
  example_fill(A, all);
  example_fill(B, all);
  example_fill(W, all);
  for (size_t i = 0; i < all; ++i)
    F[i] = (float)example_uniform();
  axpby(n, B, 0.75, A, B);
  axpby(n, A, 0.5, A, B);
  axpby(n, A, 0.25, A, A);
  axpby(n, W, 0.25, A, B);
  example_print("axpby", A, all);
  scale_into(all, F, F, 1.25f);
  relu_into((unsigned)n, A, A);
  relu_into((unsigned)n, A, B);
  layer_norm(n, m, A, A, W);
  layer_norm(n, m, B, A, W);
  example_print("norm", A, all);
  add_matrix(n, m, (void *)A, (void *)A, (void *)B);
  add_matrix(n, m, (void *)A, (void *)B, (void *)A);
  add_matrix(n, m, (void *)W, (void *)W, (void *)W);
  add_pitched(n, m, A, m, A, m);
  add_pitched(n, m / 2, A, m, A, m);
  suffix_difference(n, A, A);
  suffix_difference(n, B, B);
  example_print("differences", A, all);
  twice(n, A, B, A);
  twice(n, A, W, A);
  example_print("twice", A, all);
  momentum(n, B, A, A);
  conditional(n, W, W);
  flip_rows(n, (void *)A, (void *)A);
  bits_of(n, (unsigned char *)F, (unsigned char *)F);
  example_print("A", A, all);
  example_print("B", B, all);
  example_print("W", W, all);
  printf("F %016llx\n", (unsigned long long)example_hash(F, all * sizeof *F));
  free(A);
  free(B);
  free(W);
  free(F);
  return 0;
}
