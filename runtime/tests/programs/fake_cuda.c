/* A CUDA driver on host memory, to test the use of the driver without a device.
 *
 * "Device" memory is malloc'ed; a kernel is the program's function of that name, called for each thread in
 * turn, with as many arguments as the program's constant NAME_arguments says. Like the real driver it insists
 * on a current context, on initialisation, on live handles and on device addresses inside of live
 * allocations. Work is done when somebody waits for it, or at some time before (fake_streams.h): who reuses a
 * buffer too early, or reads one, gets wrong data.
 *
 *   FAKE_CUDA_LOG   a file: one line a call; at exit what is left over
 *   FAKE_CUDA_FAIL  call:k:code, the k-th call of that name returns the code
 *   FAKE_CUDA_ARCH  90 by default
 *   FAKE_CUDA_SHARED  bytes of shared memory that a block may have, 232448 by default
 *   FAKE_CUDA_BUSY  if set, no event is over when somebody asks
 *   FAKE_CUDA_ORDER, FAKE_CUDA_PINNED  see fake_streams.h
 *   FAKE_CUDA_BYTES memory of the device
 *   FAKE_CUDA_DEVICES  1 by default; CUDA_VISIBLE_DEVICES says which of them are to be seen, by numbers or by names: GPU-0, ..., or MIG-0, ..., which are
 *                   eighths of theirs
 *   FAKE_CUDA_CURRENT  number of the device whose context the program has made current before
 *   FAKE_CUDA_SAME_KERNEL  if set, nodes of executable graphs keep their kernels, as in old drivers */
#define _GNU_SOURCE
#include "pollyrs_rt.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define API __attribute__((visibility("default"))) int
static void nothing(const PollyrsEmuThread *t, void *const *args) { (void)t, (void)args; }
#include "fake_streams.h"

enum { INVALID_VALUE = 1, OUT_OF_MEMORY = 2, NOT_INITIALIZED = 3, NO_DEVICE = 100, INVALID_CONTEXT = 201, INVALID_PTX = 218, NOT_FOUND = 500, NOT_READY = 600, ILLEGAL_ADDRESS = 700 };

static FILE *logfile;
static int initialised, pushes, pops, live_events;
/* The contexts that a thread has pushed. */
enum { MAX_DEPTH = 16 };
static _Thread_local void *contexts[MAX_DEPTH];
static _Thread_local int depth;
static void *current(void) { return depth > 0 ? contexts[depth - 1] : 0; }
/* Of a device, by its handle. */
static void *context_of(int device) { return (void *)(0xc0 + 0x1000 * (uint64_t)(device - 10)); }
static int is_context(void *context) { return ((uint64_t)context & 0xfff) == 0xc0; }

static struct { char *start; size_t bytes; void *context; } allocations[4096];
static int n_allocations;
static size_t allocated;

static struct { char *start; size_t bytes; } pinned[64];
static int n_pinned;

static int is_pinned(const char *address) {
  int found = getenv("FAKE_CUDA_PINNED") != 0;
  for (int i = 0; i < n_pinned; i++)
    found |= address >= pinned[i].start && address < pinned[i].start + pinned[i].bytes;
  return found;
}

static const char *env(const char *name, const char *otherwise) {
  const char *value = getenv(name);
  return value ? value : otherwise;
}

static void at_exit(void) {
  if (logfile) {
    fprintf(logfile, "exit: contexts %d events %d\n", pushes - pops, live_events);
    fflush(logfile);
  }
}

static struct { char name[64]; int count; } counts[64];

/* Logs the call; the error it is to fail with. */
static int enter(const char *name, const char *format, ...) {
  pthread_mutex_lock(&mutex);
  if (!logfile && getenv("FAKE_CUDA_LOG")) {
    logfile = fopen(getenv("FAKE_CUDA_LOG"), "a");
    setvbuf(logfile, 0, _IOLBF, 0);
    atexit(at_exit);
  }
  int i = 0;
  while (counts[i].name[0] && strcmp(counts[i].name, name))
    i++;
  strcpy(counts[i].name, name);
  counts[i].count++;
  if (logfile) {
    va_list list;
    va_start(list, format);
    fprintf(logfile, "%s", name);
    vfprintf(logfile, format, list);
    fprintf(logfile, "\n");
    va_end(list);
  }
  char planned[64];
  int k, code, fail = 0;
  if (sscanf(env("FAKE_CUDA_FAIL", ""), "%63[^:]:%d:%d", planned, &k, &code) == 3 && !strcmp(planned, name) &&
      counts[i].count == k)
    fail = code;
  lost |= fail == 700;
  meanwhile();
  pthread_mutex_unlock(&mutex);
  return fail;
}

#define ENTER(...)                                                                                                     \
  int failed = enter(__func__, __VA_ARGS__);                                                                           \
  if (failed)                                                                                                          \
    return failed;
#define ENTER_CONTEXT(...)                                                                                             \
  ENTER(__VA_ARGS__)                                                                                                   \
  if (depth == 0)                                                                                                      \
    return INVALID_CONTEXT;

/* Whether [address, address + bytes) lies in one live allocation of a device. */
static int inside_of(void *context, const char *address, size_t bytes) {
  int found = 0;
  pthread_mutex_lock(&mutex);
  for (int i = 0; i < n_allocations; i++)
    found |= allocations[i].context == context && address >= allocations[i].start &&
             address + bytes <= allocations[i].start + allocations[i].bytes;
  pthread_mutex_unlock(&mutex);
  return found;
}
static int inside(const char *address, size_t bytes) { return inside_of(current(), address, bytes); }

/* The devices that the program sees, as handles, in its order: 10 and more, parts 30 and more. */
static int seen(int *devices) {
  const char *list = getenv("CUDA_VISIBLE_DEVICES");
  int all = atoi(env("FAKE_CUDA_DEVICES", "1")), n = 0;
  for (int i = 0; !list && i < all; i++)
    devices[n++] = 10 + i;
  while (list && *list && n < 16) {
    int part = !strncmp(list, "MIG-", 4), at = part || !strncmp(list, "GPU-", 4) ? 4 : 0;
    char *end;
    long i = strtol(list + at, &end, 10);
    /* What comes behind one that there is not is not seen either. */
    if (end == list + at || (*end && *end != ',') || i < 0 || i >= all)
      break;
    devices[n++] = (part ? 30 : 10) + i;
    list = *end ? end + 1 : end;
  }
  return n;
}
/* Bytes of a device; of what memory is taken from. */
static size_t bytes_of(int device) { return strtoull(env("FAKE_CUDA_BYTES", "1073741824"), 0, 10) / (device < 30 ? 1 : 8); }
static int in_use = 10;

API cuInit(unsigned flags) {
  ENTER(" %u", flags)
  int devices[16];
  if (getenv("CUDA_VISIBLE_DEVICES") && seen(devices) == 0)
    return NO_DEVICE;
  initialised = 1;
  return 0;
}
API cuDriverGetVersion(int *version) {
  *version = 13000;
  return 0;
}
API cuDeviceGetCount(int *count) {
  ENTER("")
  if (!initialised)
    return NOT_INITIALIZED;
  int devices[16];
  *count = seen(devices);
  return 0;
}
API cuDeviceGet(int *device, int ordinal) {
  ENTER(" %d", ordinal)
  int devices[16];
  if (ordinal < 0 || ordinal >= seen(devices))
    return INVALID_VALUE;
  *device = devices[ordinal];
  return 0;
}
API cuDeviceGetName(char *name, int bytes, int device) {
  ENTER("")
  snprintf(name, bytes, "Fake %d", device);
  return 0;
}
API cuDeviceGetAttribute(int *value, int attribute, int device) {
  ENTER("")
  int arch = atoi(env("FAKE_CUDA_ARCH", "90"));
  if (device < 10 || (attribute != 75 && attribute != 76 && attribute != 97))
    return INVALID_VALUE;
  *value = attribute == 97 ? atoi(env("FAKE_CUDA_SHARED", "232448")) : attribute == 75 ? arch / 10 : arch % 10;
  return 0;
}
API cuDeviceTotalMem_v2(size_t *bytes, int device) {
  ENTER("")
  *bytes = bytes_of(device);
  return 0;
}
API cuDevicePrimaryCtxRetain(void **context, int device) {
  ENTER(" %d", device)
  in_use = device;
  *context = context_of(device);
  return 0;
}
API cuCtxGetCurrent(void **context) {
  ENTER("")
  *context = depth > 0 ? current() : getenv("FAKE_CUDA_CURRENT") ? (void *)0xd0 : 0;
  return 0;
}
/* FAKE_CUDA_RESET=k: the program resets the context before the k-th of these calls. */
API cuCtxGetId(void *context, unsigned long long *id) {
  static int calls;
  ENTER("")
  if (!is_context(context))
    return INVALID_CONTEXT;
  const char *reset = getenv("FAKE_CUDA_RESET");
  *id = 5 + (__atomic_add_fetch(&calls, 1, __ATOMIC_SEQ_CST) >= (reset ? atoi(reset) : 1 << 30));
  return 0;
}
API cuCtxGetDevice(int *device) {
  ENTER("")
  if (depth > 0 || !getenv("FAKE_CUDA_CURRENT"))
    return INVALID_CONTEXT;
  *device = 10 + atoi(getenv("FAKE_CUDA_CURRENT"));
  return 0;
}
API cuCtxPushCurrent_v2(void *context) {
  int failed = enter(__func__, "");
  if (failed)
    return failed;
  if (!is_context(context) || depth == MAX_DEPTH)
    return INVALID_CONTEXT;
  contexts[depth++] = context;
  __atomic_add_fetch(&pushes, 1, __ATOMIC_SEQ_CST);
  return 0;
}
API cuCtxPopCurrent_v2(void **context) {
  ENTER_CONTEXT("")
  *context = current();
  depth--;
  __atomic_add_fetch(&pops, 1, __ATOMIC_SEQ_CST);
  return 0;
}
API cuModuleLoadDataEx(void **module, const char *image, unsigned n, unsigned *options, void **values) {
  ENTER_CONTEXT(" %.20s", image)
  /* The library's own kernel, which does nothing, as text. */
  if (strncmp(image, "//PTX", 5) && strncmp(image, ".version", 8)) {
    for (unsigned i = 0; i + 1 < n; i++)
      if (options[i] == 5 && options[i + 1] == 6)
        snprintf(values[i], (size_t)values[i + 1], "ptxas: line 1: nonsense\n");
    return INVALID_PTX;
  }
  *module = strdup(image);
  return 0;
}
API cuModuleUnload(void *module) {
  ENTER_CONTEXT("")
  free(module);
  return 0;
}
API cuModuleGetFunction(void **function, void *module, const char *name) {
  ENTER_CONTEXT(" %s", name)
  *function = !strcmp(name, "nothing") ? (void *)nothing : module ? dlsym(RTLD_DEFAULT, name) : 0;
  return *function ? 0 : NOT_FOUND;
}
API cuMemAlloc_v2(uint64_t *address, size_t bytes) {
  ENTER_CONTEXT(" %zu", bytes)
  pthread_mutex_lock(&mutex);
  int code = OUT_OF_MEMORY;
  if (allocated + bytes <= bytes_of(in_use) && n_allocations < 4096) {
    char *start = aligned_alloc(256, (bytes + 255) / 256 * 256);
    memset(start, 0xff, bytes);
    allocations[n_allocations].context = current();
    allocations[n_allocations].start = start;
    allocations[n_allocations++].bytes = bytes;
    allocated += bytes;
    *address = (uint64_t)start;
    code = 0;
  }
  pthread_mutex_unlock(&mutex);
  return code;
}
API cuMemFree_v2(uint64_t address) {
  ENTER_CONTEXT("")
  pthread_mutex_lock(&mutex);
  int code = INVALID_VALUE;
  for (int i = 0; i < n_allocations; i++)
    if ((uint64_t)allocations[i].start == address) {
      expect_unused(allocations[i].start, allocations[i].bytes);
      free(allocations[i].start);
      allocated -= allocations[i].bytes;
      allocations[i] = allocations[--n_allocations];
      code = 0;
    }
  pthread_mutex_unlock(&mutex);
  return code;
}
API cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes, struct Stream *stream) {
  ENTER_CONTEXT(" %zu", bytes)
  if (!stream || !inside((char *)to, bytes))
    return INVALID_VALUE;
  pthread_mutex_lock(&mutex);
  queue_copy(stream, (void *)to, from, bytes, !is_pinned(from));
  pthread_mutex_unlock(&mutex);
  return 0;
}
API cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, struct Stream *stream) {
  ENTER_CONTEXT(" %zu", bytes)
  if (!stream || !inside((char *)to, bytes) || !inside((char *)from, bytes))
    return INVALID_VALUE;
  pthread_mutex_lock(&mutex);
  queue_copy(stream, (void *)to, (void *)from, bytes, 0);
  pthread_mutex_unlock(&mutex);
  return 0;
}
API cuMemcpyPeerAsync(uint64_t to, void *to_context, uint64_t from, void *from_context, size_t bytes, struct Stream *stream) {
  ENTER_CONTEXT(" %zu", bytes)
  if (!stream || stream->context != current() || !inside_of(to_context, (char *)to, bytes) || !inside_of(from_context, (char *)from, bytes))
    return INVALID_VALUE;
  pthread_mutex_lock(&mutex);
  queue_copy(stream, (void *)to, (void *)from, bytes, 0);
  pthread_mutex_unlock(&mutex);
  return 0;
}
API cuCtxEnablePeerAccess(void *context, unsigned flags) {
  ENTER_CONTEXT("")
  return flags || !is_context(context) || context == current() ? INVALID_VALUE : 0;
}
API cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes, struct Stream *stream) {
  ENTER_CONTEXT(" %zu", bytes)
  if (!stream || !inside((char *)from, bytes))
    return INVALID_VALUE;
  pthread_mutex_lock(&mutex);
  queue_copy(stream, to, (void *)from, bytes, 0);
  pthread_mutex_unlock(&mutex);
  return 0;
}
struct PlaneEnd { size_t x, y; unsigned kind; void *host; uint64_t device; void *array; size_t pitch; };
API cuMemcpy2DAsync_v2(const struct { struct PlaneEnd from, to; size_t width, height; } *copy, struct Stream *stream) {
  ENTER_CONTEXT(" %zu %zu", copy->width, copy->height)
  const struct PlaneEnd *from = &copy->from, *to = &copy->to;
  const struct PlaneEnd *device = to->kind == 2 ? to : from;
  int in = device == to;
  size_t height = copy->height, width = copy->width;
  if (!stream || from->kind + to->kind != 3 || from->x + from->y + to->x + to->y || from->pitch < width || to->pitch < width ||
      !inside((char *)device->device, (height - 1) * device->pitch + width))
    return INVALID_VALUE;
  pthread_mutex_lock(&mutex);
  for (size_t row = 0; row < height; row++)
    queue_copy(stream, (char *)(in ? (void *)to->device : to->host) + row * to->pitch,
               (char *)(in ? from->host : (void *)from->device) + row * from->pitch, width, in && !is_pinned(from->host));
  pthread_mutex_unlock(&mutex);
  return 0;
}
API cuStreamCreate(struct Stream **stream, unsigned flags) {
  ENTER_CONTEXT(" %u", flags)
  pthread_mutex_lock(&mutex);
  *stream = new_stream();
  (*stream)->context = current();
  pthread_mutex_unlock(&mutex);
  return 0;
}
API cuStreamSynchronize(struct Stream *stream) {
  ENTER_CONTEXT("")
  pthread_mutex_lock(&mutex);
  uint64_t position = stream->n;
  wait_for(stream, position);
  int code = stream->done < position ? ILLEGAL_ADDRESS : 0;
  pthread_mutex_unlock(&mutex);
  return code;
}
API cuStreamWaitEvent(struct Stream *stream, struct Event *event, unsigned flags) {
  ENTER_CONTEXT("")
  if (!stream || flags)
    return INVALID_VALUE;
  pthread_mutex_lock(&mutex);
  if (event->recorded)
    queue_wait(stream, event->stream, event->position);
  pthread_mutex_unlock(&mutex);
  return 0;
}
API cuFuncSetAttribute(void *function, int attribute, int value) {
  ENTER_CONTEXT(" %d %d", attribute, value)
  return !function || value > atoi(env("FAKE_CUDA_SHARED", "232448")) ? INVALID_VALUE : 0;
}

API cuLaunchKernel(PollyrsEmuKernel kernel, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, struct Stream *stream, void **arguments, void **extra) {
  ENTER_CONTEXT(" grid %u %u %u block %u %u %u shared %u", gx, gy, gz, bx, by, bz, shared)
  if (!stream || stream->context != current() || extra || shared > (unsigned)atoi(env("FAKE_CUDA_SHARED", "232448")) || gy != 1 || gz != 1)
    return INVALID_VALUE;
  pthread_mutex_lock(&mutex);
  int ok = queue_kernel(stream, kernel, gx, (unsigned[]){bx, by, bz}, arguments);
  pthread_mutex_unlock(&mutex);
  return ok ? 0 : INVALID_VALUE;
}
#ifndef NO_GRAPHS

struct Params {
  PollyrsEmuKernel function;
  unsigned grid[3], block[3], shared;
  void **arguments, **extra, *kernel, *context;
};
enum { MAX_NODES = 256 };
struct Node { struct Graph *graph; struct Params params; uint64_t slots[MAX_ARGUMENTS]; };
/* A chain: each node depends on the one before. */
struct Graph { int n, executable; struct Node *nodes[MAX_NODES]; struct Graph *origin; struct Stream *last; uint64_t position; };

static int set_node(struct Node *node, const struct Params *params) {
  if (!params->function || params->extra || params->kernel || params->context || params->grid[1] != 1 || params->grid[2] != 1 || params->shared)
    return INVALID_VALUE;
  pthread_mutex_lock(&mutex);
  int n = arguments_of(params->function);
  pthread_mutex_unlock(&mutex);
  if (n < 0 || n > MAX_ARGUMENTS)
    return INVALID_VALUE;
  node->params = *params;
  for (int i = 0; i < n; i++)
    node->slots[i] = *(uint64_t *)params->arguments[i];
  return 0;
}
API cuGraphCreate(struct Graph **graph, unsigned flags) {
  ENTER_CONTEXT("")
  *graph = calloc(1, sizeof **graph);
  return flags ? INVALID_VALUE : 0;
}
API cuGraphDestroy(struct Graph *graph) {
  ENTER_CONTEXT("")
  for (int i = 0; i < graph->n; i++)
    free(graph->nodes[i]);
  free(graph);
  return 0;
}
API cuGraphAddKernelNode_v2(struct Node **node, struct Graph *graph, struct Node *const *before, size_t n, const struct Params *params) {
  ENTER_CONTEXT(" grid %u", params->grid[0])
  if (graph->executable || graph->n == MAX_NODES || n != (graph->n > 0) || (n && *before != graph->nodes[graph->n - 1]))
    return INVALID_VALUE;
  *node = calloc(1, sizeof **node);
  (*node)->graph = graph;
  graph->nodes[graph->n++] = *node;
  return set_node(*node, params);
}
API cuGraphInstantiateWithFlags(struct Graph **executable, struct Graph *graph, unsigned long long flags) {
  ENTER_CONTEXT("")
  if (flags || graph->executable)
    return INVALID_VALUE;
  *executable = malloc(sizeof **executable);
  **executable = *graph;
  (*executable)->executable = 1;
  (*executable)->origin = graph;
  for (int i = 0; i < graph->n; i++)
    *((*executable)->nodes[i] = malloc(sizeof(struct Node))) = *graph->nodes[i];
  return 0;
}
API cuGraphExecKernelNodeSetParams_v2(struct Graph *executable, struct Node *node, const struct Params *params) {
  ENTER_CONTEXT(" grid %u", params->grid[0])
  if (!executable->executable || node->graph != executable->origin)
    return INVALID_VALUE;
  for (int i = 0; i < executable->n; i++)
    if (executable->origin->nodes[i] == node) {
      if (getenv("FAKE_CUDA_SAME_KERNEL") && executable->nodes[i]->params.function != params->function)
        return INVALID_VALUE;
      return set_node(executable->nodes[i], params);
    }
  return INVALID_VALUE;
}
API cuGraphLaunch(struct Graph *executable, struct Stream *stream) {
  ENTER_CONTEXT(" nodes %d", executable->n)
  if (!stream || !executable->executable)
    return INVALID_VALUE;
  pthread_mutex_lock(&mutex);
  /* Launches of one graph don't overlap. */
  if (executable->last)
    queue_wait(stream, executable->last, executable->position);
  for (int i = 0; i < executable->n; i++) {
    struct Node *node = executable->nodes[i];
    void *arguments[MAX_ARGUMENTS];
    for (int a = 0; a < MAX_ARGUMENTS; a++)
      arguments[a] = &node->slots[a];
    queue_kernel(stream, node->params.function, node->params.grid[0], node->params.block, arguments);
  }
  executable->last = stream, executable->position = stream->n;
  pthread_mutex_unlock(&mutex);
  return 0;
}

#endif

API cuEventCreate(void **event, unsigned flags) {
  ENTER_CONTEXT(" %u", flags)
  struct Event *made = calloc(1, sizeof *made);
  made->untimed = flags == 2;
  *event = made;
  /* Those without times belong to what lives as long as the device. */
  __atomic_add_fetch(&live_events, !made->untimed, __ATOMIC_SEQ_CST);
  return 0;
}
API cuEventRecord(struct Event *event, struct Stream *stream) {
  ENTER_CONTEXT("")
  pthread_mutex_lock(&mutex);
  event->recorded = 1;
  event->stream = stream;
  event->position = stream->n;
  pthread_mutex_unlock(&mutex);
  return 0;
}
API cuEventQuery(struct Event *event) {
  ENTER_CONTEXT("")
  pthread_mutex_lock(&mutex);
  if (event->recorded && !getenv("FAKE_CUDA_BUSY") && !getenv("FAKE_CUDA_ORDER"))
    carry_out(event->stream, event->position);
  int over = !event->recorded || event->stream->done >= event->position;
  pthread_mutex_unlock(&mutex);
  return over ? 0 : NOT_READY;
}
API cuEventSynchronize(struct Event *event) {
  ENTER_CONTEXT("")
  pthread_mutex_lock(&mutex);
  int code = 0;
  if (event->recorded) {
    wait_for(event->stream, event->position);
    code = event->stream->done < event->position ? ILLEGAL_ADDRESS : 0;
  }
  pthread_mutex_unlock(&mutex);
  return code;
}
API cuEventElapsedTime(float *ms, struct Event *start, struct Event *end) {
  ENTER_CONTEXT("")
  if (!start->recorded || !end->recorded || start->untimed || end->untimed)
    return INVALID_VALUE;
  pthread_mutex_lock(&mutex);
  int over = start->stream->done >= start->position && end->stream->done >= end->position;
  pthread_mutex_unlock(&mutex);
  *ms = 0.25f;
  return over ? 0 : NOT_READY;
}
API cuEventDestroy_v2(struct Event *event) {
  ENTER_CONTEXT("")
  __atomic_sub_fetch(&live_events, !event->untimed, __ATOMIC_SEQ_CST);
  free(event);
  return 0;
}
API cuMemHostAlloc(void **memory, size_t bytes, unsigned flags) {
  ENTER_CONTEXT(" %zu", bytes)
  if (flags)
    return INVALID_VALUE;
  pthread_mutex_lock(&mutex);
  int code = OUT_OF_MEMORY;
  if (n_pinned < 64) {
    *memory = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    memset(*memory, 0xee, bytes);
    pinned[n_pinned].start = *memory;
    pinned[n_pinned++].bytes = bytes;
    code = 0;
  }
  pthread_mutex_unlock(&mutex);
  return code;
}
API cuMemHostRegister_v2(void *memory, size_t bytes, unsigned flags) {
  ENTER_CONTEXT(" %zu", bytes)
  if (flags)
    return INVALID_VALUE;
  pthread_mutex_lock(&mutex);
  int code = OUT_OF_MEMORY;
  if (n_pinned < 64) {
    memset(memory, 0xee, bytes);
    pinned[n_pinned].start = memory;
    pinned[n_pinned++].bytes = bytes;
    code = 0;
  }
  pthread_mutex_unlock(&mutex);
  return code;
}
API cuMemHostUnregister(void *memory) {
  ENTER_CONTEXT("")
  pthread_mutex_lock(&mutex);
  int code = INVALID_VALUE;
  for (int i = 0; i < n_pinned && code; i++)
    if (pinned[i].start == memory) {
      expect_unused(memory, pinned[i].bytes);
      pinned[i] = pinned[--n_pinned];
      code = 0;
    }
  pthread_mutex_unlock(&mutex);
  return code;
}
API cuMemFreeHost(void *memory) {
  ENTER_CONTEXT("")
  pthread_mutex_lock(&mutex);
  int code = INVALID_VALUE;
  for (int i = 0; i < n_pinned; i++)
    if (pinned[i].start == memory) {
      expect_unused(memory, pinned[i].bytes);
      free(memory);
      pinned[i] = pinned[--n_pinned];
      code = 0;
      break;
    }
  pthread_mutex_unlock(&mutex);
  return code;
}
API cuGetErrorName(int code, const char **name) {
  *name = code == 2 ? "CUDA_ERROR_OUT_OF_MEMORY" : code == 218 ? "CUDA_ERROR_INVALID_PTX" : 0;
  return *name ? 0 : INVALID_VALUE;
}
API cuGetErrorString(int code, const char **text) {
  *text = code == 2 ? "out of memory" : 0;
  return *text ? 0 : INVALID_VALUE;
}
