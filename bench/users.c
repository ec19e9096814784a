/* What programs do around their loop nests: workers forked before the first one, threads that all have some, cuBLAS and copies of the program's own
 * between them on the same arrays, and a device that the program resets.
 *
 *   users [fork | threads | cublas | reset]      all of them by default, in this order
 *
 * Compile with the driver (-ldl -lm) and run on a machine with a GPU, with POLLYRS_RT_OFFLOAD=always and auto.
 * Each result is compared with that of the same loops in functions that no GPU code is made of (volatile bounds). Prints "NAME right", or what is wrong. */
#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define N 300

static double value(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (double)(*state >> 40) * 0x1p-24;
}

static void fill(double *a, uint64_t seed) {
  uint64_t state = seed * 2654435761u + 1;
  for (int i = 0; i < N * N; i++) {
    a[i] = value(&state);
    if (a[i] > 2) /* never: the loop stays on the host */
      abort();
  }
}

__attribute__((noinline)) static void product(int n, double *restrict c, const double *restrict a, const double *restrict b) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      double sum = 0;
      for (int k = 0; k < n; k++)
        sum += a[i * N + k] * b[k * N + j];
      c[i * N + j] = sum;
    }
}

__attribute__((noinline)) static void smooth(int n, double *restrict to, const double *restrict from) {
  for (int t = 0; t < 4; t++)
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        to[i * N + j] = 0.25 * (from[i * N + j - 1] + from[i * N + j + 1] + from[(i - 1) * N + j] + to[(i - 1) * N + j] * t);
}

/* The same in a way that stays on the host. */
__attribute__((noinline, optnone)) static void check_product(int n, double *c, const double *a, const double *b) {
  for (volatile int i = 0; i < n; i++)
    for (volatile int j = 0; j < n; j++) {
      double sum = 0;
      for (int k = 0; k < n; k++)
        sum += a[i * N + k] * b[k * N + j];
      c[i * N + j] = sum;
    }
}
__attribute__((noinline, optnone)) static void check_smooth(int n, double *to, const double *from) {
  for (volatile int t = 0; t < 4; t++)
    for (volatile int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        to[i * N + j] = 0.25 * (from[i * N + j - 1] + from[i * N + j + 1] + from[(i - 1) * N + j] + to[(i - 1) * N + j] * t);
}

static double *array(void) { return calloc(N * N, sizeof(double)); }

static int differ(const double *a, const double *b) {
  int wrong = 0;
  for (volatile int i = 0; i < N * N; i++)
    wrong += fabs(a[i] - b[i]) > 1e-9 * (1 + fabs(b[i]));
  return wrong;
}

/* Some loop nests on arrays of this activation; the number of wrong elements. */
static int work(int seed, int rounds) {
  double *a = array(), *b = array(), *c = array(), *d = array(), *e = array();
  int wrong = 0;
  for (int r = 0; r < rounds; r++) {
    int n = N - (seed * 7 + r * 13) % 40;
    fill(a, seed + r), fill(b, seed - r);
    memset(c, 0, N * N * sizeof *c), memset(d, 0, N * N * sizeof *d), memset(e, 0, N * N * sizeof *e);
    product(n, c, a, b);
    smooth(n, d, c);
    product(n, b, c, d);
    fill(b, seed - r);
    check_product(n, e, a, b);
    wrong += differ(c, e);
    double *f = array();
    check_smooth(n, f, e);
    wrong += differ(d, f);
    free(f);
  }
  free(a), free(b), free(c), free(d), free(e);
  return wrong;
}

static int said(const char *name, int wrong) {
  printf(wrong ? "%s WRONG %d\n" : "%s right\n", name, wrong);
  fflush(stdout);
  return wrong != 0;
}

/* Workers as MPI or a server has them, each with a device of its own; then the parent; then one that inherits a started device. */
static int forked(void) {
  int wrong = 0;
  for (int k = 0; k < 3; k++)
    if (!fork())
      _exit(work(k + 1, 3) != 0);
  for (int k = 0, status; k < 3; k++)
    wrong += wait(&status) < 0 || status != 0;
  wrong += work(9, 2);
  if (!fork())
    _exit(work(5, 2) != 0);
  int status;
  wrong += wait(&status) < 0 || status != 0;
  wrong += work(10, 2);
  return said("fork", wrong);
}

/* What the threads share: an array for each of them to read, and rows for each to write. */
static double *shared[3];
static void *worker(void *number) {
  long k = (long)number, wrong = 0;
  for (int r = 0; r < 3; r++)
    wrong += work((int)(k + 8 * r), 2);
  for (int block = (int)k; block < N / 20; block += 8) {
    double *a = shared[0], *b = shared[1], *c = shared[2];
    for (int i = block * 20; i < block * 20 + 20; i++)
      for (int j = 0; j < N; j++) {
        double sum = 0;
        for (int l = 0; l < N; l++)
          sum += a[i * N + l] * b[l * N + j];
        c[i * N + j] = sum;
      }
  }
  return (void *)wrong;
}

static int threads(void) {
  pthread_t ids[8];
  int wrong = 0;
  for (int k = 0; k < 3; k++)
    shared[k] = array(), fill(shared[k], k);
  double *e = array();
  for (long k = 0; k < 8; k++)
    wrong += pthread_create(&ids[k], 0, worker, (void *)k) != 0;
  for (int k = 0; k < 8; k++) {
    void *found;
    wrong += pthread_join(ids[k], &found) || found;
  }
  check_product(N, e, shared[0], shared[1]);
  wrong += differ(shared[2], e);
  free(e);
  return said("threads", wrong);
}

typedef unsigned long long Address;
static int (*to_device)(Address, const void *, size_t), (*to_host)(void *, Address, size_t), (*allocate)(Address *, size_t);
static int (*primary_reset)(int), (*pin)(void *, size_t, unsigned), (*unpin)(void *), (*retain)(void **, int), (*set)(void *);

static int driver(void) {
  void *library = dlopen("libcuda.so.1", RTLD_NOW), *context;
  int (*init)(unsigned);
  if (!library)
    return 0;
  *(void **)&init = dlsym(library, "cuInit");
  *(void **)&to_device = dlsym(library, "cuMemcpyHtoD_v2");
  *(void **)&to_host = dlsym(library, "cuMemcpyDtoH_v2");
  *(void **)&allocate = dlsym(library, "cuMemAlloc_v2");
  *(void **)&primary_reset = dlsym(library, "cuDevicePrimaryCtxReset_v2");
  *(void **)&pin = dlsym(library, "cuMemHostRegister_v2");
  *(void **)&unpin = dlsym(library, "cuMemHostUnregister");
  *(void **)&retain = dlsym(library, "cuDevicePrimaryCtxRetain");
  *(void **)&set = dlsym(library, "cuCtxSetCurrent");
  return !init(0) && !retain(&context, 0) && !set(context);
}

/* The program multiplies by cuBLAS what its loops made, and its loops go on with the product. */
static int cublas(void) {
  void *library = dlopen("libcublas.so", RTLD_NOW), *handle;
  library = library ? library : dlopen("libcublas.so.13", RTLD_NOW);
  library = library ? library : dlopen("libcublas.so.12", RTLD_NOW);
  if (!driver() || !library)
    return puts("cublas: no library"), 0;
  int (*create)(void **) = (int (*)(void **))dlsym(library, "cublasCreate_v2");
  typedef int Dgemm(void *, int, int, int, int, int, const double *, Address, int, Address, int, const double *, Address, int);
  Dgemm *dgemm = (Dgemm *)dlsym(library, "cublasDgemm_v2");
  Address da, db, dc;
  size_t bytes = N * N * sizeof(double);
  double *a = array(), *b = array(), *c = array(), *d = array(), *e = array(), *f = array();
  const double one = 1, zero = 0;
  int wrong = create(&handle) || allocate(&da, bytes) || allocate(&db, bytes) || allocate(&dc, bytes);
  for (int r = 0; r < 6 && !wrong; r++) {
    if (r == 2)
      wrong += pin(a, bytes, 0) || pin(d, bytes, 0);
    fill(a, r), fill(b, r + 50);
    product(N, c, a, b);
    /* Columns first: b a in place of a b. */
    wrong += to_device(da, c, bytes) || to_device(db, b, bytes);
    wrong += dgemm(handle, 0, 0, N, N, N, &one, db, N, da, N, &zero, dc, N);
    wrong += to_host(d, dc, bytes);
    memset(c, 0, bytes);
    smooth(N, c, d);
    check_product(N, f, a, b);
    check_product(N, e, f, b);
    wrong += differ(d, e);
    memset(f, 0, bytes);
    check_smooth(N, f, e);
    wrong += differ(c, f);
    if (r == 4)
      wrong += unpin(a) || unpin(d);
  }
  return said("cublas", wrong);
}

static int reset(void) {
  int wrong = work(1, 2);
  if (!driver())
    return puts("reset: no driver"), 0;
  wrong += primary_reset(0);
  wrong += work(2, 3);
  void *context;
  wrong += retain(&context, 0);
  wrong += work(3, 3);
  return said("reset", wrong);
}

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    int (*run)(void);
  } parts[] = {{"fork", forked}, {"threads", threads}, {"cublas", cublas}, {"reset", reset}};
  int wrong = 0;
  for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
    if (argc < 2 || !strcmp(argv[1], parts[k].name))
      wrong |= parts[k].run();
  return wrong;
}
