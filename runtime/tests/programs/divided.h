/* Scenarios of program.c with launches that several devices share. */

static uint64_t bytes_at(int64_t element, int64_t n) { return 8 * (element < 0 ? 0 : element > n ? n : element); }

/* A step from array `from` to the other one, in as many parts as the library wants. `less`: so many elements
 * of the halo are not told. */
static void launch_divided(void *run, int from, int64_t n, int64_t less) {
  uint64_t parts = pollyrs_rt_parts(run, from, blocks(n));
  uint64_t scalars[] = {n, 0};
  for (uint64_t j = 0; j < parts; j++) {
    int64_t first = blocks(n) * j / parts, end = blocks(n) * (j + 1) / parts, low = first * THREADS, high = end * THREADS;
    uint64_t written[] = {bytes_at(low, n), bytes_at(high, n)};
    PollyrsPart ranges[] = {{from, {bytes_at(low - 1 + less, n), bytes_at(high + 1 - less, n)}, {0, 0}},
                            {!from, {written[0], written[1]}, {written[0], written[1]}}};
    scalars[1] = first;
    pollyrs_rt_part(run, end - first, scalars, 2, ranges);
  }
  if (parts > 0) {
    pollyrs_rt_launch_parts(run);
  } else {
    scalars[1] = 0;
    pollyrs_rt_launch(run, from, blocks(n), scalars);
  }
}

static void steps_of_two(int64_t n, int steps, double *A, double *B) {
  for (int s = 0; s < steps; s++) {
    double *from = s % 2 ? B : A, *to = s % 2 ? A : B;
    for (int64_t i = 1; i < n - 1; i++)
      to[i] = from[i - 1] * 0.5 + from[i + 1] * 0.25;
  }
}

/* Steps from A to B and back, some of which are launched as a whole; the program looks at A and changes some
 * of B in between. */
static void run_divided(int64_t n, int rounds, int held, int64_t less) {
  enum { STEPS = 7 };
  double *A = numbers(n, 1), *B = numbers(n, 2), *eA = copy_of(A, n), *eB = copy_of(B, n);
  uint32_t both = POLLYRS_ARRAY_COPY_IN | POLLYRS_ARRAY_COPY_OUT;
  void *hold = 0;
  for (int r = 0; r < rounds; r++) {
    steps_of_two(n, STEPS, eA, eB);
    PollyrsArray arrays[] = {{A, n * 8, 0, 8, n * 8 - 16, both, 8}, {B, n * 8, 0, 8, n * 8 - 16, both, 8}};
    for (int i = 0; i < 2 && held; i++)
      arrays[i].flags |= POLLYRS_ARRAY_HELD | 1u << (POLLYRS_ARRAY_MASK_SHIFT + i);
    void *run = held ? pollyrs_rt_begin_held(&hold, &divided_scop, work, arrays, 2)
                     : pollyrs_rt_begin(&divided_scop, work, arrays, 2);
    uint64_t all[] = {n, 0};
    for (int s = 0; run && s < STEPS; s++)
      if (s == 4 && r % 2)
        pollyrs_rt_launch(run, s % 2, blocks(n), all);
      else
        launch_divided(run, s % 2, n, less);
    if (!finish(run, 0)) {
      void *host = held ? pollyrs_rt_host_begin_held(&hold, &divided_scop, POLLYRS_REASON_RUNTIME)
                        : pollyrs_rt_host_begin(&divided_scop, POLLYRS_REASON_RUNTIME);
      steps_of_two(n, STEPS, A, B);
      pollyrs_rt_host_end(host);
    }
    if (held)
      pollyrs_rt_release(&hold, 1, r % 2 ? 2 : 0);
    compare(A, eA, n);
    if (!held || r % 2)
      B[n / 3] = eB[n / 3] = r;
  }
  if (held)
    pollyrs_rt_leave(&hold);
  compare(A, eA, n), compare(B, eB, n);
  free(A), free(B), free(eA), free(eB);
}
