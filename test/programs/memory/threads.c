// Four threads that each run the same function on their own array.
// ARGS: 33 17
// ARGS: 0 0
// ARGS: 1 1
// ARGS: 2 3
// ARGS: 31 65
// OFFLOAD: yes
// KERNELS: kernel
#include "example.h"
#include <pthread.h>

struct job {
  int n, m;
  double *A;
};

__attribute__((noinline)) static void kernel(int n, int m, double A[n][m]) {
  for (int i = 1; i < n; ++i)
    for (int j = 0; j < m; ++j)
      A[i][j] += A[i - 1][j] * 0.5;
}

static void *work(void *data) {
  struct job *job = data;
  for (int r = 0; r < 3; ++r)
    kernel(job->n, job->m, (double(*)[job->m])job->A);
  return NULL;
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 33), m = (int)example_arg(argc, argv, 2, 17);
  size_t count = (size_t)n * m;
  struct job jobs[4];
  pthread_t threads[4];
  if (!count)
    return 0;
  for (int t = 0; t < 4; ++t) {
    jobs[t] = (struct job){n, m, example_array(count)};
    example_fill(jobs[t].A, count);
  }
  for (int t = 0; t < 4; ++t)
    if (pthread_create(&threads[t], NULL, work, &jobs[t]))
      return 2;
  for (int t = 0; t < 4; ++t) {
    pthread_join(threads[t], NULL);
    example_print("A", jobs[t].A, count);
  }
  return 0;
}
