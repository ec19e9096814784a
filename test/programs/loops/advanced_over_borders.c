// An index that walks through a grid in memory's order and skips its borders behind each row and plane: loops from one number to another, sizes for which
// they do not run, rows of a length of their own, what is left out of the index behind a loop, and columns that are skipped in front of it.
// ARGS: 9 12 17
// ARGS: 2 5 7
// ARGS: 5 2 7
// ARGS: 5 7 2
// ARGS: 3 3 3
// ARGS: 5 1 0
// ARGS: 1 0 5
// OFFLOAD: yes
// KERNELS: interior all_but_last columns pointers
#include "example.h"
__attribute__((noinline)) static int interior(int nx, int ny, int nz, const double *restrict from, double *restrict to) {
  int at = nz * ny + nz + 1;
  for (int i = 1; i < nx - 1; i++) {
    for (int j = 1; j < ny - 1; j++) {
      for (int k = 1; k < nz - 1; k++) {
        to[at] = 0.5 * from[at] + from[at + 1] - from[at - 1];
        at++;
      }
      at += 2;
    }
    at += 2 * nz;
  }
  return at;
}
__attribute__((noinline)) static int all_but_last(int nx, int ny, int nz, double *a) {
  int at = 0;
  for (int i = 0; i < nx - 1; i++) {
    for (int j = 0; j < ny - 1; j++) {
      for (int k = 0; k < nz - 1; k++)
        a[at++] *= 0.75;
      at++;
    }
    at += nz;
  }
  return at;
}
/* Rows are `pitch` apart, which nothing says of the columns. */
__attribute__((noinline)) static long columns(long lo, long hi, long h, long pitch, double *a) {
  long at = 0;
  for (long j = 0; j < h; j++) {
    at += lo;
    for (long k = lo; k < hi; k++)
      a[at++] += k;
    at = at - hi + pitch;
  }
  return at;
}
__attribute__((noinline)) static double *pointers(unsigned lo, unsigned hi, unsigned h, size_t pitch, double *a) {
  for (unsigned j = 0; j < h; j++) {
    for (unsigned k = lo; k < hi; k++)
      *a++ -= 0.125 * j;
    a += pitch - 2;
  }
  return a;
}
/* The step of the outer loop is not one number. */
__attribute__((noinline)) static int triangle(int n, double *a) {
  int at = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < i; j++)
      a[at++] += i;
  return at;
}
int main(int argc, char **argv) {
  int nx = (int)example_arg(argc, argv, 1, 9), ny = (int)example_arg(argc, argv, 2, 12), nz = (int)example_arg(argc, argv, 3, 17);
  size_t count = (size_t)(nx + 3) * (ny + 3) * (nz + 3) * 4;
  double *A = example_array(count), *B = example_array(count);
  example_fill(A, count);
  example_fill(B, count);
  printf("%d\n", interior(nx, ny, nz, A, B));
  example_print("B", B, count);
  printf("%d\n", all_but_last(nx, ny, nz, B));
  example_print("B", B, count);
  printf("%ld %ld\n", columns(1, nz, ny, nz + 2, A), columns(nz, 1, ny, nz + 3, A));
  example_print("A", A, count);
  printf("%ld\n", (long)(pointers(2, (unsigned)nz + 2, (unsigned)ny, (size_t)nz + 2, A) - A));
  example_print("A", A, count);
  printf("%d\n", triangle(ny, A));
  example_print("A", A, count);
  free(A);
  free(B);
  return 0;
}
