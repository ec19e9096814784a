// Threads that share arrays: each owns some columns of a matrix, every second element of a vector, its own triangle. What lies between
// the elements that one of them writes belongs to the others, who are writing there at the same time.
// ARGS: 33 40
// ARGS: 0 4
// ARGS: 1 8
// ARGS: 2 3
// ARGS: 130 64
// OFFLOAD: yes
#include "example.h"
#include <pthread.h>

enum { THREADS = 4, ROUNDS = 20 };

struct job {
  int n, m, index;
  double *A, *v, *T;
};

__attribute__((noinline)) static void columns(int n, int m, int from, int to, double A[n][m]) {
  for (int i = 0; i < n; ++i)
    for (int j = from; j < to; ++j)
      A[i][j] = A[i][j] * 0.75 + i - j;
}

__attribute__((noinline)) static void strided(int count, int from, double *v) {
  for (int i = 0; i < count; ++i)
    v[THREADS * i + from] = v[THREADS * i + from] * 0.5 + i;
}

/* The upper triangle of the even rows, or the lower one with its diagonal. */
__attribute__((noinline)) static void triangle(int n, int lower, double T[n][n]) {
  if (lower) {
    for (int i = 0; i < n; ++i)
      for (int j = 0; j <= i; ++j)
        T[i][j] = T[i][j] * 0.25 + j;
  } else {
    for (int i = 0; i < n; ++i)
      for (int j = i + 1; j < n; ++j)
        T[i][j] = T[i][j] * 0.5 - i;
  }
}

static void *work(void *data) {
  struct job *job = data;
  int from = (int)((long)job->m * job->index / THREADS), to = (int)((long)job->m * (job->index + 1) / THREADS);
  for (int r = 0; r < ROUNDS; ++r) {
    columns(job->n, job->m, from, to, (double(*)[job->m])job->A);
    strided(job->n, job->index, job->v);
    if (job->index < 2 && job->n > 0)
      triangle(job->n, job->index, (double(*)[job->n])job->T);
  }
  return NULL;
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 33), m = (int)example_arg(argc, argv, 2, 40);
  size_t count = (size_t)n * m, length = (size_t)n * THREADS, square = (size_t)n * n;
  if (!count)
    return 0;
  double *A = example_array(count), *v = example_array(length), *T = example_array(square);
  example_fill(A, count);
  example_fill(v, length);
  example_fill(T, square);
  struct job jobs[THREADS];
  pthread_t threads[THREADS];
  for (int t = 0; t < THREADS; ++t) {
    jobs[t] = (struct job){n, m, t, A, v, T};
    if (pthread_create(&threads[t], NULL, work, &jobs[t]))
      return 2;
  }
  for (int t = 0; t < THREADS; ++t)
    pthread_join(threads[t], NULL);
  example_print("A", A, count);
  example_print("v", v, length);
  example_print("T", T, square);
  free(A);
  free(v);
  free(T);
  return 0;
}
