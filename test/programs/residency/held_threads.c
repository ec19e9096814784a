// Two threads take turns on one array, each with several SCoPs between a lock and an unlock; each owns every other element of another.
// ARGS: 64 12
// ARGS: 301 5
// ARGS: 1 2
// OFFLOAD: yes
#include "example.h"
#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turn_changed = PTHREAD_COND_INITIALIZER;
static int turn;

struct job {
  int n, rounds, own;
  double *shared, *mixed;
};

static void *work(void *data) {
  struct job *job = data;
  int n = job->n, own = job->own;
  double *shared = job->shared, *mixed = job->mixed;
  for (int r = 0; r < job->rounds; ++r) {
    for (int i = 0; i < n; ++i) // without the lock: its own elements
      mixed[2 * i + own] = mixed[2 * i + own] * 0.5 + own + i;
    pthread_mutex_lock(&mutex);
    while (turn != own)
      pthread_cond_wait(&turn_changed, &mutex);
    for (int i = 0; i < n; ++i)
      shared[i] = shared[i] * 0.75 + own;
    for (int i = 1; i < n; ++i)
      shared[i] += 0.5 * mixed[2 * i + own];
    turn = !own;
    pthread_cond_signal(&turn_changed);
    pthread_mutex_unlock(&mutex);
  }
  return NULL;
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 64), rounds = (int)example_arg(argc, argv, 2, 12);
  double *shared = example_array(n), *mixed = example_array(2 * (size_t)n);
  example_fill(shared, n);
  example_fill(mixed, 2 * (size_t)n);
  struct job jobs[2] = {{n, rounds, 0, shared, mixed}, {n, rounds, 1, shared, mixed}};
  pthread_t threads[2];
  for (int t = 0; t < 2; ++t)
    if (pthread_create(&threads[t], NULL, work, &jobs[t]))
      return 2;
  for (int t = 0; t < 2; ++t)
    pthread_join(threads[t], NULL);
  example_print("shared", shared, n);
  example_print("mixed", mixed, 2 * (size_t)n);
  return 0;
}
