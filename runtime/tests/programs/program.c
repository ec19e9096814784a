/* Hand-written versioned SCoPs, in the shape of the code that the plugin generates.
 *
 *   program SCENARIO [repetitions]
 *
 * Prints "device" or "host" for each execution, then "right" or "wrong": all of host memory is compared with
 * what the scenario's original loop gives on a copy, so that a byte changed outside of the written range
 * counts as wrong. */
#define _GNU_SOURCE
#include "pollyrs_rt.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define THREADS 32

#define EXPORT __attribute__((visibility("default")))

static double *f64(void *const *args, int i) { return *(double **)args[i]; }
static int64_t i64(void *const *args, int i) { return *(int64_t *)args[i]; }

/* ---- kernels
 * ------------------------------------------------------------------------------------------------------- */

/* plain(A, B, lo, hi, s): B[i] = 0.5 * B[i] + s * A[i - 1] + B[hi + i % 3] */
EXPORT void plain(const PollyrsEmuThread *t, void *const *args) {
  double *A = f64(args, 0), *B = f64(args, 1);
  int64_t lo = i64(args, 2), hi = i64(args, 3), i = lo + (int64_t)t->block * THREADS + t->thread[0];
  float s;
  memcpy(&s, args[4], sizeof s); /* a smaller type in its slot */
  if (i < hi)
    B[i] = 0.5 * B[i] + s * A[i - 1] + B[hi + i % 3];
}

/* first(A, T, Z, n): T[i] = A[i] + 1; second(T, B, n): B[i] = T[n - 1 - i] * 2 */
EXPORT void first(const PollyrsEmuThread *t, void *const *args) {
  int64_t i = (int64_t)t->block * THREADS + t->thread[0];
  if (i < i64(args, 3))
    f64(args, 1)[i] = f64(args, 0)[i] + 1;
  if (!*(void **)args[2])
    abort();
}
EXPORT void second(const PollyrsEmuThread *t, void *const *args) {
  int64_t n = i64(args, 2), i = (int64_t)t->block * THREADS + t->thread[0];
  if (i < n)
    f64(args, 1)[i] = f64(args, 0)[n - 1 - i] * 2;
}

/* rotate(A): each block of 8x4x2 threads reverses its 64 elements in shared memory, then adds its left
 * neighbour there. Its two warps know the numbers of their neighbours, one of them twice. */
static int linear(const PollyrsEmuThread *t) { return (t->thread[2] * 4 + t->thread[1]) * 8 + t->thread[0]; }
EXPORT void rotate(const PollyrsEmuThread *t, void *const *args) {
  double *A = f64(args, 0) + 64 * t->block, *shared = t->shared;
  int x = linear(t);
  if ((uintptr_t)shared % 128)
    abort();
  shared[63 - x] = A[x];
  pollyrs_rt_emu_barrier(t);
  double sum = shared[x] + shared[(x + 63) % 64];
  pollyrs_rt_emu_barrier(t);
  shared[x] = sum;
  pollyrs_rt_emu_barrier(t);
  for (int i = 0, lane = x % 32; i < 1 + x / 32; ++i)
    if (pollyrs_rt_emu_shuffle(t, x, 1) != (uint64_t)(lane < 31 ? x + 1 : x) || pollyrs_rt_emu_shuffle(t, x, -3) != (uint64_t)(lane > 2 ? x - 3 : x))
      abort();
  A[x] = shared[(x + 1) % 64] * 0.5;
}

EXPORT void diverge(const PollyrsEmuThread *t, void *const *args) {
  (void)args;
  if (linear(t) % 2)
    pollyrs_rt_emu_barrier(t);
}
/* Half of a warp passes values. */
EXPORT void split(const PollyrsEmuThread *t, void *const *args) {
  (void)args;
  if (linear(t) % 2)
    pollyrs_rt_emu_shuffle(t, 1, 1);
}
EXPORT void undeclared(const PollyrsEmuThread *t, void *const *args) {
  (void)args;
  pollyrs_rt_emu_barrier(t);
}
/* One thread a block. */
EXPORT void alone(const PollyrsEmuThread *t, void *const *args) {
  pollyrs_rt_emu_barrier(t);
  f64(args, 0)[t->block] += 1;
}
EXPORT void overrun(const PollyrsEmuThread *t, void *const *args) {
  if (t->thread[0] == 0)
    f64(args, 0)[i64(args, 1)] = 1;
}
/* both(A, B, n): A[i] += 1, B[i] *= 2 */
EXPORT void both(const PollyrsEmuThread *t, void *const *args) {
  int64_t i = (int64_t)t->block * THREADS + t->thread[0];
  if (i < i64(args, 2)) {
    f64(args, 0)[i] += 1;
    f64(args, 1)[i] *= 2;
  }
}
/* scale(A, lo, hi, k): A[i] = A[i] / 2 + k; reflect(A, B, n, k): B[i] = A[n - 1 - i] + k B[i]. Differences of
 * order show. */
EXPORT void scale(const PollyrsEmuThread *t, void *const *args) {
  int64_t i = i64(args, 1) + (int64_t)t->block * THREADS + t->thread[0];
  if (i < i64(args, 2))
    f64(args, 0)[i] = f64(args, 0)[i] * 0.5 + *(double *)args[3];
}
EXPORT void reflect(const PollyrsEmuThread *t, void *const *args) {
  int64_t n = i64(args, 2), i = (int64_t)t->block * 16 + t->thread[0] + 4 * t->thread[1];
  if (i < n)
    f64(args, 1)[i] = f64(args, 0)[n - 1 - i] + *(double *)args[3] * f64(args, 1)[i];
}
EXPORT void tiled(const PollyrsEmuThread *t, void *const *args) { plain(t, args); }
EXPORT const int tiled_arguments = 5;
EXPORT const int scale_arguments = 4, reflect_arguments = 4, plain_arguments = 5, first_arguments = 4, second_arguments = 3, both_arguments = 3;
/* The first columns of rows of 1000. */
EXPORT void columns(const PollyrsEmuThread *t, void *const *args) {
  int64_t row = (int64_t)t->block * THREADS + t->thread[0];
  for (int64_t j = 0; row < i64(args, 1) && j < i64(args, 2); j++) {
    double *a = &f64(args, 0)[1000 * row + j], factor = *(double *)args[3];
    *a = (factor ? factor * *a : 0) + j;
  }
}
EXPORT const int columns_arguments = 4;
/* sliced(A, B, C, n, first): B[i] = A[i] + 2 A[i + 1], C[i] = A[i] - C[i], in blocks from `first` on */
EXPORT void sliced(const PollyrsEmuThread *t, void *const *args) {
  int64_t i = (i64(args, 4) + (int64_t)t->block) * THREADS + t->thread[0];
  double *A = f64(args, 0), *C = f64(args, 2);
  if (i < i64(args, 3))
    f64(args, 1)[i] = A[i] + 2 * A[i + 1], C[i] = A[i] - C[i];
}
EXPORT const int sliced_arguments = 5;
/* step(A, B, n, first): B[i] = A[i - 1] / 2 + A[i + 1] / 4, but for both ends */
EXPORT void step(const PollyrsEmuThread *t, void *const *args) {
  int64_t i = (i64(args, 3) + (int64_t)t->block) * THREADS + t->thread[0];
  if (i > 0 && i < i64(args, 2) - 1)
    f64(args, 1)[i] = f64(args, 0)[i - 1] * 0.5 + f64(args, 0)[i + 1] * 0.25;
}
EXPORT const int step_arguments = 4;
/* hurried(A, B, n, first): B[i] = A[i] + 2 A[i + 1] */
EXPORT void hurried(const PollyrsEmuThread *t, void *const *args) {
  int64_t i = (i64(args, 3) + (int64_t)t->block) * THREADS + t->thread[0];
  if (i < i64(args, 2))
    f64(args, 1)[i] = f64(args, 0)[i] + 2 * f64(args, 0)[i + 1];
}
EXPORT const int hurried_arguments = 4;
/* faulty(A, F, n, late): A[i] = A[i] / 2, or, with `late`, a fault. */
EXPORT void faulty(const PollyrsEmuThread *t, void *const *args) {
  int64_t i = (int64_t)t->block * THREADS + t->thread[0];
  if (i < i64(args, 2))
    f64(args, 0)[i] *= 0.5;
  if (i == 0 && i64(args, 3))
    **(uint8_t **)args[1] = 1;
}
EXPORT const int faulty_arguments = 4;
EXPORT void increment(const PollyrsEmuThread *t, void *const *args) {
  f64(args, 0)[t->block * 256 + t->thread[0]] += 1;
}
EXPORT const int increment_arguments = 2;

/* ---- descriptors
 * --------------------------------------------------------------------------------------------------- */

#ifdef KERNELS_PTX /* for a real device */
__asm__(".section .rodata\nkernels_ptx: .incbin \"" KERNELS_PTX "\"\n.byte 0\n.previous");
extern const char kernels_ptx[] __asm__("kernels_ptx");
#define PTX kernels_ptx, 0
#else
static const char ptx[] = "//PTX of the test";
#define PTX ptx, sizeof ptx - 1
#endif
static const char garbage[] = "nonsense";
static const PollyrsImage images[] = {{POLLYRS_IMAGE_PTX, 70, PTX}};
static const PollyrsImage bad_images[] = {{POLLYRS_IMAGE_PTX, 70, garbage, sizeof garbage - 1}};
static const PollyrsImage late_images[] = {{POLLYRS_IMAGE_PTX, 120, PTX}};
static const PollyrsImage mixed_images[] = {{POLLYRS_IMAGE_PTX, 70, PTX},
                                            {POLLYRS_IMAGE_CUBIN, 90, garbage, sizeof garbage - 1},
                                            {POLLYRS_IMAGE_CUBIN, 80, PTX}};
#define TEXT(arch) {POLLYRS_IMAGE_PTX, arch, "//PTX for sm_" #arch, 15}
static const PollyrsImage generation_images[] = {TEXT(90), TEXT(80), TEXT(70)};

static const char *const reasons[] = {"n is negative", "A and B overlap"};
static const char *const names[] = {"A", "B", "T", "Z"};
static const uint32_t indices[] = {0, 1, 2, 3};
static const uint32_t third[] = {2}, fourth[] = {3}, first_arrays[] = {0, 2, 3}, second_arrays[] = {2, 1};

#define BLOCK(x, y, z) {x, y, z}
#define SCOP(id, at, kernels, images, n_images, n_arrays)                                                              \
  static uint64_t id##_cache;                                                                                          \
  static const PollyrsScop id##_scop = {POLLYRS_ABI_VERSION, 0, #id, at, sizeof kernels / sizeof *kernels, n_images,   \
                                        kernels, images, 2, n_arrays, reasons, names, &id##_cache}

static const PollyrsKernel plain_kernels[] = {{"plain", plain, 0, 0, BLOCK(THREADS, 1, 1), 2, indices, 3, 0}};
SCOP(plain, "a \"file\".c:7", plain_kernels, images, 1, 2);
SCOP(refused, "", plain_kernels, bad_images, 1, 2);
SCOP(late, "", plain_kernels, late_images, 1, 2);
SCOP(mixed, "", plain_kernels, mixed_images, 3, 2);
/* Code for the first kernel comes later; the second does the same. */
static const PollyrsKernel tiled_kernels[] = {
    {"tiled", plain, POLLYRS_KERNEL_LATE, 0, BLOCK(THREADS, 1, 1), 2, indices, 3, 0},
    {"plain", plain, 0, 0, BLOCK(THREADS, 1, 1), 2, indices, 3, 0}};
static const PollyrsImage tiled_images[] = {{POLLYRS_IMAGE_EARLY_CUBIN, 90, "//PTX early", 11},
                                            {POLLYRS_IMAGE_PTX, 70, "//PTX whole", 11}};
static const PollyrsImage untiled_images[] = {{POLLYRS_IMAGE_EARLY_CUBIN, 90, "//PTX early", 11},
                                              {POLLYRS_IMAGE_PTX, 70, garbage, sizeof garbage - 1}};
SCOP(tiled, "", tiled_kernels, tiled_images, 2, 2);
SCOP(untiled, "", tiled_kernels, untiled_images, 2, 2);
/* 150,000 bytes of shared memory, before sm_80 75 KiB. */
static const PollyrsKernel product_kernels[] = {
    {"plain", plain, 75 << POLLYRS_KERNEL_PLAIN_SHIFT, 0, BLOCK(THREADS, 1, 1), 2, indices, 3, 150000}};
SCOP(generations, "", product_kernels, generation_images, 3, 2);
SCOP(imageless, "", plain_kernels, 0, 0, 2);
static uint64_t version_cache;
static const PollyrsScop version_scop = {99, 0, (const char *)1, 0, 1, 1, 0, 0, 0, 2, 0, 0, &version_cache};

static const PollyrsKernel both_kernels[] = {{"both", both, 0, 0, BLOCK(THREADS, 1, 1), 2, indices, 1, 0}};
SCOP(both, "", both_kernels, images, 1, 2);

static const PollyrsKernel scratch_kernels[] = {
    {"first", first, 0, 0, BLOCK(THREADS, 1, 1), 3, first_arrays, 1, 0},
    {"second", second, 0, 0, BLOCK(THREADS, 1, 1), 2, second_arrays, 1, 0}};
SCOP(scratch, "b.c:1", scratch_kernels, images, 1, 4);

static const PollyrsKernel chain_kernels[] = {{"scale", scale, 0, 0, BLOCK(THREADS, 1, 1), 1, indices, 3, 0},
                                              {"reflect", reflect, 0, 0, BLOCK(4, 4, 1), 2, indices, 2, 0}};
SCOP(chain, "c.c:1", chain_kernels, images, 1, 2);

static const PollyrsKernel sliced_kernels[] = {{"sliced", sliced, 0, 0, BLOCK(THREADS, 1, 1), 3, indices, 2, 0},
                                               {"scale", scale, 0, 0, BLOCK(THREADS, 1, 1), 1, third, 3, 0},
                                               {"scale", scale, 0, 0, BLOCK(THREADS, 1, 1), 1, fourth, 3, 0}};
SCOP(sliced, "d.c:1", sliced_kernels, images, 1, 4);

static const uint32_t backward[] = {1, 0};
static const PollyrsKernel divided_kernels[] = {{"step", step, 0, 0, BLOCK(THREADS, 1, 1), 2, indices, 2, 0},
                                                {"step", step, 0, 0, BLOCK(THREADS, 1, 1), 2, backward, 2, 0}};
SCOP(divided, "e.c:1", divided_kernels, images, 1, 2);

static const PollyrsKernel faulty_kernels[] = {{"faulty", faulty, 0, 0, BLOCK(THREADS, 1, 1), 2, indices, 2, 0},
                                               {"scale", scale, 0, 0, BLOCK(THREADS, 1, 1), 1, third, 3, 0}};
SCOP(faulty, "", faulty_kernels, images, 1, 3);
static const PollyrsKernel hurried_kernels[] = {{"hurried", hurried, 0, 0, BLOCK(THREADS, 1, 1), 2, indices, 2, 0}};
SCOP(hurried, "", hurried_kernels, images, 1, 2);

static const PollyrsKernel columns_kernels[] = {{"columns", columns, 0, 0, BLOCK(THREADS, 1, 1), 1, indices, 3, 0}};
SCOP(columns, "", columns_kernels, images, 1, 1);

#define ONE_KERNEL(id, flags, shared, block)                                                                           \
  static const PollyrsKernel id##_kernels[] = {{#id, id, flags, shared, block, 1, indices, 1, 0}};                     \
  SCOP(id, "", id##_kernels, images, 1, 1)
ONE_KERNEL(rotate, POLLYRS_KERNEL_HAS_BARRIER, 64 * sizeof(double), BLOCK(8, 4, 2));
ONE_KERNEL(diverge, POLLYRS_KERNEL_HAS_BARRIER, 0, BLOCK(8, 4, 2));
ONE_KERNEL(split, POLLYRS_KERNEL_HAS_BARRIER, 0, BLOCK(8, 4, 2));
ONE_KERNEL(undeclared, 0, 0, BLOCK(8, 4, 2));
ONE_KERNEL(alone, POLLYRS_KERNEL_HAS_BARRIER, 0, BLOCK(1, 1, 1));
ONE_KERNEL(overrun, 0, 0, BLOCK(8, 1, 1));
ONE_KERNEL(increment, 0, 0, BLOCK(256, 1, 1));
static const PollyrsKernel host_only_kernels[] = {{"plain", 0, 0, 0, BLOCK(THREADS, 1, 1), 2, indices, 3, 0}};
SCOP(host_only, "", host_only_kernels, images, 1, 2);

/* ---- scenarios
 * ----------------------------------------------------------------------------------------------------- */

static double work = 1e9;

static double *numbers(int64_t n, double seed) {
  double *a = malloc(n * sizeof *a);
  for (int64_t i = 0; i < n; i++)
    a[i] = seed + (double)((i * 7919) % 1013) / 3;
  return a;
}
static double *copy_of(const double *a, int64_t n) {
  double *c = malloc(n * sizeof *c);
  memcpy(c, a, n * sizeof *c);
  return c;
}
static int right = 1;
static void compare(const double *a, const double *expected, int64_t n) {
  if (memcmp(a, expected, n * sizeof *a))
    __atomic_store_n(&right, 0, __ATOMIC_RELAXED);
}
static uint64_t blocks(int64_t n) { return (n + THREADS - 1) / THREADS; }

/* Host part: done on the device, or the original loop. */
static int finish(void *run, int quiet) {
  int done = run && pollyrs_rt_end(run) == 0;
  if (!quiet)
    puts(done ? "device" : "host");
  return done;
}

static void run_plain(const PollyrsScop *scop, int64_t lo, int64_t hi, int64_t n, int quiet) {
  double *A = numbers(n, 1), *B = numbers(n, 2), *expected = copy_of(B, n), *A0 = copy_of(A, n);
  float s = 1.25f;
  for (int64_t i = lo; i < hi; i++)
    expected[i] = 0.5 * expected[i] + s * A[i - 1] + expected[hi + i % 3];
  int64_t count = hi > lo ? hi - lo : 0, extra = count ? 3 : 0;
  PollyrsArray arrays[] = {
      {A + lo - 1, count * 8, -(lo - 1) * 8, 0, 0, POLLYRS_ARRAY_COPY_IN, 8},
      {B + lo, (count + extra) * 8, -lo * 8, 0, count * 8, POLLYRS_ARRAY_COPY_IN | POLLYRS_ARRAY_COPY_OUT, 8},
  };
  uint64_t scalars[] = {lo, hi, 0xdeadbeef00000000u};
  memcpy(&scalars[2], &s, sizeof s);
  int late = scop->kernels == tiled_kernels && pollyrs_rt_late(scop, work);
  void *run = pollyrs_rt_begin(scop, work, arrays, 2);
  if (run)
    pollyrs_rt_launch(run, late, blocks(count), scalars);
  if (!finish(run, quiet)) {
    double *before = numbers(n, 2);
    compare(B, before, n);
    free(before);
    void *host = pollyrs_rt_host_begin(scop, POLLYRS_REASON_RUNTIME);
    for (int64_t i = lo; i < hi; i++)
      B[i] = 0.5 * B[i] + s * A[i - 1] + B[hi + i % 3];
    pollyrs_rt_host_end(host);
  }
  compare(B, expected, n);
  compare(A, A0, n);
  free(A), free(B), free(expected), free(A0);
}

static void run_scratch(int64_t n) {
  double *A = numbers(n, 1), *B = numbers(n, 2), *expected = copy_of(B, n);
  for (int64_t i = 0; i < n; i++)
    expected[i] = (A[n - 1 - i] + 1) * 2;
  PollyrsArray arrays[] = {
      {A, n * 8, 0, 0, 0, POLLYRS_ARRAY_COPY_IN, 8},
      {B, n * 8, 0, 0, n * 8, POLLYRS_ARRAY_COPY_OUT, 8},
      {0, n * 8, 0, 0, 0, POLLYRS_ARRAY_SCRATCH, 8},
      {0, 0, 123456, 0, 0, POLLYRS_ARRAY_COPY_IN | POLLYRS_ARRAY_COPY_OUT, 8},
  };
  uint64_t scalars[] = {n};
  void *run = pollyrs_rt_begin(&scratch_scop, work, arrays, 4);
  if (run) {
    pollyrs_rt_launch(run, 0, blocks(n), scalars);
    pollyrs_rt_launch(run, 1, blocks(n), scalars);
  }
  if (!finish(run, 0)) {
    compare(B, numbers(n, 2), n);
    void *host = pollyrs_rt_host_begin(&scratch_scop, POLLYRS_REASON_RUNTIME);
    memcpy(B, expected, n * 8);
    pollyrs_rt_host_end(host);
  }
  compare(B, expected, n);
}

/* Two written arrays. */
static void run_both(int64_t n, int quiet) {
  double *A = numbers(n, 1), *B = numbers(n, 2), *expected_A = copy_of(A, n), *expected_B = copy_of(B, n);
  for (int64_t i = 0; i < n; i++)
    expected_A[i] += 1, expected_B[i] *= 2;
  PollyrsArray arrays[] = {
      {A, n * 8, 0, 0, n * 8, POLLYRS_ARRAY_COPY_IN | POLLYRS_ARRAY_COPY_OUT, 8},
      {B, n * 8, 0, 0, n * 8, POLLYRS_ARRAY_COPY_IN | POLLYRS_ARRAY_COPY_OUT, 8},
  };
  uint64_t scalars[] = {n};
  void *run = pollyrs_rt_begin(&both_scop, work, arrays, 2);
  if (run)
    pollyrs_rt_launch(run, 0, blocks(n), scalars);
  if (!finish(run, quiet)) {
    double *A0 = numbers(n, 1), *B0 = numbers(n, 2);
    compare(A, A0, n);
    compare(B, B0, n);
    free(A0), free(B0);
    void *host = pollyrs_rt_host_begin(&both_scop, POLLYRS_REASON_RUNTIME);
    memcpy(A, expected_A, n * 8);
    memcpy(B, expected_B, n * 8);
    pollyrs_rt_host_end(host);
  }
  compare(A, expected_A, n);
  compare(B, expected_B, n);
  free(A), free(B), free(expected_A), free(expected_B);
}

static void nap(double seconds) {
  struct timespec time = {(time_t)seconds, (long)((seconds - (time_t)seconds) * 1e9)};
  nanosleep(&time, 0);
}

#include "divided.h"
#include "sliced.h"

/* So many launches one after the other, each with other arguments, in a hold or not. */
static void run_chain(int64_t n, int launches, void **hold, double *A, double *B, double *eA, double *eB, int quiet) {
  uint32_t held = hold ? POLLYRS_ARRAY_HELD | 1 << POLLYRS_ARRAY_MASK_SHIFT : 0;
  uint32_t flags = POLLYRS_ARRAY_COPY_IN | POLLYRS_ARRAY_COPY_OUT | held;
  PollyrsArray arrays[] = {{A, n * 8, 0, 0, n * 8, flags, 8}, {B, n * 8, 0, 0, n * 8, flags, 8}};
  void *run = hold ? pollyrs_rt_begin_held(hold, &chain_scop, work, arrays, 2) : pollyrs_rt_begin(&chain_scop, work, arrays, 2);
  for (int l = 0; l < launches; l++) {
    int reflects = l % 3 == 1, lo = l % 7, hi = n - l % 11;
    double k = 1 + l * 0.001;
    for (int i = 0; reflects && i < n; i++)
      eB[i] = eA[n - 1 - i] + k * 1e-3 * eB[i];
    for (int i = lo; !reflects && i < hi; i++)
      eA[i] = eA[i] * 0.5 + k;
    uint64_t scalars[3] = {lo, hi};
    if (reflects)
      scalars[0] = n, k *= 1e-3;
    memcpy(&scalars[reflects ? 1 : 2], &k, 8);
    if (run)
      pollyrs_rt_launch(run, reflects, reflects ? (n + 15) / 16 : blocks(hi - lo), scalars);
  }
  if (!finish(run, quiet)) {
    void *host = hold ? pollyrs_rt_host_begin_held(hold, &chain_scop, POLLYRS_REASON_RUNTIME)
                      : pollyrs_rt_host_begin(&chain_scop, POLLYRS_REASON_RUNTIME);
    memcpy(A, eA, n * 8);
    memcpy(B, eB, n * 8);
    pollyrs_rt_host_end(host);
  }
}

/* Executions of so many launches: alone, and five of one hold, after which the first array is looked at. */
static void run_chains(int64_t n, int launches, int quiet) {
  double *A = numbers(n, 1), *B = numbers(n, 2), *eA = copy_of(A, n), *eB = copy_of(B, n);
  run_chain(n, launches, 0, A, B, eA, eB, quiet);
  compare(A, eA, n);
  compare(B, eB, n);
  void *hold = 0;
  for (int e = 0; e < 5; e++) {
    run_chain(n, launches, &hold, A, B, eA, eB, quiet);
    if (e == 2) {
      pollyrs_rt_release(&hold, 1, 0);
      compare(A, eA, n);
    }
  }
  pollyrs_rt_leave(&hold);
  compare(A, eA, n);
  compare(B, eB, n);
  free(A), free(B), free(eA), free(eB);
}

/* A kernel over one array: `elements` of them are `A`, of which [out, out + n_out) is written. */
static void run_one(const PollyrsScop *scop, double *A, int64_t elements, int64_t out, int64_t n_out, uint64_t n_blocks,
                    uint64_t scalar) {
  PollyrsArray arrays[] = {
      {A, elements * 8, 0, out * 8, n_out * 8, POLLYRS_ARRAY_COPY_IN | POLLYRS_ARRAY_COPY_OUT, 8}};
  void *run = pollyrs_rt_begin(scop, work, arrays, 1);
  if (run)
    pollyrs_rt_launch(run, 0, n_blocks, &scalar);
  if (!finish(run, 0)) {
    void *host = pollyrs_rt_host_begin(scop, POLLYRS_REASON_RUNTIME);
    pollyrs_rt_host_end(host);
  }
}

static void run_rotate(int64_t n_blocks) {
  int64_t n = 64 * n_blocks;
  double *A = numbers(n, 1), *expected = malloc(n * 8), reversed[64], sums[64];
  for (int64_t b = 0; b < n_blocks; b++) {
    for (int x = 0; x < 64; x++)
      reversed[63 - x] = A[64 * b + x];
    for (int x = 0; x < 64; x++)
      sums[x] = reversed[x] + reversed[(x + 63) % 64];
    for (int x = 0; x < 64; x++)
      expected[64 * b + x] = sums[(x + 1) % 64] * 0.5;
  }
  run_one(&rotate_scop, A, n, 0, n, n_blocks, 0);
  compare(A, expected, n);
}

/* y[i] += 1, x[i] *= 2 again and again on the same arrays of n doubles, and in between what `between`
 * does. */
static void run_steps(int64_t n, int steps, const char *between) {
  double *A = malloc(n * 8), *B = malloc(n * 8), *expected_A = malloc(n * 8), *expected_B = malloc(n * 8);
  for (int64_t i = 0; i < n; i++)
    expected_A[i] = A[i] = i % 1013 * 0.25, expected_B[i] = B[i] = i % 509 * 0.5;
  int zero = open("/dev/zero", O_RDONLY);
  for (int s = 0; s < steps; s++) {
    for (int64_t i = 0; i < n; i++)
      expected_A[i] += 1, expected_B[i] *= 2;
    PollyrsArray arrays[] = {
        {.start = A, .bytes = n * 8, .out_bytes = n * 8, .flags = POLLYRS_ARRAY_COPY_IN | POLLYRS_ARRAY_COPY_OUT, .element_bytes = 8},
        {.start = B, .bytes = n * 8, .out_bytes = n * 8, .flags = POLLYRS_ARRAY_COPY_IN | POLLYRS_ARRAY_COPY_OUT, .element_bytes = 8},
    };
    uint64_t scalars[] = {n};
    void *run = pollyrs_rt_begin(&both_scop, work, arrays, 2);
    if (run)
      pollyrs_rt_launch(run, 0, blocks(n), scalars);
    if (!finish(run, 0)) {
      memcpy(A, expected_A, n * 8);
      memcpy(B, expected_B, n * 8);
    }
    compare(A, expected_A, n);
    compare(B, expected_B, n);
    if (!strcmp(between, "one")) /* a single byte of a page in the middle */
      A[n / 2] = expected_A[n / 2] = 3.5 + s;
    else if (!strcmp(between, "all"))
      for (int64_t i = 0; i < n; i++)
        A[i] = expected_A[i] = s + i % 7, B[i] = expected_B[i] = s - i % 11;
    else if (!strcmp(between, "read")) { /* through the kernel */
      if (read(zero, A + n / 3, 100000) != 100000)
        abort();
      memset(expected_A + n / 3, 0, 100000);
    } else if (!strcmp(between, "free")) { /* most likely the same addresses again */
      free(A), free(B);
      A = malloc(n * 8), B = malloc(n * 8);
      for (int64_t i = 0; i < n; i++)
        expected_A[i] = A[i] = s + i % 13, expected_B[i] = B[i] = i % 17 - s;
    } else if (!strcmp(between, "realloc")) {
      A = realloc(A, (n + 1000 * (s + 1)) * 8);
      A[5] = expected_A[5] = s;
    } else if (!strcmp(between, "fork")) {
      pid_t child = fork();
      if (child == 0) {
        A[n / 4] = -1;
        _exit(0);
      }
      waitpid(child, 0, 0);
      A[n / 5] = expected_A[n / 5] = s;
    }
  }
  close(zero);
}

/* Both loops over arrays of n elements, as given; what they have to be afterwards. Frees all four. */
static void run_both_arrays(PollyrsArray *arrays, int64_t n, double *A, double *B, double *expected_A, double *expected_B) {
  uint64_t scalars[] = {n};
  void *run = pollyrs_rt_begin(&both_scop, work, arrays, 2);
  if (run)
    pollyrs_rt_launch(run, 0, blocks(n), scalars);
  if (!finish(run, 0)) {
    void *host = pollyrs_rt_host_begin(&both_scop, POLLYRS_REASON_RUNTIME);
    memcpy(A, expected_A, n * 8);
    memcpy(B, expected_B, n * 8);
    pollyrs_rt_host_end(host);
  }
  compare(A, expected_A, n);
  compare(B, expected_B, n);
  free(A), free(B), free(expected_A), free(expected_B);
}

/* Rows of A, and what changes of B, come back: A[i] += 1 in columns 7 .. 900 of rows of 1000, B[i] *= 2
 * (every third is 0). */
static void run_parts(int64_t rows) {
  int64_t n = 1000 * rows;
  double *A = numbers(n, 1), *B = numbers(n, 2), *expected_A = copy_of(A, n), *expected_B;
  for (int64_t i = 0; i < n; i += 3)
    B[i] = 0;
  expected_B = copy_of(B, n);
  for (int64_t i = 0; i < n; i++) {
    if (i % 1000 >= 7 && i % 1000 <= 900)
      expected_A[i] += 1;
    expected_B[i] *= 2;
  }
  uint32_t flags = POLLYRS_ARRAY_COPY_IN | POLLYRS_ARRAY_COPY_OUT;
  PollyrsArray arrays[] = {
      {.start = A, .bytes = n * 8, .out_offset = 56, .out_bytes = (n - 1000 + 894) * 8, .flags = flags | POLLYRS_ARRAY_ROWS,
       .element_bytes = 8, .row_bytes = 894 * 8, .row_count = {1, 1, rows}, .row_stride = {0, 0, 8000}},
      {.start = B, .bytes = n * 8, .out_bytes = n * 8, .flags = flags | POLLYRS_ARRAY_CHANGED, .element_bytes = 8},
  };
  run_both_arrays(arrays, n, A, B, expected_A, expected_B);
}

/* A[i] += 1 in columns 0 .. 2 of rows of 1000, B[i] *= 2 in columns 0 .. 31, in two planes; nothing else is
 * touched. */
static void run_window(int64_t rows) {
  int64_t n = 1000 * rows;
  double *A = numbers(n, 1), *B = numbers(n, 2), *expected_A = copy_of(A, n), *expected_B = copy_of(B, n);
  for (int64_t i = 0; i < n; i++) {
    expected_A[i] += i % 1000 < 3;
    expected_B[i] *= i % 1000 < 32 ? 2 : 1;
  }
  uint32_t flags = POLLYRS_ARRAY_COPY_IN | POLLYRS_ARRAY_COPY_OUT | POLLYRS_ARRAY_WINDOW;
  PollyrsArray arrays[] = {
      {.start = A, .bytes = n * 8, .out_bytes = n * 8, .flags = flags, .element_bytes = 8, .row_bytes = 24,
       .row_count = {1, 1, rows}, .row_stride = {0, 0, 8000}},
      {.start = B, .bytes = n * 8, .out_bytes = n * 8, .flags = flags, .element_bytes = 8, .row_bytes = 256,
       .row_count = {1, 2, rows / 2}, .row_stride = {0, rows / 2 * 8000, 8000}},
  };
  run_both_arrays(arrays, n, A, B, expected_A, expected_B);
}

/* One execution of plain(X, Y) in a hold, and of what it computes on copies. `bits` are the objects of X and
 * Y. */
static void held_step(void **hold, int64_t n, double *X, double *Y, const double *eX, double *eY, const int bits[2], int quiet) {
  int64_t lo = 5, hi = n - 5;
  float s = 0.125f;
  for (int64_t i = lo; i < hi; i++)
    eY[i] = 0.5 * eY[i] + s * eX[i - 1] + eY[hi + i % 3];
  uint32_t x = POLLYRS_ARRAY_HELD | (uint32_t)bits[0] << POLLYRS_ARRAY_MASK_SHIFT;
  uint32_t y = POLLYRS_ARRAY_HELD | (uint32_t)bits[1] << POLLYRS_ARRAY_MASK_SHIFT;
  PollyrsArray arrays[] = {
      {X, n * 8, 0, 0, 0, POLLYRS_ARRAY_COPY_IN | x, 8},
      {Y, n * 8, 0, lo * 8, (hi - lo) * 8, POLLYRS_ARRAY_COPY_IN | POLLYRS_ARRAY_COPY_OUT | y, 8},
  };
  uint64_t scalars[] = {lo, hi, 0};
  memcpy(&scalars[2], &s, sizeof s);
  void *run = pollyrs_rt_begin_held(hold, &plain_scop, work, arrays, 2);
  if (run)
    pollyrs_rt_launch(run, 0, blocks(hi - lo), scalars);
  if (!finish(run, quiet)) {
    void *host = pollyrs_rt_host_begin_held(hold, &plain_scop, POLLYRS_REASON_RUNTIME);
    for (int64_t i = lo; i < hi; i++)
      Y[i] = 0.5 * Y[i] + s * X[i - 1] + Y[hi + i % 3];
    pollyrs_rt_host_end(host);
  }
}

/* The first columns in a hold, as a window or (`whole`) in the range that they lie in; a factor of 0: what
 * was there is not read. */
static void columns_step(void **hold, int64_t rows, int64_t width, double factor, int whole, double *A, double *expected) {
  for (int64_t i = 0; i < rows; i++)
    for (int64_t j = 0; j < width; j++)
      expected[1000 * i + j] = (factor ? factor * expected[1000 * i + j] : 0) + j;
  uint32_t flags = POLLYRS_ARRAY_COPY_OUT | POLLYRS_ARRAY_HELD | 1u << POLLYRS_ARRAY_MASK_SHIFT;
  flags |= factor || whole ? POLLYRS_ARRAY_COPY_IN : 0;
  flags |= whole ? POLLYRS_ARRAY_ROWS : POLLYRS_ARRAY_WINDOW;
  uint64_t bytes = ((rows - 1) * 1000 + width) * 8;
  PollyrsArray array = {.start = A, .bytes = bytes, .out_bytes = bytes, .flags = flags, .element_bytes = 8, .row_bytes = 8 * width,
                        .row_count = {1, 1, rows}, .row_stride = {0, 0, 8000}};
  uint64_t scalars[] = {rows, width, 0};
  memcpy(&scalars[2], &factor, sizeof factor);
  void *run = pollyrs_rt_begin_held(hold, &columns_scop, work, &array, 1);
  if (run)
    pollyrs_rt_launch(run, 0, blocks(rows), scalars);
  if (!finish(run, 0)) {
    void *host = pollyrs_rt_host_begin_held(hold, &columns_scop, POLLYRS_REASON_RUNTIME);
    for (int64_t i = 0; i < rows; i++)
      memcpy(&A[1000 * i], &expected[1000 * i], 8 * width);
    pollyrs_rt_host_end(host);
  }
}

/* Windows that lie in each other, more than an entry knows, and all of the matrix in between. */
static void run_held_windows(int64_t rows) {
  double *A = numbers(1000 * rows, 1), *expected = copy_of(A, 1000 * rows);
  void *hold = 0;
  columns_step(&hold, rows, 3, 0.5, 0, A, expected);
  columns_step(&hold, rows, 3, 2, 0, A, expected);
  columns_step(&hold, rows, 40, 0, 0, A, expected);
  columns_step(&hold, rows, 20, 0.25, 0, A, expected);
  pollyrs_rt_release(&hold, 1, 0);
  compare(A, expected, 1000 * rows);
  columns_step(&hold, rows, 500, 0.5, 1, A, expected);
  columns_step(&hold, rows, 3, 2, 0, A, expected);
  pollyrs_rt_release(&hold, 1, 1);
  compare(A, expected, 1000 * rows);
  A[7] = expected[7] = 3, A[1000 * rows - 1] = expected[1000 * rows - 1] = 4;
  for (int64_t width = 2; width < 26; width += 2)
    columns_step(&hold, rows, width, width % 4, 0, A, expected);
  columns_step(&hold, rows, 30, 3, 1, A, expected);
  columns_step(&hold, rows, 5, 0, 0, A, expected);
  pollyrs_rt_leave(&hold);
  compare(A, expected, 1000 * rows);
  free(A), free(expected);
}

/* Twenty SCoPs in a loop; every tenth time round A is read, every 25th a byte of B written. */
static void run_held(int64_t n, int rounds, int writes, int quiet) {
  double *A = numbers(n, 1), *B = numbers(n, 2), *eA = copy_of(A, n), *eB = copy_of(B, n);
  void *hold = 0;
  static const int ab[] = {1, 2}, ba[] = {2, 1};
  for (int r = 0; r < rounds; r++) {
    for (int s = 0; s < 10; s++) {
      held_step(&hold, n, A, B, eA, eB, ab, quiet);
      held_step(&hold, n, B, A, eB, eA, ba, quiet);
    }
    if (r % 10 == 9) {
      pollyrs_rt_release(&hold, 1, 0);
      compare(A, eA, n);
    }
    if (writes && r % 25 == 24) {
      pollyrs_rt_release(&hold, 0, 2);
      compare(B, eB, n);
      B[n / 2] = eB[n / 2] = r;
    }
  }
  pollyrs_rt_leave(&hold);
  if (hold)
    right = 0;
  compare(A, eA, n);
  compare(B, eB, n);
  free(A), free(B), free(eA), free(eB);
}

/* As run_parts, twice and with a late return; what the device does not write changes meanwhile, as another
 * thread may do. */
static void run_held_parts(int64_t rows) {
  int64_t n = 1000 * rows;
  double *A = numbers(n, 1), *B = numbers(n, 2), *eA, *eB;
  for (int64_t i = 0; i < n; i += 3)
    B[i] = 0;
  eA = copy_of(A, n), eB = copy_of(B, n);
  uint32_t flags = POLLYRS_ARRAY_COPY_IN | POLLYRS_ARRAY_COPY_OUT | POLLYRS_ARRAY_HELD;
  void *hold = 0;
  for (int step = 0; step < 4; step++) {
    for (int64_t i = 0; i < n; i++) {
      if (i % 1000 >= 7 && i % 1000 <= 900)
        eA[i] += 1;
      if (i % 3) /* the others are another thread's by now */
        eB[i] *= 2;
    }
    PollyrsArray arrays[] = {
        {.start = A, .bytes = n * 8, .out_offset = 56, .out_bytes = (n - 1000 + 894) * 8,
         .flags = flags | POLLYRS_ARRAY_ROWS | 1 << POLLYRS_ARRAY_MASK_SHIFT, .element_bytes = 8, .row_bytes = 894 * 8,
         .row_count = {1, 1, rows}, .row_stride = {0, 0, 8000}},
        {.start = B, .bytes = n * 8, .out_bytes = n * 8, .flags = flags | POLLYRS_ARRAY_CHANGED | 2 << POLLYRS_ARRAY_MASK_SHIFT,
         .element_bytes = 8},
    };
    uint64_t scalars[] = {n};
    void *run = pollyrs_rt_begin_held(&hold, &both_scop, work, arrays, 2);
    if (run)
      pollyrs_rt_launch(run, 0, blocks(n), scalars);
    if (!finish(run, 0))
      abort();
    if (step == 2) {
      pollyrs_rt_release(&hold, 2, 0);
      compare(B, eB, n);
    }
    for (int64_t i = 0; i < n; i++) {
      if (i % 1000 < 7 || i % 1000 > 900)
        A[i] = eA[i] = i + step;
      if (step == 0 && i % 3 == 0)
        B[i] = eB[i] = 0.5 * i; /* nobody else reads or writes these before the end */
    }
  }
  pollyrs_rt_leave(&hold);
  compare(A, eA, n);
  for (int64_t i = 0; i < n; i++) /* what the second copy in after step 2 made of the other thread's is its own business */
    if (i % 3)
      right &= B[i] == eB[i];
  free(A), free(B), free(eA), free(eB);
}

/* A hold in which other arrays overlap the held ones: in one allocation, not held, growing, freed. */
static void run_held_overlap(int64_t n) {
  double *A = numbers(4 * n, 1), *eA = copy_of(A, 4 * n);
  void *hold = 0;
  static const int one[] = {1, 1}, none[] = {0, 0};
  for (int r = 0; r < 6; r++) {
    held_step(&hold, n, A, A + n, eA, eA + n, one, 0);
    held_step(&hold, n, A + n, A + 2 * n, eA + n, eA + 2 * n, one, 0);
    held_step(&hold, 2 * n, A + 2 * n, A, eA + 2 * n, eA, one, 0);
    held_step(&hold, n / 2, A + n / 2, A + 3 * n, eA + n / 2, eA + 3 * n, one, 0);
    { /* an array that is not held lies across two that are */
      PollyrsArray arrays[] = {
          {A + n / 2, n * 8, 0, 0, n * 8, POLLYRS_ARRAY_COPY_IN | POLLYRS_ARRAY_COPY_OUT, 8},
          {A + 3 * n, n * 8, 0, 0, n * 8, POLLYRS_ARRAY_COPY_IN | POLLYRS_ARRAY_COPY_OUT | POLLYRS_ARRAY_HELD | 256, 8},
      };
      uint64_t scalars[] = {n};
      for (int64_t i = 0; i < n; i++)
        eA[n / 2 + i] += 1, eA[3 * n + i] *= 2;
      void *run = pollyrs_rt_begin_held(&hold, &both_scop, work, arrays, 2);
      if (run)
        pollyrs_rt_launch(run, 0, blocks(n), scalars);
      if (!finish(run, 0)) {
        void *host = pollyrs_rt_host_begin_held(&hold, &both_scop, POLLYRS_REASON_RUNTIME);
        for (int64_t i = 0; i < n; i++)
          A[n / 2 + i] += 1, A[3 * n + i] *= 2;
        pollyrs_rt_host_end(host);
      }
      compare(A + n / 2, eA + n / 2, n);
    }
    (void)none;
  }
  pollyrs_rt_leave(&hold);
  compare(A, eA, 4 * n);
  free(A), free(eA);
}

static void *held_thread_main(void *unused) {
  run_held(3000, 12, 1, 1);
  return unused;
}

/* A[i] += 1 by each of some launches 40 ms apart, or an original loop that takes some nanoseconds. */
static void run_timed(int launches, double estimate, double host_ns) {
  double *A = numbers(256, 1), *expected = copy_of(A, 256);
  for (int i = 0; i < 256 * launches; i++)
    expected[i % 256] += 1;
  PollyrsArray arrays[] = {{A, 2048, 0, 0, 2048, POLLYRS_ARRAY_COPY_IN | POLLYRS_ARRAY_COPY_OUT, 8}};
  uint64_t scalar = 0;
  void *run = pollyrs_rt_begin(&increment_scop, estimate, arrays, 1);
  for (int i = 0; run && i < launches; i++) {
    pollyrs_rt_launch(run, 0, 1, &scalar);
    if (launches > 1)
      nap(0.04);
  }
  if (!finish(run, 0)) {
    void *host = pollyrs_rt_host_begin(&increment_scop, POLLYRS_REASON_RUNTIME);
    nap(host_ns * 1e-9);
    for (int i = 0; i < 256 * launches; i++)
      A[i % 256] += 1;
    pollyrs_rt_host_end(host);
  }
  compare(A, expected, 256);
  free(A), free(expected);
}

static void *chain_thread_main(void *unused) {
  for (int i = 0; i < 3; i++)
    run_chains(50 + i, 250 + 30 * i, 1);
  return unused;
}

static void *large_thread_main(void *unused) {
  for (int i = 0; i < 4; i++)
    run_both((100 << 10) + 1000 * i + 1, 1);
  return unused;
}

static void *thread_main(void *unused) {
  for (int i = 0; i < 50; i++)
    run_plain(&plain_scop, 5, 1000 + i, 2000, 1);
  return unused;
}

static void *one_execution(void *unused) {
  run_plain(&plain_scop, 5, 1000, 2000, 1);
  return unused;
}

static void in_threads(void *(*body)(void *)) {
  pthread_t threads[4];
  for (int i = 0; i < 4; i++)
    pthread_create(&threads[i], 0, body, 0);
  for (int i = 0; i < 4; i++)
    pthread_join(threads[i], 0);
}

static ucontext_t caller;
static void coroutine(void) { run_plain(&plain_scop, 5, 1000, 2000, 1); }

/* A thread with 64 KiB, one with 1 MiB, and a coroutine, whose stack may be of any size. */
static void run_small_stacks(void) {
  for (size_t bytes = 64 << 10; bytes <= 1 << 20; bytes *= 16) {
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    if (pthread_attr_setstacksize(&attributes, bytes) || pthread_create(&thread, &attributes, one_execution, 0))
      abort();
    pthread_join(thread, 0);
    pthread_attr_destroy(&attributes);
  }
  static char stack[256 << 10];
  ucontext_t own;
  getcontext(&own);
  own.uc_stack.ss_sp = stack;
  own.uc_stack.ss_size = sizeof stack;
  own.uc_link = &caller;
  makecontext(&own, coroutine, 0);
  swapcontext(&caller, &own);
}

/* Pages that the process has in memory. */
static long resident_pages(void) {
  long size = 0, resident = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  if (!file || fscanf(file, "%ld %ld", &size, &resident) != 2)
    abort();
  fclose(file);
  return resident;
}

/* Executions of several kinds again and again: nothing may grow after the first quarter. */
static void run_steady(int rounds) {
  long pages = 0;
  for (int r = 0; r < rounds; r++) {
    if (r == rounds / 4)
      pages = resident_pages();
    run_plain(&plain_scop, 5, 900, 1000, 1);
    run_both(700, 1);
    run_held(300, 1, 1, 1);
    run_chains(40, 150, 1);
    run_plain(&refused_scop, 5, 900, 1000, 1);
  }
  long grown = (resident_pages() - pages) * 4;
  if (grown > 256)
    printf("grown by %ld KiB\n", grown);
  else
    puts("steady");
}

/* Time steps as of a long run: as many executions of two steps each on arrays that stay, of which one is
 * looked at now and then, and all steps once more in one execution. Nothing may grow after the first
 * quarter. */
static void run_long(int executions) {
  enum { N = 40 };
  double *A = numbers(N, 1), *B = numbers(N, 2), *eA = copy_of(A, N), *eB = copy_of(B, N);
  void *hold = 0;
  long pages = 0;
  for (int e = 0; e < executions; e++) {
    if (e == executions / 4)
      pages = resident_pages();
    right &= pollyrs_rt_holds(&hold) == (e > 0);
    run_chain(N, 2, &hold, A, B, eA, eB, 1);
    if (e % 1000 == 999) {
      pollyrs_rt_release(&hold, 1, 0);
      compare(A, eA, N);
    }
  }
  pollyrs_rt_leave(&hold);
  right &= !pollyrs_rt_holds(&hold) && !pollyrs_rt_holds(0);
  long grown = (resident_pages() - pages) * 4;
  run_chain(N, 2 * executions, 0, A, B, eA, eB, 1);
  compare(A, eA, N), compare(B, eB, N);
  if (grown > 256)
    printf("grown by %ld KiB\n", grown);
  else
    puts("steady");
  free(A), free(B), free(eA), free(eB);
}

/* A signal handler with a loop of its own, over memory of its own. The program lets signals in where it is in
 * the library only (the allocator, for one, may not be interrupted by what allocates). */
static double handled[512];
static volatile int n_handled;
static volatile pid_t main_thread;

static void on_signal(int unused) {
  (void)unused;
  if (gettid() != main_thread) {
    tgkill(getpid(), main_thread, SIGALRM);
    return;
  }
  PollyrsArray array = {handled, sizeof handled, 0, 0, sizeof handled, POLLYRS_ARRAY_COPY_IN | POLLYRS_ARRAY_COPY_OUT, 8};
  uint64_t scalar = 0;
  void *run = pollyrs_rt_begin(&increment_scop, work, &array, 1);
  if (run)
    pollyrs_rt_launch(run, 0, 2, &scalar);
  if (!run || pollyrs_rt_end(run)) {
    void *host = pollyrs_rt_host_begin(&increment_scop, POLLYRS_REASON_RUNTIME);
    for (int i = 0; i < 512; i++)
      handled[i] += 1;
    pollyrs_rt_host_end(host);
  }
  n_handled++;
}

/* Executions that are interrupted once each, at some time: a timer that goes on and on keeps a busy machine
 * from anything but the handler. */
static void run_interrupted(void) {
  struct itimerval never = {{0, 0}, {0, 0}};
  sigset_t alarms;
  sigemptyset(&alarms);
  sigaddset(&alarms, SIGALRM);
  main_thread = gettid();
  sigprocmask(SIG_BLOCK, &alarms, 0);
  signal(SIGALRM, on_signal);
  double *A = numbers(4096, 1), *expected = copy_of(A, 4096);
  for (int r = 0; r < 2000 && (r < 200 || n_handled < 20); r++) {
    PollyrsArray array = {A, 4096 * 8, 0, 0, 4096 * 8, POLLYRS_ARRAY_COPY_IN | POLLYRS_ARRAY_COPY_OUT, 8};
    uint64_t scalar = 0;
    struct itimerval soon = {{0, 0}, {0, 5 + r * 37 % 150}};
    setitimer(ITIMER_REAL, &soon, 0);
    sigprocmask(SIG_UNBLOCK, &alarms, 0);
    void *run = pollyrs_rt_begin(&increment_scop, work, &array, 1);
    if (run)
      pollyrs_rt_launch(run, 0, 16, &scalar);
    int failed = !run || pollyrs_rt_end(run);
    sigprocmask(SIG_BLOCK, &alarms, 0);
    for (int i = 0; i < 4096; i++) {
      if (failed)
        A[i] += 1;
      expected[i] += 1;
    }
    compare(A, expected, 4096);
  }
  setitimer(ITIMER_REAL, &never, 0);
  for (int i = 0; i < 512; i++)
    right &= handled[i] == n_handled;
  puts(n_handled >= 20 ? "interrupted" : "undisturbed");
  free(A), free(expected);
}

int main(int argc, char **argv) {
  const char *scenario = argc > 1 ? argv[1] : "plain";
  int repetitions = argc > 2 ? atoi(argv[2]) : 1;
#define IS(name) (!strcmp(scenario, name))
  for (int r = 0; r < repetitions; r++) {
    if (IS("plain"))
      run_plain(&plain_scop, 5, 1003, 1200, 0);
    else if (IS("sizes")) {
      static const int64_t sizes[] = {-3, 0, 1, 31, 32, 33, 100};
      for (int i = 0; i < 7; i++)
        run_plain(&plain_scop, 4, 4 + sizes[i], 120, 0);
    } else if (IS("refused"))
      run_plain(&refused_scop, 5, 1003, 1200, 0);
    else if (IS("late"))
      run_plain(&late_scop, 5, 1003, 1200, 0);
    else if (IS("mixed"))
      run_plain(&mixed_scop, 5, 1003, 1200, 0);
    else if (IS("generations"))
      run_plain(&generations_scop, 5, 1003, 1200, 0);
    else if (IS("imageless"))
      run_plain(&imageless_scop, 5, 1003, 1200, 0);
    else if (IS("host_only"))
      run_plain(&host_only_scop, 5, 1003, 1200, 0);
    else if (IS("tiled") || IS("untiled")) { /* µs to the next execution */
      work = 1000;
      run_plain(IS("tiled") ? &tiled_scop : &untiled_scop, 5, 1003, 1200, 0);
      usleep(argc > 3 ? atoi(argv[3]) : 0);
    }
    else if (IS("version"))
      run_plain(&version_scop, 5, 1003, 1200, 0);
    else if (IS("versions")) {
      for (int i = 0; i < 3; i++)
        run_plain(&version_scop, 5, 1003, 1200, 0);
    } else if (IS("small")) {
      work = 100;
      run_plain(&plain_scop, 5, 105, 200, 0);
    } else if (IS("reason")) {
      void *host = pollyrs_rt_host_begin(&plain_scop, 1);
      pollyrs_rt_host_end(host);
      puts(host ? "reported" : "silent");
    } else if (IS("scratch"))
      run_scratch(1000);
    else if (IS("both"))
      run_both(1 << 20, 0); /* 8 MiB each */
    else if (IS("sliced")) { /* elements, A's mistake, B's, work */
      work = argc > 6 ? atof(argv[6]) : work;
      run_sliced(argc > 3 ? atoi(argv[3]) : 1000, argc > 4 ? atoi(argv[4]) : 0, argc > 5 ? atoi(argv[5]) : 0);
    }
    else if (IS("divided")) /* elements, rounds, held, elements of the halo that are forgotten */
      run_divided(argc > 3 ? atoi(argv[3]) : 1000, argc > 4 ? atoi(argv[4]) : 2, argc > 5 && atoi(argv[5]), argc > 6 ? atoi(argv[6]) : 0);
    else if (IS("sliced_steps")) /* elements, held arrays, rounds */
      run_sliced_steps(argc > 3 ? atoi(argv[3]) : 1000, argc > 4 ? atoi(argv[4]) : -1, argc > 5 ? atoi(argv[5]) : 6, 0);
    else if (IS("sliced_threads"))
      in_threads(sliced_thread_main);
    else if (IS("sliced_fork")) {
      run_sliced_steps(270000, -1, 2, 0);
      fflush(stdout);
      pid_t child = fork();
      if (child == 0) {
        run_sliced_steps(270000, 12, 2, 0);
        puts(right ? "right" : "wrong");
        fflush(stdout);
        _exit(0);
      }
      waitpid(child, 0, 0);
      run_sliced_steps(270000, -1, 2, 0);
    } else if (IS("hurried"))
      run_hurried(1000, 6);
    else if (IS("faulty"))
      run_faulty(1000, 6);
    else if (IS("large"))
      run_both((9 << 18) + 3, 0); /* a little more than 18 MiB each */
    else if (IS("parts"))
      run_parts(argc > 3 ? atoi(argv[3]) : 2000);
    else if (IS("held"))
      run_held(argc > 3 ? atoi(argv[3]) : 20000, argc > 4 ? atoi(argv[4]) : 100, argc > 5, 1);
    else if (IS("held_few"))
      run_held(2000, 1, 1, 1);
    else if (IS("window"))
      run_window(argc > 3 ? atoi(argv[3]) : 2000);
    else if (IS("held_windows"))
      run_held_windows(argc > 3 ? atoi(argv[3]) : 100);
    else if (IS("held_parts"))
      run_held_parts(argc > 3 ? atoi(argv[3]) : 100);
    else if (IS("held_overlap"))
      run_held_overlap(1000);
    else if (IS("held_threads"))
      in_threads(held_thread_main);
    else if (IS("steps"))
      run_steps(200000, 6, argv[3]);
    else if (IS("timed"))
      run_timed(1, atof(argv[3]), atof(argv[4]));
    else if (IS("endless"))
      run_timed(20, 2.5e8, 2.5e8);
    else if (IS("progress"))
      run_timed(30, 2.5e8, 2.5e8);
    else if (IS("rotate"))
      run_rotate(1000);
    else if (IS("alone")) {
      double *A = numbers(100, 1), *expected = copy_of(A, 100);
      for (int i = 0; i < 100; i++)
        expected[i] += 1;
      run_one(&alone_scop, A, 100, 0, 100, 100, 0);
      compare(A, expected, 100);
    } else if (IS("split"))
      run_one(&split_scop, numbers(64, 1), 64, 0, 64, 1, 0);
    else if (IS("diverge"))
      run_one(&diverge_scop, numbers(64, 1), 64, 0, 64, 1, 0);
    else if (IS("undeclared"))
      run_one(&undeclared_scop, numbers(64, 1), 64, 0, 64, 1, 0);
    else if (IS("overrun"))
      run_one(&overrun_scop, numbers(64, 1), 64, 0, 64, 1, 64);
    else if (IS("underrun"))
      run_one(&overrun_scop, numbers(64, 1), 64, 0, 64, 1, (uint64_t)-1);
    else if (IS("outside"))
      run_one(&overrun_scop, numbers(64, 1), 64, 0, 20, 1, 20);
    else if (IS("inside"))
      run_one(&overrun_scop, numbers(64, 1), 64, 0, 20, 1, 19);
    else if (IS("bad_range"))
      run_one(&overrun_scop, numbers(64, 1), 64, 40, 25, 1, 19);
    else if (IS("bad_kernel")) {
      PollyrsArray array = {numbers(8, 1), 64, 0, 0, 64, POLLYRS_ARRAY_COPY_IN | POLLYRS_ARRAY_COPY_OUT, 8};
      void *run = pollyrs_rt_begin(&alone_scop, work, &array, 1);
      if (run)
        pollyrs_rt_launch(run, 5, 1, 0);
      finish(run, 0);
    } else if (IS("many")) {
      int64_t n = 10 << 20;
      double *A = calloc(n, 8);
      struct timespec a, b;
      clock_gettime(CLOCK_MONOTONIC, &a);
      run_one(&increment_scop, A, n, 0, n, n / 256, 0);
      clock_gettime(CLOCK_MONOTONIC, &b);
      fprintf(stderr, "%.3f s\n", (b.tv_sec - a.tv_sec) + (b.tv_nsec - a.tv_nsec) * 1e-9);
      for (int64_t i = 0; i < n; i++)
        right &= A[i] == 1;
    } else if (IS("many_barriers"))
      run_rotate(1 << 14);
    else if (IS("threads"))
      in_threads(thread_main);
    else if (IS("small_stacks"))
      run_small_stacks();
    else if (IS("large_threads"))
      in_threads(large_thread_main);
    else if (IS("chains"))
      run_chains(100, argc > 3 ? atoi(argv[3]) : 300, 0);
    else if (IS("chain_threads"))
      in_threads(chain_thread_main);
    else if (IS("steady"))
      run_steady(argc > 3 ? atoi(argv[3]) : 400);
    else if (IS("long"))
      run_long(argc > 3 ? atoi(argv[3]) : 1000);
    else if (IS("signals"))
      run_interrupted();
    else if (IS("fork") || IS("fork_first")) {
      if (IS("fork"))
        run_plain(&plain_scop, 5, 1003, 1200, 0);
      fflush(stdout);
      pid_t child = fork();
      if (child == 0) {
        run_plain(&plain_scop, 5, 1003, 1200, 0);
        puts(right ? "right" : "wrong");
        fflush(stdout);
        _exit(0);
      }
      waitpid(child, 0, 0);
      run_plain(&plain_scop, 5, 1003, 1200, 0);
    } else
      return 2;
  }
  puts(right ? "right" : "wrong");
  return 0;
}
