/* Streams and events of the driver in fake_cuda.c, and when their work is done.
 *
 * Copies and kernels that were queued are not done before somebody waits for them; then a stream's operations
 * are done in their order, up to the one that is waited for, and of other streams what they wait for. With
 * FAKE_CUDA_ORDER they may be done earlier, at any call: which, and how many of them, is drawn from that seed
 * among all that streams and events allow. So a wait too few shows, where there is an order in which it
 * matters, and seeds enough.
 *
 * A copy from memory that is not pinned reads it at once, as the driver does, or, with FAKE_CUDA_PINNED, when
 * the copy is done, as if the program had pinned all of its memory. An operation that fails with 700 takes
 * the device with it: nothing more is done. */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

enum { MAX_ARGUMENTS = 8 };
enum Kind { COPY, WAIT, KERNEL };
struct Stream;
struct Operation {
  enum Kind kind;
  /* A copy; `owned` is what was read at once. */
  void *to, *owned;
  const void *from;
  size_t bytes;
  /* What another stream has to do first. */
  struct Stream *other;
  uint64_t position;
  PollyrsEmuKernel kernel;
  unsigned grid, block[3];
  uint64_t slots[MAX_ARGUMENTS];
};
/* The operations from `base` on; those before `done` are done, there are `n`. */
struct Stream { struct Operation *operations; size_t room; uint64_t base, done, n; struct Stream *next; void *context; };
struct Event { struct Stream *stream; uint64_t position; int recorded, untimed; };
static struct Stream *streams;
static int n_streams, lost;

static void run_kernel(PollyrsEmuKernel kernel, unsigned grid, const unsigned *block, void **arguments) {
  unsigned x = block[0], y = block[1];
  for (uint64_t b = 0; b < grid; b++)
    for (unsigned i = 0; i < x * y * block[2]; i++) {
      PollyrsEmuThread thread = {b, {i % x, i / x % y, i / x / y}, 0, 0, 0};
      kernel(&thread, arguments);
    }
}

/* The functions below want the mutex. */

static struct Operation *first_of(struct Stream *stream) { return &stream->operations[stream->done - stream->base]; }
static int is_ready(struct Stream *stream) {
  struct Operation *next = first_of(stream);
  return next->kind != WAIT || next->other->done >= next->position;
}
/* Does a stream's next operation, which is ready. */
static void step(struct Stream *stream) {
  struct Operation *next = first_of(stream);
  void *arguments[MAX_ARGUMENTS];
  for (int a = 0; a < MAX_ARGUMENTS; a++)
    arguments[a] = &next->slots[a];
  if (next->kind == COPY)
    memcpy(next->to, next->owned ? next->owned : next->from, next->bytes);
  else if (next->kind == KERNEL)
    run_kernel(next->kernel, next->grid, next->block, arguments);
  free(next->owned);
  if (++stream->done == stream->n)
    stream->base = stream->n;
}
/* Does a stream's operations up to a position. */
static void carry_out(struct Stream *stream, uint64_t position) {
  while (!lost && stream->done < position) {
    struct Operation *next = first_of(stream);
    if (!is_ready(stream))
      carry_out(next->other, next->position);
    else
      step(stream);
  }
}

static uint64_t state;
static unsigned draw(unsigned below) {
  state ^= state << 13, state ^= state >> 7, state ^= state << 17;
  return (unsigned)(state >> 33) % below;
}
/* What the device does meanwhile: by the seed now and then one operation, or often several, or as much as it
 * can. */
static void meanwhile(void) {
  static unsigned pace;
  const char *seed = getenv("FAKE_CUDA_ORDER");
  if (!seed || lost || n_streams == 0)
    return;
  if (!state) {
    pace = strtoul(seed, 0, 10) % 4;
    state = (strtoull(seed, 0, 10) + 1) * 0x9e3779b97f4a7c15u;
  }
  for (unsigned tries = pace < 3 ? draw(1 + pace * pace * 4) : draw(40); tries > 0; tries--) {
    struct Stream *stream = streams;
    for (unsigned skip = draw(n_streams); skip > 0; skip--)
      stream = stream->next;
    for (unsigned some = 1 + draw(4); some > 0 && stream->done < stream->n && is_ready(stream); some--)
      step(stream);
  }
}
/* Waits for a stream's operations up to a position. With a seed all streams go on meanwhile, in turns or as
 * much as they can, in an order that is drawn (as in Burckhardt et al., A Randomized Scheduler with
 * Probabilistic Guarantees of Finding Bugs, ASPLOS 2010). */
static void wait_for(struct Stream *stream, uint64_t position) {
  int in_turns = state && draw(3) == 0;
  unsigned salt = state ? draw(1 << 16) : 0;
  while (state && !lost && stream->done < position) {
    struct Stream *next = 0;
    unsigned index = 0, least = UINT32_MAX;
    for (struct Stream *other = streams; other; other = other->next) {
      unsigned rank = in_turns ? draw(1 << 16) : (++index * 40503u ^ salt) * 2654435761u >> 8;
      if (other->done < other->n && is_ready(other) && rank < least)
        least = rank, next = other;
    }
    step(next);
  }
  carry_out(stream, position);
}

static struct Operation *queue(struct Stream *stream, enum Kind kind) {
  size_t at = stream->n - stream->base;
  if (at == stream->room) {
    stream->room = stream->room ? 2 * stream->room : 64;
    stream->operations = realloc(stream->operations, stream->room * sizeof *stream->operations);
  }
  stream->n++;
  stream->operations[at] = (struct Operation){.kind = kind};
  return &stream->operations[at];
}
static void queue_copy(struct Stream *stream, void *to, const void *from, size_t bytes, int at_once) {
  struct Operation *copy = queue(stream, COPY);
  copy->to = to, copy->from = from, copy->bytes = bytes;
  if (at_once)
    copy->owned = memcpy(malloc(bytes + 1), from, bytes);
}
static void queue_wait(struct Stream *stream, struct Stream *other, uint64_t position) {
  if (other == stream || other->done >= position)
    return;
  struct Operation *wait = queue(stream, WAIT);
  wait->other = other, wait->position = position;
}
/* How many arguments a kernel has: the program's constant NAME_arguments; the library's own kernel has
 * none. */
static int arguments_of(PollyrsEmuKernel kernel) {
  static struct { PollyrsEmuKernel kernel; int n; } known[64];
  int i = 0;
  for (; known[i].kernel; i++)
    if (known[i].kernel == kernel)
      return known[i].n;
  Dl_info info;
  char name[128];
  static const int none = 0;
  const int *n = kernel == nothing ? &none : 0;
  if (!n && dladdr((void *)kernel, &info) && info.dli_sname) {
    snprintf(name, sizeof name, "%s_arguments", info.dli_sname);
    n = dlsym(RTLD_DEFAULT, name);
  }
  known[i].n = n ? *n : -1;
  known[i].kernel = kernel;
  return known[i].n;
}
/* With copies of its arguments, as the driver makes them. */
static int queue_kernel(struct Stream *stream, PollyrsEmuKernel kernel, unsigned grid, const unsigned *block, void **arguments) {
  int n = arguments_of(kernel);
  if (n < 0 || n > MAX_ARGUMENTS)
    return 0;
  struct Operation *launch = queue(stream, KERNEL);
  launch->kernel = kernel, launch->grid = grid;
  memcpy(launch->block, block, sizeof launch->block);
  for (int i = 0; i < n; i++)
    launch->slots[i] = *(uint64_t *)arguments[i];
  return 1;
}
/* Nobody may free what queued operations refer to; a kernel's arguments that look like addresses are some. */
static void expect_unused(const char *start, size_t bytes) {
#define WITHIN(address) ((const char *)(address) >= start && (const char *)(address) < start + bytes)
  for (struct Stream *stream = streams; stream && !lost; stream = stream->next)
    for (uint64_t at = stream->done; at < stream->n; at++) {
      struct Operation *operation = &stream->operations[at - stream->base];
      int used = operation->kind == COPY && (WITHIN(operation->to) || (!operation->owned && WITHIN(operation->from)));
      for (int i = 0; i < MAX_ARGUMENTS; i++)
        used |= operation->kind == KERNEL && WITHIN(operation->slots[i]);
      if (used) {
        fprintf(stderr, "fake driver: memory was freed that queued work refers to\n");
        abort();
      }
    }
}
static struct Stream *new_stream(void) {
  struct Stream *stream = calloc(1, sizeof *stream);
  stream->next = streams;
  n_streams++;
  return streams = stream;
}
