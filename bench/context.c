/* A program with a CUDA context of its own: whether that stays current, and its device memory untouched, while a loop nest of it is offloaded,
 * and on which device that happened: the one whose primary context is active.
 *
 *   context [DEVICE]      the device of the program's context, 0 by default
 *
 * Compile with the driver (-ldl) and run on a machine with a GPU; POLLYRS_RT_OFFLOAD=always. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

__attribute__((noinline)) static void accumulate(int n, double *restrict a, const double *restrict b) {
  for (int r = 0; r < 10; r++)
    for (int i = 0; i < n; i++)
      a[i] += 0.5 * b[i] + r;
}

int main(int argc, char **argv) {
  void *library = dlopen("libcuda.so.1", RTLD_NOW), *own = 0, *current = 0;
  if (!library)
    return puts("no driver"), 2;
  int (*init)(unsigned) = (int (*)(unsigned))dlsym(library, "cuInit");
  int (*get)(int *, int) = (int (*)(int *, int))dlsym(library, "cuDeviceGet");
  int (*create)(void **, unsigned, int) = (int (*)(void **, unsigned, int))dlsym(library, "cuCtxCreate_v2");
  int (*get_current)(void **) = (int (*)(void **))dlsym(library, "cuCtxGetCurrent");
  int (*allocate)(unsigned long long *, size_t) = (int (*)(unsigned long long *, size_t))dlsym(library, "cuMemAlloc_v2");
  int (*to_device)(unsigned long long, const void *, size_t) =
      (int (*)(unsigned long long, const void *, size_t))dlsym(library, "cuMemcpyHtoD_v2");
  int (*to_host)(void *, unsigned long long, size_t) = (int (*)(void *, unsigned long long, size_t))dlsym(library, "cuMemcpyDtoH_v2");
  int (*count)(int *) = (int (*)(int *))dlsym(library, "cuDeviceGetCount");
  int (*state)(int, unsigned *, int *) = (int (*)(int, unsigned *, int *))dlsym(library, "cuDevicePrimaryCtxGetState");
  int device, before = 4711, after = 0, n = 1000000, wrong = 0;
  unsigned long long memory;
  if (init(0) || get(&device, argc > 1 ? atoi(argv[1]) : 0) || create(&own, 0, device) || allocate(&memory, sizeof before) ||
      to_device(memory, &before, sizeof before))
    return puts("no context"), 2;
  double *a = malloc(n * sizeof *a), *b = malloc(n * sizeof *b);
  for (int i = 0; i < n; i++)
    a[i] = i % 7, b[i] = i % 5;
  accumulate(n, a, b);
  get_current(&current);
  to_host(&after, memory, sizeof after);
  for (int i = 0; i < n; i++) {
    double expected = i % 7;
    for (int r = 0; r < 10; r++)
      expected += 0.5 * (i % 5) + r;
    wrong += a[i] != expected;
  }
  printf("context %s, memory %s, results %s\n", current == own ? "kept" : "CHANGED", after == before ? "kept" : "CHANGED",
         wrong ? "WRONG" : "right");
  int devices = 0, active;
  unsigned flags;
  for (count(&devices), device = 0; device < devices; device++)
    if (!state(device, &flags, &active))
      printf("device %d: %s\n", device, active ? "used" : "not used");
  return current != own || after != before || wrong;
}
