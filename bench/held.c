/* Arrays that stay on the device between SCoPs: twenty of them in a host loop that only the data ends, over 100 iterations, with a
 * host read every tenth.
 *
 *   held [n [iterations]]       default: 2000 100
 *
 * Prints the result's checksum on stdout, and on stderr the time of the loop and the bytes that have to be moved: each array to the device once,
 * A to the host at every read, B at the end (as A is then, where the last iteration reads it). POLLYRS_RT_PROFILE tells what was moved. Compiled with --pollyrs-option=hold=false it is
 * the program that copies all arrays each time. */
#include "../examples/example.h"
#include <time.h>

/* Keeps the loops apart: whether they run is computed, but not by an affine expression. */
#define NEXT(x) ((x) * 6364136223846793005u + 1442695040888963407u)
#define STEP(to, from, c)                                                                                                          \
  state = NEXT(state);                                                                                                             \
  if (state >> 7) {                                                                                                                \
    for (int i = 1; i < n - 1; i++)                                                                                                \
      for (int j = 1; j < n - 1; j++)                                                                                              \
        to[i * n + j] = (c) * (from[i * n + j - 1] + from[i * n + j + 1] + from[(i - 1) * n + j] + from[(i + 1) * n + j]);          \
  }
#define PAIR(c) STEP(B, A, c) STEP(A, B, 0.5 - (c))

__attribute__((noinline)) static double loop(int n, int iterations, double *restrict A, double *restrict B) {
  uint64_t state = 1;
  double seen = 0;
  int t = 0;
  while (t < iterations && seen < 1e300) {
    PAIR(0.26) PAIR(0.24) PAIR(0.25) PAIR(0.27) PAIR(0.23) PAIR(0.22) PAIR(0.28) PAIR(0.21) PAIR(0.29) PAIR(0.3)
    if (t % 10 == 9)
      seen += A[(t * 37 % n) * n + n / 2];
    t++;
  }
  return seen;
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 2000), iterations = (int)example_arg(argc, argv, 2, 100);
  size_t count = (size_t)n * n;
  double *A = example_array(count), *B = example_array(count);
  example_fill(A, count);
  example_fill(B, count);
  for (int run = 0; run < 3; run++) {
    struct timespec a, b;
    clock_gettime(CLOCK_MONOTONIC, &a);
    double seen = loop(n, iterations, A, B);
    clock_gettime(CLOCK_MONOTONIC, &b);
    double inner = (double)(n - 2) * (n - 2) * 8, reads = iterations / 10;
    double seconds = (double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec) * 1e-9;
    fprintf(stderr, "run %d: %.3f ms, %.2f us a SCoP, at least %.0f bytes in and %.0f out\n", run, seconds * 1e3,
            seconds * 1e6 / (20.0 * iterations), 2.0 * (double)count * 8, (reads + 1 + (iterations % 10 != 0)) * inner);
    printf("%.17g\n", seen);
  }
  example_print("A", A, count);
  example_print("B", B, count);
  return 0;
}
