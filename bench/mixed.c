/* Kernels of all sizes, for the choice between device and host: prints "kernel n milliseconds" for each, the median of the last 15 of 25
 * executions on arrays that the host writes in between. Run by bench/regret.py in the modes always, never and auto; with an argument only
 * the kernel of that name, with "all" the mean of the first 40: what it takes to find out which side is faster is in there. */
#include "../examples/example.h"
#include <string.h>
#include <time.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

#define RUNS 25
#define KEPT 15
#define ALL_RUNS 40

__attribute__((noinline)) static void axpy(int n, double *restrict x, double *restrict y, double *restrict z) {
  (void)z;
  for (int i = 0; i < n * n; i++)
    y[i] += 1.0000001 * x[i];
}
__attribute__((noinline)) static void matvec(int n, double *restrict A, double *restrict x, double *restrict y) {
  for (int i = 0; i < n; i++) {
    double sum = 0;
    for (int j = 0; j < n; j++)
      sum += A[i * n + j] * x[j];
    y[i] = sum;
  }
}
__attribute__((noinline)) static void gemm(int n, double *restrict A, double *restrict B, double *restrict C) {
  for (int i = 0; i < n; i++)
    for (int k = 0; k < n; k++)
      for (int j = 0; j < n; j++)
        C[i * n + j] += 1e-6 * A[i * n + k] * B[k * n + j];
}
__attribute__((noinline)) static void jacobi(int n, double *restrict A, double *restrict B, double *restrict C) {
  (void)C;
  for (int t = 0; t < 20; t++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        B[i * n + j] = 0.2 * (A[i * n + j] + A[i * n + j - 1] + A[i * n + j + 1] + A[(i - 1) * n + j] + A[(i + 1) * n + j]);
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        A[i * n + j] = 0.2 * (B[i * n + j] + B[i * n + j - 1] + B[i * n + j + 1] + B[(i - 1) * n + j] + B[(i + 1) * n + j]);
  }
}
__attribute__((noinline)) static void covariance(int n, double *restrict A, double *restrict S, double *restrict C) {
  (void)C;
  for (int i = 0; i < n; i++)
    for (int j = i; j < n; j++) {
      S[i * n + j] = 0;
      for (int k = 0; k < n; k++)
        S[i * n + j] += A[k * n + i] * A[k * n + j];
    }
}

/* Whether a loop runs is computed, but not by an affine expression: two SCoPs, between which arrays stay on the device. */
#define NEXT(x) ((x) * 6364136223846793005u + 1442695040888963407u)
#define AVERAGE(to, from)                                                                                                          \
  state = NEXT(state);                                                                                                             \
  if (state >> 7)                                                                                                                  \
    for (int i = 1; i < n - 1; i++)                                                                                                \
      for (int j = 1; j < n - 1; j++)                                                                                              \
        to[i * n + j] = 0.25 * (from[i * n + j - 1] + from[i * n + j + 1] + from[(i - 1) * n + j] + from[(i + 1) * n + j]);
__attribute__((noinline)) static void steps(int n, double *restrict A, double *restrict B, double *restrict C) {
  uint64_t state = 1;
  double seen = 0;
  for (int t = 0; t < 20 && seen < 1e300; t++) {
    AVERAGE(B, A)
    AVERAGE(A, B)
    if (t % 10 == 9)
      seen += A[(t * 37 % n) * n + n / 2];
  }
  C[0] = seen;
}
/* Of another size each time. */
__attribute__((noinline)) static void update(int n, int k, double *restrict A, double *restrict B) {
  for (int i = k + 1; i < n; i++)
    for (int j = k + 1; j < n; j++)
      A[i * n + j] -= 1e-6 * A[i * n + k] * B[k * n + j];
}
__attribute__((noinline)) static void shrinking(int n, double *restrict A, double *restrict B, double *restrict C) {
  (void)C;
  for (int k = 0; k < n; k += n / 16)
    update(n, k, A, B);
}

/* The host's own accesses, which stay on the host: a call that is not inlined for each element. */
static void touch(double *a, int n) {
  for (int i = 0; i < n * n; i += n * n / 7 + 1)
    a[i] = (double)(example_bits() % 1000) * 1e-3;
}

int main(int argc, char **argv) {
  int all = argc > 1 && !strcmp(argv[1], "all"), runs = all ? ALL_RUNS : RUNS;
  static const struct {
    const char *name;
    void (*run)(int, double *restrict, double *restrict, double *restrict);
    int sizes[12];
  } kernels[] = {
      {"axpy", axpy, {10, 32, 100, 320, 1000, 3000}},
      {"matvec", matvec, {10, 32, 100, 320, 1000, 3000}},
      {"gemm", gemm, {8, 16, 32, 48, 64, 96, 128, 192, 256, 384, 512}},
      {"jacobi", jacobi, {8, 16, 32, 64, 128, 256, 512, 1024}},
      {"covariance", covariance, {8, 16, 32, 64, 96, 128, 192, 256, 400}},
      {"steps", steps, {16, 32, 64, 128, 256, 512, 1024}},
      {"shrinking", shrinking, {16, 64, 256, 512, 1024}},
  };
  /* All arrays are parts of one: where malloc puts them, and with that how fast the host's loops are, depends on what the driver has allocated. */
  double *room = aligned_alloc(4096, 3 * sizeof *room * (3072 * 3072));
  if (!room)
    return 2;
  memset(room, 0, 3 * sizeof *room * (3072 * 3072));
  /* Not timed: what pays for the driver's start, in a mode that has to be persuaded. */
  for (int r = 0; r < 15; r++) {
    double *a = example_array(3 * 512 * 512);
    example_fill(a, 3 * 512 * 512);
    gemm(512, a, a + 512 * 512, a + 2 * 512 * 512);
    free(a);
  }
  for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++)
    for (int s = 0; s < 12 && kernels[k].sizes[s] && (argc < 2 || all || !strcmp(argv[1], kernels[k].name)); s++) {
      int n = kernels[k].sizes[s];
      double *a[3], times[ALL_RUNS], sum = 0;
      for (int i = 0; i < 3; i++) {
        a[i] = room + i * ((size_t)n * n + 8 * 72);
        example_fill(a[i], (size_t)n * n);
      }
      for (int r = 0; r < runs; r++) {
        touch(a[0], n);
        double start = now();
        kernels[k].run(n, a[0], a[1], a[2]);
        sum += times[r] = now() - start;
      }
      qsort(times + RUNS - KEPT, KEPT, sizeof *times, ascending);
      printf("%s %d %.6f\n", kernels[k].name, n, all ? sum / ALL_RUNS : times[RUNS - KEPT + KEPT / 2]);
      fflush(stdout);
    }
  return 0;
}
