// What programs that are sequences of events need: memory of several kinds, hashes of all of it, jumps,
// threads. Compiled by itself, without the plugin, so that each call is one that may do anything.
#define _GNU_SOURCE
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, MAX_OBJECTS = 16, MAX_PAGES = 64 };
static struct { unsigned char *start; int64_t bytes; unsigned char closed[MAX_PAGES]; } objects[MAX_OBJECTS];
static uint64_t state, notes;
static int checks;

static uint64_t next_random(void) {
  uint64_t z = (state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

void begin_program(int program) {
  state = program;
  notes = checks = 0;
  memset(objects, 0, sizeof objects);
}

int wanted(int argc, char **argv, int program) {
  if (argc > 1 && atoi(argv[1]) != program)
    return 0;
  begin_program(program);
  return 1;
}

static int is_open(int number, int64_t at) { return at / PAGE >= MAX_PAGES || !objects[number].closed[at / PAGE]; }

// `types`: bytes of an element, then its members in floating point: "24:d0,f8,". From `from` on; closed pages
// stay as they are.
static void fill(int number, int64_t from, const char *types) {
  unsigned char *start = objects[number].start;
  int64_t bytes = objects[number].bytes;
  char *rest;
  int64_t size = strtoll(types, &rest, 10);
  for (int64_t at = from; at < bytes; ++at)
    if (is_open(number, at))
      start[at] = (unsigned char)next_random();
  for (const char *member = rest + 1; *member; member = rest + 1) {
    int64_t offset = strtoll(member + 1, &rest, 10), wide = *member == 'd' ? 8 : 4;
    for (int64_t at = offset; at + wide <= bytes; at += size) {
      double value = (double)(next_random() % 4096) / 64 - 32;
      float narrow = (float)value;
      if (at >= from && is_open(number, at) && is_open(number, at + wide - 1))
        memcpy(start + at, wide == 8 ? (void *)&value : (void *)&narrow, wide);
    }
  }
}

// Memory of the program's. Without `types`, or with "-", it has its values.
void adopt(int number, void *start, int64_t bytes, int64_t from, const char *types) {
  memset(&objects[number], 0, sizeof objects[number]);
  objects[number].start = start;
  objects[number].bytes = bytes;
  if (types && *types != '-')
    fill(number, from, types);
}

void resized(int number, void *start, int64_t bytes, const char *types) {
  adopt(number, start, bytes, objects[number].bytes, types);
}

static char *map(int64_t bytes) {
  char *start = mmap(0, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (start == MAP_FAILED)
    abort();
  return start;
}

void protect(int number, int64_t page, int open) {
  objects[number].closed[page] = !open;
  if (mprotect(objects[number].start + page * PAGE, PAGE, open ? PROT_READ | PROT_WRITE : PROT_NONE))
    abort();
}

char *pages(int number, char home, int64_t bytes, const char *types) {
  int64_t whole = (bytes + PAGE - 1) / PAGE * PAGE;
  char *start = map(whole + 2 * PAGE);
  if (mprotect(start, PAGE, PROT_NONE) || mprotect(start + PAGE + whole, PAGE, PROT_NONE))
    abort();
  start += PAGE;
  if (home == 'e')
    start += whole - bytes;
  if (home == 'r') {
    int file = memfd_create("ring", 0);
    if (file < 0 || ftruncate(file, bytes / 2))
      abort();
    for (int half = 0; half < 2; ++half)
      if (mmap(start + half * (bytes / 2), bytes / 2, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) == MAP_FAILED)
        abort();
    close(file);
  }
  adopt(number, start, bytes, 0, 0);
  if (home == 'h')
    for (int64_t page = 1; page < bytes / PAGE; page += 2)
      protect(number, page, 0);
  if (home == 'r')
    objects[number].bytes = bytes / 2;
  fill(number, 0, types);
  objects[number].bytes = bytes;
  return start;
}

void note(double value) {
  uint64_t bits;
  memcpy(&bits, &value, 8);
  notes = (notes ^ bits) * 0x100000001b3u;
}

void note_bits(uint64_t value) { notes = (notes ^ value) * 0x100000001b3u; }

void tick(void) {}

void check(int program) {
  uint64_t hash = notes;
  for (int number = 0; number < MAX_OBJECTS; ++number)
    for (int64_t at = 0; at < objects[number].bytes; ++at)
      if (at / PAGE >= MAX_PAGES || !objects[number].closed[at / PAGE])
        hash = (hash ^ objects[number].start[at]) * 0x100000001b3u;
  printf("p%d %d %016llx\n", program, checks, (unsigned long long)hash);
  if (getenv("FUZZ_DUMP"))
    for (int number = 0; number < MAX_OBJECTS; ++number)
      for (int64_t at = 0; at < objects[number].bytes; at += 16) {
        if (at / PAGE < MAX_PAGES && objects[number].closed[at / PAGE])
          continue;
        printf("  check %d object %d + %lld =", checks, number, (long long)at);
        for (int64_t b = at; b < at + 16 && b < objects[number].bytes; ++b)
          printf(" %02x", objects[number].start[b]);
        printf("\n");
      }
  ++checks;
  fflush(stdout);
}

static jmp_buf *innermost;

void attempt(void (*f)(void *), void *argument) {
  jmp_buf here, *outer = innermost;
  innermost = &here;
  if (!setjmp(here))
    f(argument);
  innermost = outer;
}

// C++ has one of its own.
__attribute__((weak)) void leave(void) { longjmp(*innermost, 1); }

static struct { unsigned char *start; const uint32_t *bytes; int count; pthread_t thread; } other;

static void *stores(void *unused) {
  (void)unused;
  for (int turn = 0; turn < 20; ++turn) {
    for (int i = 0; i < other.count; ++i)
      ((volatile unsigned char *)other.start)[other.bytes[i]] = (unsigned char)(other.bytes[i] * 7 + 3);
    usleep(50);
  }
  return 0;
}

void beside(void *start, const uint32_t *bytes, int count) {
  other.start = start;
  other.bytes = bytes;
  other.count = count;
  if (pthread_create(&other.thread, 0, stores, 0))
    abort();
}

void joined(void) { pthread_join(other.thread, 0); }
