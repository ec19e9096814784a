/* Scenarios of program.c with launches in slices, whose copies run beside kernels. */

/* Blocks [0, all) of kernel `kernel` of a run, as a whole or in slices: scalars[1] is the first block,
 * `needed` and `done` say for each of `n` arrays by what the slices before a border are known there: a
 * multiple of the bytes below the border, and bytes beyond; -1: all, of none. */
struct Claim { int64_t times, beyond; };
static void launch_sliced(void *run, uint32_t kernel, uint64_t all, uint64_t *scalars, int n, const struct Claim *needed, const struct Claim *done) {
  uint64_t slices = pollyrs_rt_slices(run, kernel, all), bytes[2][4];
  for (uint64_t j = 0, from = 0, to; slices > 1 && j < slices; j++, from = to) {
    to = all * (j + 1) / slices;
    int64_t below = to * THREADS * 8;
    for (int i = 0; i < n; i++) {
      bytes[0][i] = needed[i].times < 0 ? UINT64_MAX : (uint64_t)(needed[i].times * below + needed[i].beyond);
      bytes[1][i] = done[i].times ? (uint64_t)(below + (to == all ? 0 : done[i].beyond)) : 0;
    }
    scalars[1] = from;
    pollyrs_rt_launch_slice(run, kernel, to - from, scalars, bytes[0], bytes[1]);
  }
  scalars[1] = 0;
  if (slices <= 1)
    pollyrs_rt_launch(run, kernel, all, scalars);
}

/* A launch in slices and one that uses another array. `less`: slices are said to need so many bytes less of A
 * than they do. `more`: so many bytes of B more are said to be done than are. */
static void run_sliced(int64_t n, int64_t less, int64_t more) {
  double *A = numbers(n + 1, 1), *B = numbers(n, 2), *C = numbers(n, 3), *D = numbers(n, 4), *B0 = copy_of(B, n), *C0 = copy_of(C, n);
  double *D0 = copy_of(D, n), *eB = copy_of(B, n), *eC = copy_of(C, n), *eD = copy_of(D, n), k = 0.25;
  for (int64_t i = 0; i < n; i++)
    eB[i] = A[i] + 2 * A[i + 1], eC[i] = A[i] - eC[i], eD[i] = eD[i] * 0.5 + k;
  uint32_t in = POLLYRS_ARRAY_COPY_IN, out = POLLYRS_ARRAY_COPY_OUT;
  PollyrsArray arrays[] = {{A, n * 8 + 8, 0, 0, 0, in, 8},
                           {B, n * 8, 0, 0, n * 8, out, 8},
                           {C, n * 8, 0, 0, n * 8, in | out, 8},
                           {D, n * 8, 0, 0, n * 8, in | out, 8}};
  const struct Claim needed[] = {{1, 8 - less}, {-1, 0}, {1, 0}, {0, 0}}, done[] = {{1, 0}, {1, more}, {1, 0}, {0, 0}};
  void *run = pollyrs_rt_begin(&sliced_scop, work, arrays, 4);
  if (run) {
    uint64_t scalars[3] = {n}, scale[] = {0, n, 0};
    launch_sliced(run, 0, blocks(n), scalars, 4, needed, done);
    memcpy(&scale[2], &k, 8);
    pollyrs_rt_launch(run, 2, blocks(n), scale);
  }
  if (!finish(run, 0)) {
    /* B may have any values, and gets its own. */
    compare(C, C0, n), compare(D, D0, n);
    void *host = pollyrs_rt_host_begin(&sliced_scop, POLLYRS_REASON_RUNTIME);
    memcpy(B, eB, n * 8), memcpy(C, eC, n * 8), memcpy(D, eD, n * 8);
    pollyrs_rt_host_end(host);
  }
  compare(B, eB, n), compare(C, eC, n), compare(D, eD, n);
  free(A), free(B), free(C), free(D), free(B0), free(C0), free(D0), free(eB), free(eC), free(eD);
}

static void steps_on_host(int64_t n, double *A, double *B, double *C, double *D, const double *k) {
  for (int64_t i = 0; i < n; i++)
    C[i] = C[i] * 0.5 + k[0];
  for (int64_t i = 0; i < n; i++)
    B[i] = A[i] + 2 * A[i + 1], C[i] = A[i] - C[i];
  for (int64_t i = 0; i < n; i++)
    C[i] = C[i] * 0.5 + k[1], D[i] = D[i] * 0.5 + k[2];
}

/* Slices between whole launches on the same arrays and others, again and again in a hold, with the arrays of
 * `held` (bits 1, 2, 4, 8) in it, or, with -1, in none. A and B change in between, without a word where they
 * are not held; C and D are looked at now and then. */
static void run_sliced_steps(int64_t n, int held, int rounds, int quiet) {
  double *A = numbers(n + 1, 1), *B = numbers(n, 2), *C = numbers(n, 3), *D = numbers(n, 4);
  double *eA = copy_of(A, n + 1), *eB = copy_of(B, n), *eC = copy_of(C, n), *eD = copy_of(D, n);
  uint32_t in = POLLYRS_ARRAY_COPY_IN, out = POLLYRS_ARRAY_COPY_OUT;
  void *hold = 0;
  int holds = held >= 0;
  for (int r = 0; r < rounds; r++) {
    double k[] = {r + 0.25, r + 0.5, r + 0.75};
    steps_on_host(n, eA, eB, eC, eD, k);
    PollyrsArray arrays[] = {{A, n * 8 + 8, 0, 0, 0, in, 8},
                             {B, n * 8, 0, 0, n * 8, out, 8},
                             {C, n * 8, 0, 0, n * 8, in | out, 8},
                             {D, n * 8, 0, 0, n * 8, in | out, 8}};
    for (int i = 0; i < 4; i++)
      if (holds && held >> i & 1)
        arrays[i].flags |= POLLYRS_ARRAY_HELD | 1u << (POLLYRS_ARRAY_MASK_SHIFT + i);
    const struct Claim needed[] = {{1, 8}, {-1, 0}, {0, 0}, {0, 0}}, done[] = {{1, 0}, {1, 0}, {0, 0}, {0, 0}};
    void *run = holds ? pollyrs_rt_begin_held(&hold, &sliced_scop, work, arrays, 4) : pollyrs_rt_begin(&sliced_scop, work, arrays, 4);
    if (run) {
      uint64_t scalars[3] = {n}, scale[3] = {0, n, 0};
      for (int launch = 0; launch < 4; launch++) {
        static const uint32_t kernels[] = {1, 0, 1, 2};
        static const int factors[] = {0, 0, 1, 2};
        memcpy(&scale[2], &k[factors[launch]], 8);
        if (launch == 1)
          launch_sliced(run, 0, blocks(n), scalars, 4, needed, done);
        else
          pollyrs_rt_launch(run, kernels[launch], blocks(n), scale);
      }
    }
    if (!finish(run, quiet)) {
      void *host = holds ? pollyrs_rt_host_begin_held(&hold, &sliced_scop, POLLYRS_REASON_RUNTIME)
                         : pollyrs_rt_host_begin(&sliced_scop, POLLYRS_REASON_RUNTIME);
      steps_on_host(n, A, B, C, D, k);
      pollyrs_rt_host_end(host);
    }
    if (holds)
      pollyrs_rt_release(&hold, r % 2 ? 2 : 0, held & 1);
    if (!holds || r % 2 || !(held & 2))
      compare(B, eB, n);
    for (int64_t i = 0; i <= n; i++)
      A[i] = eA[i] = (i * 31 + r * 17) % 1009;
    if (!holds || !(held & 2)) /* overwritten as a whole: any values will do */
      memset(B, r, n * 8);
    if (r % 3 == 2) {
      if (holds)
        pollyrs_rt_release(&hold, 4, 8);
      compare(C, eC, n), compare(D, eD, n);
      D[n / 2] = eD[n / 2] = r;
    }
  }
  if (holds) {
    pollyrs_rt_release(&hold, 2, 0);
    if (held & 2)
      compare(B, eB, n);
    pollyrs_rt_leave(&hold);
  }
  compare(C, eC, n), compare(D, eD, n);
  free(A), free(B), free(C), free(D), free(eA), free(eB), free(eC), free(eD);
}

static void *sliced_thread_main(void *unused) {
  for (int i = 0; i < 4; i++)
    run_sliced_steps(1000 + 100 * i, i % 2 ? 12 : -1, 4, 1);
  return unused;
}

/* Results that come back slice by slice, of an array that is not held; the other one is held and never
 * changes. The program goes on with other values at once: what comes late is lost. */
static void run_hurried(int64_t n, int rounds) {
  double *A = numbers(n + 1, 1), *B = numbers(n, 2), *eB = copy_of(B, n);
  void *hold = 0;
  for (int64_t i = 0; i < n; i++)
    eB[i] = A[i] + 2 * A[i + 1];
  for (int r = 0; r < rounds; r++) {
    PollyrsArray arrays[] = {{A, n * 8 + 8, 0, 0, 0, POLLYRS_ARRAY_COPY_IN | POLLYRS_ARRAY_HELD | 1u << POLLYRS_ARRAY_MASK_SHIFT, 8},
                             {B, n * 8, 0, 0, n * 8, POLLYRS_ARRAY_COPY_OUT, 8}};
    const struct Claim needed[] = {{1, 8}, {-1, 0}}, done[] = {{1, 0}, {1, 0}};
    void *run = pollyrs_rt_begin_held(&hold, &hurried_scop, work, arrays, 2);
    uint64_t scalars[2] = {n};
    if (run)
      launch_sliced(run, 0, blocks(n), scalars, 2, needed, done);
    if (!finish(run, 0)) {
      void *host = pollyrs_rt_host_begin_held(&hold, &hurried_scop, POLLYRS_REASON_RUNTIME);
      memcpy(B, eB, n * 8);
      pollyrs_rt_host_end(host);
    }
    compare(B, eB, n);
    for (int64_t i = 0; i < n; i++)
      B[i] = eB[i] = r;
    for (int64_t i = 0; i < n / 2; i++) /* any work of the program */
      right &= B[i] == r;
    nap(1e-5);
    compare(B, eB, n);
    for (int64_t i = 0; i < n; i++)
      eB[i] = A[i] + 2 * A[i + 1];
  }
  pollyrs_rt_leave(&hold);
  free(A), free(B), free(eB);
}

/* Every second execution meets what the model lacks, and does not count. Before that another array is worked
 * on. */
static void run_faulty(int64_t n, int rounds) {
  double *A = numbers(n, 1), *expected = copy_of(A, n), *D = numbers(n, 2), *eD = copy_of(D, n), k = 0.125;
  uint32_t faults = 0, both = POLLYRS_ARRAY_COPY_IN | POLLYRS_ARRAY_COPY_OUT;
  for (int r = 0; r < rounds; r++) {
    for (int64_t i = 0; i < n; i++)
      expected[i] = expected[i] * 0.5 + r % 2, eD[i] = eD[i] * 0.5 + k;
    PollyrsArray arrays[] = {{A, n * 8, 0, 0, n * 8, both, 8},
                             {&faults, 4, 0, 0, 0, POLLYRS_ARRAY_COPY_IN | POLLYRS_ARRAY_FAULT, 1},
                             {D, n * 8, 0, 0, n * 8, both, 8}};
    uint64_t scalars[] = {n, r % 2}, scale[3] = {0, n};
    memcpy(&scale[2], &k, 8);
    void *run = pollyrs_rt_begin(&faulty_scop, work, arrays, 3);
    if (run) {
      pollyrs_rt_launch(run, 1, blocks(n), scale);
      pollyrs_rt_launch(run, 0, blocks(n), scalars);
    }
    if (!finish(run, 0)) {
      void *host = pollyrs_rt_host_begin(&faulty_scop, POLLYRS_REASON_RUNTIME);
      for (int64_t i = 0; i < n; i++)
        A[i] = A[i] * 0.5 + r % 2, D[i] = D[i] * 0.5 + k;
      pollyrs_rt_host_end(host);
    }
    compare(A, expected, n), compare(D, eD, n);
  }
  free(A), free(expected), free(D), free(eD);
}
