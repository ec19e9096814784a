// Indices and pointers that inner loops advance, also where they do not run, where something else advances as well, or under a condition.
// ARGS: 33 17
// ARGS: 0 0
// ARGS: 5 0
// ARGS: 0 5
// ARGS: 1 1
// ARGS: 31 65
// OFFLOAD: yes
#include "example.h"

__attribute__((noinline)) static int counted(int n, int m, const double *restrict A, double *restrict B) {
  int k = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      B[k] += A[k] * i;
      k++;
    }
  return k;
}

__attribute__((noinline)) static long nested(long n, long m, long l, const double *restrict A, double *restrict B) {
  long k = 0;
  for (long i = 0; i < n; i++)
    for (long j = 0; j < m; j++)
      for (long q = 0; q < l; q++) {
        B[k] = A[k] * 0.5 + q;
        k++;
      }
  return k;
}

/* Rows of w in an array with rows of `pitch`. */
__attribute__((noinline)) static const double *pointers(size_t h, size_t w, size_t pitch, const double *from, double *restrict to) {
  for (size_t i = 0; i < h; i++) {
    for (size_t j = 0; j < w; j++)
      *to++ = *from++ - 0.25;
    from += pitch - w;
  }
  return from;
}

__attribute__((noinline)) static double *mean(int h, int w, const double *p, double *restrict q) {
  for (int i = 0; i < h; i++)
    for (int j = 0; j < w; j++) {
      *q++ = (p[0] + p[1] + p[2]) / 3;
      p += 3;
    }
  return q;
}

/* What is skipped with the inner loop is more than the loop. */
__attribute__((noinline)) static int skipped(int n, int m, double *A) {
  int k = 0;
  for (int i = 0; i < n; i++)
    if (m > 3) {
      k += 2;
      for (int j = 0; j < m; j++)
        A[k++] += i;
    }
  return k;
}

__attribute__((noinline)) static int guarded_twice(int n, int m, double *A) {
  int k = 0;
  for (int i = 0; i < n; i++) {
    if (n > 2)
      for (int j = 0; j < m; j++)
        A[k++] -= i;
    k += i % 2;
  }
  return k;
}

__attribute__((noinline)) static int after(int n, int m, double *A) {
  int k = 1;
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < m; j++)
      A[k++] *= 0.5;
    if (m > 4)
      k += 1;
  }
  return k;
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 33), m = (int)example_arg(argc, argv, 2, 17);
  size_t count = (size_t)(n + 1) * (m + 4) * 3;
  double *A = example_array(count), *B = example_array(count);
  example_fill(A, count);
  example_fill(B, count);
  printf("%d\n", counted(n, m, A, B));
  example_print("B", B, count);
  printf("%ld\n", nested(n, m, 3, B, A));
  example_print("A", A, count);
  printf("%ld\n", (long)(pointers(n, m, m + 2, A, B) - A));
  example_print("B", B, count);
  printf("%ld\n", (long)(mean(n, m, B, A) - A));
  example_print("A", A, count);
  printf("%d %d\n", skipped(n, m, A), skipped(n, -m, A));
  example_print("A", A, count);
  printf("%d %d\n", guarded_twice(n, m, A), guarded_twice(n, -m, A));
  example_print("A", A, count);
  printf("%d %d\n", after(n, m, A), after(n, -m, A));
  example_print("A", A, count);
  free(A);
  free(B);
  return 0;
}
