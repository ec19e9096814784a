/* How fast arrays in ordinary memory get to the device and back, against the link's own speed from pinned memory.
 *
 *   transfers [MB ...]        default: 1 16 64 256
 *
 * Compile with the driver and --pollyrs-option=hold=false (arrays do not stay on the device); run on a machine with a GPU with
 * POLLYRS_RT_OFFLOAD=always. Two loops: one reads a large array (the first and the last of every 1024 elements, so that nothing else counts
 * and no row is left out) and writes a small one, the other writes a large array. Each figure is the median of 9 after a warm-up, in GB/s. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define RUNS 9
#define STEP 1024

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + t.tv_nsec * 1e-9;
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median(double *times) {
  qsort(times, RUNS, sizeof *times, ascending);
  return times[RUNS / 2];
}

__attribute__((noinline)) static void reads(long n, const double *restrict large, double *restrict small) {
  for (long i = 0; i < n / STEP; i++)
    small[i] = large[STEP * i] + large[STEP * i + STEP - 1];
}

__attribute__((noinline)) static void writes(long n, double *large, double x) {
  for (long i = 0; i < n; i++)
    large[i] = x;
}

/* The driver's functions for the comparison. */
static int (*to_device)(unsigned long long, const void *, size_t), (*to_host)(void *, unsigned long long, size_t);
static int (*allocate_pinned)(void **, size_t, unsigned), (*free_pinned)(void *);
static int (*allocate)(unsigned long long *, size_t), (*release)(unsigned long long);

static int driver(void) {
  void *library = dlopen("libcuda.so.1", RTLD_NOW), *context;
  int device;
  if (!library)
    return 0;
  int (*init)(unsigned) = (int (*)(unsigned))dlsym(library, "cuInit");
  int (*get)(int *, int) = (int (*)(int *, int))dlsym(library, "cuDeviceGet");
  int (*retain)(void **, int) = (int (*)(void **, int))dlsym(library, "cuDevicePrimaryCtxRetain");
  int (*set)(void *) = (int (*)(void *))dlsym(library, "cuCtxSetCurrent");
  *(void **)&to_device = dlsym(library, "cuMemcpyHtoD_v2");
  *(void **)&to_host = dlsym(library, "cuMemcpyDtoH_v2");
  *(void **)&allocate_pinned = dlsym(library, "cuMemHostAlloc");
  *(void **)&free_pinned = dlsym(library, "cuMemFreeHost");
  *(void **)&allocate = dlsym(library, "cuMemAlloc_v2");
  *(void **)&release = dlsym(library, "cuMemFree_v2");
  return !init(0) && !get(&device, 0) && !retain(&context, device) && !set(context);
}

int main(int argc, char **argv) {
  static const char *defaults[] = {"1", "16", "64", "256"};
  int count = argc > 1 ? argc - 1 : 4, wrong = 0, has_driver = driver();
  const char *const *sizes = argc > 1 ? (const char *const *)argv + 1 : defaults;
  printf("%8s %12s %12s %12s %12s %8s %8s\n", "MB", "malloc in", "pinned in", "malloc out", "pinned out", "in", "out");
  for (int s = 0; s < count; s++) {
    size_t bytes = (size_t)(atof(sizes[s]) * 1e6) / (8 * STEP) * (8 * STEP);
    long n = (long)(bytes / 8);
    double *large = malloc(bytes), *small = malloc(bytes / STEP), in[RUNS], out[RUNS], pinned_in[RUNS], pinned_out[RUNS];
    if (!large || !small)
      return 2;
    for (long i = 0; i < n; i++)
      large[i] = (double)(i % 1013);
    memset(small, 0, bytes / STEP);
    for (int r = -2; r < RUNS; r++) {
      double start = now();
      reads(n, large, small);
      if (r >= 0)
        in[r] = now() - start;
    }
    for (long i = 0; i < n / STEP; i++)
      wrong += small[i] != (double)(STEP * i % 1013) + (double)((STEP * i + STEP - 1) % 1013);
    for (int r = -2; r < RUNS; r++) {
      double start = now();
      writes(n, large, r);
      if (r >= 0)
        out[r] = now() - start;
      for (long i = 0; i < n; i += 511)
        wrong += large[i] != r;
    }
    double rates[4] = {bytes / median(in) / 1e9, 0, bytes / median(out) / 1e9, 0};
    void *pinned;
    unsigned long long device;
    if (has_driver && !allocate_pinned(&pinned, bytes, 0) && !allocate(&device, bytes)) {
      memset(pinned, 1, bytes);
      for (int r = -2; r < RUNS; r++) {
        double start = now();
        to_device(device, pinned, bytes);
        double middle = now();
        to_host(pinned, device, bytes);
        if (r >= 0)
          pinned_in[r] = middle - start, pinned_out[r] = now() - middle;
      }
      rates[1] = bytes / median(pinned_in) / 1e9, rates[3] = bytes / median(pinned_out) / 1e9;
      free_pinned(pinned), release(device);
    }
    printf("%8.0f %12.2f %12.2f %12.2f %12.2f", bytes / 1e6, rates[0], rates[1], rates[2], rates[3]);
    if (rates[1] > 0)
      printf(" %7.0f%% %7.0f%%", 100 * rates[0] / rates[1], 100 * rates[2] / rates[3]);
    puts(wrong ? "  WRONG" : "");
    fflush(stdout);
    free(large), free(small);
  }
  return wrong != 0;
}
