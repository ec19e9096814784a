/* A versioned SCoP for the checked emulated device, whose arrays stay on the device between executions.
 *
 *   watched SCENARIO
 *
 * Prints "device" or "host" for each execution, then what is right. */
#include "pollyrs_rt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 100, THREADS = 32 };

static const PollyrsEmuSite load_a = {"load of A", "A", 8, 0, 0, 1}, load_b = {"load of B", "B", 8, 0, 1, 1};
static const PollyrsEmuSite store_a = {"store to A", "A", 8, 1, 0, 1};

/* watched(A, B, lo, hi): A[i] = A[i] / 2 + B[i] */
__attribute__((visibility("default"))) void watched(const PollyrsEmuThread *t, void *const *args) {
  double *A = *(double **)args[0], *B = *(double **)args[1];
  int64_t i = *(int64_t *)args[2] + (int64_t)t->block * THREADS + t->thread[0];
  if (i < *(int64_t *)args[3]) {
    uint32_t undefined = pollyrs_rt_emu_load(t, A + i, &load_a) | pollyrs_rt_emu_load(t, B + i, &load_b);
    double value = A[i] * 0.5 + B[i];
    pollyrs_rt_emu_store(t, A + i, &store_a, undefined);
    A[i] = value;
  }
}

static const PollyrsImage images[] = {{POLLYRS_IMAGE_PTX, 70, "//PTX", 5}};
static const char *const names[] = {"A", "B"};
static const uint32_t indices[] = {0, 1};
static const PollyrsKernel kernels[] = {{"watched", watched, POLLYRS_KERNEL_CHECKED, 0, {THREADS, 1, 1}, 2, indices, 2, 0}};
static uint64_t cache;
static const PollyrsScop scop = {POLLYRS_ABI_VERSION, 0, "watched", "w.c:1", 1, 1, kernels, images, 0, 2, 0, names, &cache};

static double A[2 * N], B[N], expected[2 * N];
static int right = 1;

/* Elements lo .. hi - 1 are computed; said to be written are those from `out` to `end` - 1 of the first n. */
static void step(void **hold, int64_t n, int64_t lo, int64_t hi, int64_t out, int64_t end) {
  for (int64_t i = lo; i < hi; i++)
    expected[i] = expected[i] * 0.5 + B[i % N];
  uint32_t held = POLLYRS_ARRAY_COPY_IN | POLLYRS_ARRAY_HELD;
  PollyrsArray arrays[] = {
      {A, n * 8, 0, out * 8, (end - out) * 8, held | POLLYRS_ARRAY_COPY_OUT | 1 << POLLYRS_ARRAY_MASK_SHIFT, 8},
      {B, N * 8, 0, 0, 0, held | 2 << POLLYRS_ARRAY_MASK_SHIFT, 8},
  };
  uint64_t scalars[] = {lo, hi};
  void *run = pollyrs_rt_begin_held(hold, &scop, 1e9, arrays, 2);
  if (run)
    pollyrs_rt_launch(run, 0, (hi - lo + THREADS - 1) / THREADS, scalars);
  int done = run && pollyrs_rt_end(run) == 0;
  puts(done ? "device" : "host");
  fflush(stdout);
  if (!done)
    exit(3);
}

/* Whether A is what it should be, as far as it may be looked at. */
static void look(void) { right &= !memcmp(A, expected, sizeof A); }

int main(int argc, char **argv) {
  const char *scenario = argc > 1 ? argv[1] : "said";
  void *hold = 0;
  for (int i = 0; i < 2 * N; i++)
    expected[i] = A[i] = 1 + i * 0.25;
  for (int i = 0; i < N; i++)
    B[i] = 3 - i * 0.5;
  step(&hold, N, 5, N, 5, N);
  step(&hold, N, 10, 90, 10, 90);
  if (!strcmp(scenario, "said")) {
    pollyrs_rt_release(&hold, 1, 0);
    look();
    step(&hold, N, 0, N, 0, N);
    pollyrs_rt_release(&hold, 0, 2);
    B[50] = 77;
    step(&hold, N, 40, 60, 40, 60);
    pollyrs_rt_release(&hold, 0, 1);
    look();
    A[3] = expected[3] = 99;
    step(&hold, N, 0, 7, 0, 7);
  } else if (!strcmp(scenario, "unsaid")) {
    B[50] = 77;
    step(&hold, N, 40, 60, 40, 60);
  } else if (!strcmp(scenario, "unused")) {
    /* Nobody reads what the device has of an element that it writes. */
    A[50] = 77;
    step(&hold, N, 40, 60, 40, 60);
  } else if (!strcmp(scenario, "early")) {
    uint64_t bits;
    memcpy(&bits, &A[5], 8);
    puts(bits == ~0ull ? "nothing" : "something");
    right &= A[4] == expected[4];
  } else if (!strcmp(scenario, "freed")) {
    uint64_t bits;
    memcpy(&bits, &A[5], 8);
    int here = A[5] == 1 + 5 * 0.25;
    pollyrs_rt_discard(&hold, 4); /* no array's object */
    pollyrs_rt_discard(&hold, 1);
    pollyrs_rt_release(&hold, 1, 1);
    puts(A[5] == 1 + 5 * 0.25 ? "old" : !memcmp(&bits, &A[5], 8) && !here ? "nothing" : "new");
    for (int i = 0; i < 2 * N; i++)
      expected[i] = A[i] = i;
    step(&hold, N, 0, N, 0, N);
  } else if (!strcmp(scenario, "less")) {
    step(&hold, N, 40, 60, 40, 59);
  } else if (!strcmp(scenario, "more")) {
    step(&hold, N, 40, 60, 40, 61);
  } else
    return 2;
  pollyrs_rt_leave(&hold);
  look();
  puts(right ? "right" : "wrong");
}
