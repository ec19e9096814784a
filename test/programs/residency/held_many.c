// Ten thousand short executions while the program does what programs do: arrays grow, go and come back elsewhere, lie on the stack and overlap
// in part; a signal handler has loops of its own; children are forked and go on by themselves. Memory must not grow.
// ARGS: 10000 64
// ARGS: 40 1
// OFFLOAD: yes
#include "example.h"
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static double seen[64];
static volatile sig_atomic_t signals;

__attribute__((noinline)) static void scale(int n, double *A) {
  for (int i = 0; i < n; ++i)
    A[i] = A[i] * 0.5 + i;
}

__attribute__((noinline)) static void add(int n, double *A, const double *B) {
  for (int i = 0; i < n; ++i)
    A[i] += B[i] * 0.25;
}

static void on_signal(int number) {
  (void)number;
  for (int i = 0; i < 64; ++i)
    seen[i] = seen[i] * 0.5 + i;
  signals = signals + 1;
}

__attribute__((noinline)) static double stack(int n, const double *A) {
  double own[64];
  for (int i = 0; i < n; ++i)
    own[i] = A[i] * 2;
  add(n, own, A);
  return own[n - 1];
}

static long kibibytes(void) {
  long pages = 0, resident = 0;
  FILE *f = fopen("/proc/self/statm", "r");
  if (!f || fscanf(f, "%ld %ld", &pages, &resident) != 2)
    resident = 0;
  if (f)
    fclose(f);
  return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

static int child(int n, double *A) {
  pid_t pid = fork();
  if (pid == 0) {
    scale(n, A);
    add(n, A, A + n);
    _exit((int)(A[n / 2] < 0) + 2 * (A[n - 1] != A[n - 1]));
  }
  int status = -1;
  if (pid < 0 || waitpid(pid, &status, 0) != pid)
    return -1;
  return status;
}

int main(int argc, char **argv) {
  int rounds = (int)example_arg(argc, argv, 1, 10000), n = (int)example_arg(argc, argv, 2, 64);
  double *A = NULL, sum = 0;
  long before = 0;
  signal(SIGUSR1, on_signal);
  for (int r = 0; r < rounds / 4; ++r) {
    if (r % 50 == 0) {
      free(A);
      A = calloc(2 * (size_t)n, sizeof(double));
    } else if (r % 10 == 0) {
      A = realloc(A, (2 * (size_t)n + r % 300) * sizeof(double));
    }
    if (!A)
      return 1;
    scale(2 * n, A);
    add(n, A, A + n);
    if (r % 7 == 0)
      add(n, A + n / 2, A);
    if (r % 13 == 0)
      sum += stack(n, A);
    if (r % 100 == 3)
      raise(SIGUSR1);
    if (r % 1000 == 9)
      sum += child(n, A);
    add(n, A + n, A);
    if (r % 5 == 0)
      sum = sum * 0.5 + A[n];
    if (r == rounds / 16)
      before = kibibytes();
  }
  // Caches may fill; a leak of a hundred bytes an execution would be more.
  printf("%s\n", kibibytes() - before < 512 ? "steady" : "it grows");
  printf("%.17g %d\n", sum, (int)signals);
  example_print("A", A, 2 * (size_t)n);
  example_print("seen", seen, 64);
  free(A);
  return 0;
}
