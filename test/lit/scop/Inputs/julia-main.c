// What calls the functions of julia-arrays.ll: sound sizes, and a bounds error in the middle, with what was stored before it.
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

struct vector {
  double *data;
  void *memory;
  long length;
};
struct matrix {
  double *data;
  void *memory;
  long rows, columns;
};

static jmp_buf caught;
static long safepoint;

_Noreturn void ijl_bounds_error_int(void *array, long i) {
  (void)array;
  printf("bounds error at %ld\n", i);
  longjmp(caught, 1);
}
_Noreturn void j_throw_boundserror_7(void *array, long *index) {
  (void)array;
  printf("bounds error at %ld, %ld\n", index[0], index[1]);
  longjmp(caught, 1);
}
void julia_axpy_1(struct vector *y, double a, struct vector *x, long *safepoint);
void julia_step_2(struct matrix *B, struct matrix *A, double s, long *safepoint);

static double *numbers(long n) {
  static unsigned state = 7;
  double *a = malloc((size_t)n * sizeof *a);
  for (long i = 0; i < n; i++)
    a[i] = (double)((state = state * 1664525u + 1013904223u) >> 8) / 65536;
  return a;
}

int main(void) {
  enum { N = 60, R = 23, C = 31 };
  struct vector x = {numbers(N), 0, N}, y = {numbers(N), 0, N};
  double expected[N];
  for (long i = 0; i < N; i++)
    expected[i] = y.data[i] + 1.5 * x.data[i];
  julia_axpy_1(&y, 1.5, &x, &safepoint);
  for (long i = 0; i < N; i++)
    if (y.data[i] != expected[i])
      printf("wrong: y[%ld]\n", i);
  struct matrix A = {numbers(R * C), 0, R, C}, B = {numbers(R * C), 0, R, C};
  julia_step_2(&B, &A, 0.3, &safepoint);
  for (long j = 1; j < C - 1; j++)
    for (long i = 1; i < R - 1; i++)
      if (B.data[j * R + i] != 0.3 * (A.data[j * R + i - 1] + A.data[(j + 1) * R + i]))
        printf("wrong: B[%ld, %ld]\n", i, j);
  y.length = 40;
  for (long i = 0; i < 40; i++)
    expected[i] = y.data[i] + 0.5 * x.data[i];
  fflush(stdout);
  if (!setjmp(caught))
    julia_axpy_1(&y, 0.5, &x, &safepoint);
  for (long i = 0; i < N; i++)
    if (y.data[i] != expected[i])
      printf("wrong: y[%ld] before the error\n", i);
  puts("done");
  return 0;
}
