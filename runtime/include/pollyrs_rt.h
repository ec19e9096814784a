/* The C ABI between code that the plugin generates and libpollyrs_rt, of version POLLYRS_ABI_VERSION.
 *
 * One execution of a versioned SCoP:
 *
 *   if (checks) {
 *     PollyrsArray arrays[n] = ...;
 *     void *run = pollyrs_rt_begin(&scop, work, arrays, n);
 *     if (run) {
 *       pollyrs_rt_launch(run, kernel, blocks, scalars); ... // any number, also inside host loops
 *       if (pollyrs_rt_end(run) == 0) goto done;       // results are in host memory
 *     }                                                // else nothing was written to host memory
 *     reason = POLLYRS_REASON_RUNTIME;
 *   }
 *   void *host = pollyrs_rt_host_begin(&scop, reason);
 *   ... original loop ...
 *   pollyrs_rt_host_end(host);
 * done:
 *
 * A function with several SCoPs, or one in a loop, may let arrays stay on the device between them ("held"):
 *
 *   void *hold = NULL;                                 // one an activation, used by its thread only
 *   ...  pollyrs_rt_begin_held(&hold, ...), pollyrs_rt_host_begin_held(&hold, ...) in place of the above
 *   pollyrs_rt_release(&hold, read, write);            // before instructions that may touch held arrays
 *   pollyrs_rt_access(&hold, start, bytes, step, times, write); // in place of that, before a load or store
 *   pollyrs_rt_discard(&hold, dead);                   // before free
 *   pollyrs_rt_leave(&hold);                           // before each exit of the function
 *
 * A function may lend its hold to one that it calls and that the compiler knows (lent: its &hold):
 *
 *   void *own = NULL, **hold = pollyrs_rt_enter(&own, lent); // NULL if lent is
 *   ...  as above, with hold in place of &hold         // a NULL hold: nothing stays
 *   pollyrs_rt_return(hold, n, known);                 // in place of the last pollyrs_rt_leave
 *
 * Every run that pollyrs_rt_begin returned is given to pollyrs_rt_end once; a run belongs to one thread, any
 * number of runs may be under way. From begin to end nobody else writes the arrays' ranges. The environment
 * variables POLLYRS_RT_... that steer the library are listed in runtime/src/base/config.rs. */
#ifndef POLLYRS_RT_H
#define POLLYRS_RT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Version 2 added holds, version 3 that they are lent, version 4 that objects are discarded, version 5 that
 * executions of functions with a hold may fail for what the data are, version 6 windows, version 7 slices,
 * version 8 that small executions do not ask, version 9 graphs of blocks, version 10 rows that lie anywhere
 * and the largest number of a table, version 11 what one thread runs alone, version 12 iterations by
 * place, version 13 whether inspections are worth their time; the library runs code of all versions. */
#define POLLYRS_ABI_VERSION 13u

/* A library that knows version N defines pollyrs_rt_abi_N, for each N from 8 on. Generated descriptors have
 * its address behind their last field: code of a later version than the library's is neither linked nor
 * loaded. */
extern const uint32_t pollyrs_rt_abi_13;

/* The reason is the one the run-time library found in its last refused pollyrs_rt_begin or failed
 * pollyrs_rt_end of this thread. Any smaller value is an index into PollyrsScop.reasons. */
#define POLLYRS_REASON_RUNTIME 0xffffffffu

/* What identifies a thread of the emulated device to a kernel. The kernel reads block and thread only. */
typedef struct PollyrsEmuThread {
  uint64_t block;     /* linear block index, 0 .. blocks-1 */
  uint32_t thread[3]; /* x, y, z */
  uint32_t reserved;
  void *shared;       /* the block's shared memory, 128-byte aligned; its contents at first mean nothing */
  void *scheduler;    /* for pollyrs_rt_emu_barrier */
} PollyrsEmuThread;

/* A kernel lowered to host code: one call is one thread. args[i] points to the i-th kernel argument, as for
 * cuLaunchKernel; an argument smaller than its 8-byte slot is at the slot's first bytes. Blocks run at once,
 * on any host thread; the threads of a block of a kernel with barriers run on small stacks (1 MiB). Must not
 * unwind or longjmp. */
typedef void (*PollyrsEmuKernel)(const PollyrsEmuThread *thread, void *const *args);

/* The kernel calls pollyrs_rt_emu_barrier. */
#define POLLYRS_KERNEL_HAS_BARRIER 1u
/* The emulated kernel calls the functions of the checked device below. */
#define POLLYRS_KERNEL_CHECKED 2u
/* Blocks wait for each other. Behind the scalars comes one more argument, the address of 1 + blocks words of
 * four bytes, which are zero when the launch begins: each block takes its number from the first one, whatever
 * its place in the grid is, and shows by the word behind that of its number that it has ended. */
#define POLLYRS_KERNEL_GRAPH 4u
/* Images of kind POLLYRS_IMAGE_EARLY_CUBIN do not have the kernel: it is launched only where pollyrs_rt_late
 * said 0. */
#define POLLYRS_KERNEL_LATE 8u
/* The bits from here on: KiB of shared memory that a launch asks for where the image is for an architecture
 * before POLLYRS_KERNEL_PLAIN_BEFORE, in place of dynamic_shared_bytes: code without asynchronous copies
 * needs fewer buffers. 0: no other number. */
#define POLLYRS_KERNEL_PLAIN_SHIFT 8
#define POLLYRS_KERNEL_PLAIN_BEFORE 80u

/* Kernel arguments: n_arrays device addresses (those of scop arrays array_index[0..], each the device address
 * that corresponds to the array's *base*, i.e. to its element with all subscripts 0), then n_scalars scalars,
 * each in an 8-byte slot of which a smaller type uses the low bytes. The grid is one-dimensional.
 *
 * The device address of any byte of an array's range is congruent to its host address modulo 256, so whatever
 * is known of the alignment of host addresses holds on the device; the range of a scratch array starts at a
 * multiple of 256, its bias counts from there. An array with bytes 0 has some address that is not NULL, a
 * multiple of 256, and must not be accessed. */
typedef struct PollyrsKernel {
  const char *name;            /* entry in the PTX or cubin images */
  PollyrsEmuKernel emulated;   /* NULL if not compiled for the emulated device */
  uint32_t flags;              /* POLLYRS_KERNEL_* */
  uint32_t shared_bytes;       /* shared memory a block, for the emulated device */
  uint32_t block[3];           /* threads a block in x, y, z; product 1 to 1024 */
  uint32_t n_arrays;
  const uint32_t *array_index; /* NULL if n_arrays is 0 */
  uint32_t n_scalars;
  uint32_t dynamic_shared_bytes; /* shared memory that a launch on a GPU asks for */
} PollyrsKernel;

#define POLLYRS_IMAGE_PTX 1u
#define POLLYRS_IMAGE_CUBIN 2u
/* A cubin without the kernels with POLLYRS_KERNEL_LATE. Where it runs it is loaded first, and the best of the
 * others later, in the background. */
#define POLLYRS_IMAGE_EARLY_CUBIN 3u

/* Device code of all kernels of a SCoP, for one architecture. The best image of those that run on the device
 * is taken, cubins before PTX, and of these the one for the latest architecture; if the driver refuses it, or
 * a block of the device has less shared memory than the launches ask for, the next. */
typedef struct PollyrsImage {
  uint32_t kind;               /* POLLYRS_IMAGE_* */
  uint32_t arch;               /* 70 for sm_70: PTX runs there and later, a cubin on the same major, same or later minor */
  const void *data;            /* PTX is NUL-terminated */
  uint64_t bytes;              /* without the NUL */
} PollyrsImage;

/* In no execution does an array that is written lie in the range of another one, whatever the sizes. Where
 * two do, the original loop runs. Without this flag some arrays may be one, or lie among each other's
 * bytes. */
#define POLLYRS_SCOP_APART 1u

/* A versioned SCoP; a constant in the user's program but for `cache`, which is zero at first and the
 * library's own. */
typedef struct PollyrsScop {
  uint32_t abi_version;
  uint32_t flags;              /* POLLYRS_SCOP_* */
  const char *name;
  const char *at;              /* "file:line", or "" */
  uint32_t n_kernels;
  uint32_t n_images;
  const PollyrsKernel *kernels;
  const PollyrsImage *images;
  uint32_t n_reasons;
  uint32_t n_arrays;           /* as many are passed to pollyrs_rt_begin */
  const char *const *reasons;  /* texts for pollyrs_rt_host_begin */
  const char *const *array_names; /* n_arrays texts for messages, or NULL */
  /* Points to 8 zero bytes, writable, 8-byte aligned, of this SCoP alone. Later they are the address of a
   * double: the original loop may run at once, without any call but pollyrs_rt_host_end(NULL), where `work`
   * is no more than that and pollyrs_rt_holds says no. Both words change at any time, as a whole. */
  uint64_t *cache;
} PollyrsScop;

#define POLLYRS_ARRAY_COPY_IN 1u  /* the device may read elements of the range that it has not written */
/* [out_offset, out_offset + out_bytes), inside of the range, is written by the device and comes back as a
 * whole. If the device may leave any byte of it unwritten (a conditional write, a stride, a row of a larger
 * array), COPY_IN is needed as well: the byte would come back undefined otherwise. Without this flag
 * out_offset and out_bytes are not read. */
#define POLLYRS_ARRAY_COPY_OUT 2u
/* Lives on the device only, for one execution; undefined at first. start is NULL; the bias is that of the
 * array that it copies, if it is a copy, so that kernels address both alike, else 0. The other flags are not
 * read. */
#define POLLYRS_ARRAY_SCRATCH 4u
/* Of the written range only some bytes are the device's to write; the others may be written by other threads
 * of the program meanwhile. Either they are rows: row_count[0] * row_count[1] * row_count[2] of row_bytes
 * bytes, row_stride[] bytes apart along each dimension, outermost first, the first one at out_offset. Or they
 * are the elements that differ afterwards from what was copied in, which must then be all of the written
 * range. With neither flag all bytes of the range come back. */
#define POLLYRS_ARRAY_ROWS 8u
#define POLLYRS_ARRAY_CHANGED 16u
/* Both: nothing of the range is touched but rows, the first of which begins with the range; of an array that
 * is written, those rows are what comes back. */
#define POLLYRS_ARRAY_WINDOW (POLLYRS_ARRAY_ROWS | POLLYRS_ARRAY_CHANGED)
/* Only with pollyrs_rt_begin_held: the array may stay on the device after the execution, and what was written
 * there may come back as late as at a release. The bits from POLLYRS_ARRAY_MASK_SHIFT on say to which of the
 * function's objects it may belong. */
#define POLLYRS_ARRAY_HELD 32u
#define POLLYRS_ARRAY_MASK_SHIFT 8
/* Without POLLYRS_ARRAY_HELD: a cell of the calling code, whose address nobody else knows. */
#define POLLYRS_ARRAY_OWN 256u
/* All objects, also those that no bit stands for: the function's thread may do anything next, also
 * synchronise with others. */
#define POLLYRS_ALL 0xffffffffu
/* The program may not access all of the range: where a part of it is not readable, the original loop runs. */
#define POLLYRS_ARRAY_GUARDED 64u
/* Eight bytes (of older programs four), copied in as zeros. Where a kernel leaves another value than zero in
 * the one of number POLLYRS_FAULT_ERANGE, pollyrs_rt_end sets errno to ERANGE; in another one, the execution
 * failed: nothing comes back and pollyrs_rt_end is not 0. In the one of number POLLYRS_FAULT_CHECK the
 * program would have left the loop early: arrays are GUARDED where that may happen, so that none of them
 * comes back before the end. The one of number POLLYRS_FAULT_NAN stands for a NaN among numbers of which a
 * maximum was taken in another order. The one of number POLLYRS_FAULT_PERHAPS stands for a call that sets
 * errno to ERANGE or leaves it alone: beside another one that surely sets it the execution counts, alone it
 * failed. */
#define POLLYRS_ARRAY_FAULT 128u
#define POLLYRS_FAULT_ERANGE 1u
#define POLLYRS_FAULT_CHECK 2u
#define POLLYRS_FAULT_NAN 3u
#define POLLYRS_FAULT_PERHAPS 4u

/* An array of one execution: the touched range of host memory. Arrays may have device memory of their own, so
 * what is written through one must not be touched through another, unless the other is only read, and asked
 * for what is there before the execution. Arrays of which the same bytes come back are refused. */
typedef struct PollyrsArray {
  void *start;                 /* address of the first touched byte */
  uint64_t bytes;              /* length of the touched range; 0 if nothing is touched */
  int64_t bias;                /* base address minus start, in bytes; the base may be outside the range */
  uint64_t out_offset;         /* the written range, relative to start */
  uint64_t out_bytes;
  uint32_t flags;              /* POLLYRS_ARRAY_* */
  uint32_t element_bytes;
  uint64_t row_bytes;          /* these with POLLYRS_ARRAY_ROWS or _WINDOW only */
  uint64_t row_count[3];
  uint64_t row_stride[3];
} PollyrsArray;

/* Begins an execution: picks the device, loads the code, allocates, copies in what the launches do not wait
 * for themselves. `work` is an estimate of the number of executed statement instances. NULL: run the original
 * loop. */
void *pollyrs_rt_begin(const PollyrsScop *scop, double work, const PollyrsArray *arrays, uint32_t n_arrays);

/* Launches a kernel over `blocks` blocks (0: nothing; at most 2^31 - 1). `scalars` points to the kernel's
 * n_scalars slots (NULL if there are none) and is read before the return. Launches of a run take effect one
 * after the other, each on all memory effects of those before it. Errors are kept for pollyrs_rt_end. */
void pollyrs_rt_launch(void *run, uint32_t kernel, uint64_t blocks, const uint64_t *scalars);

/* Before each launch that could be cut into as many slices as `units`: how many it is worth; 1: it is to be
 * launched as a whole. */
uint64_t pollyrs_rt_slices(void *run, uint32_t kernel, uint64_t units);

/* pollyrs_rt_launch of some of a launch's blocks, which touch, together with the slices before, of array i no
 * more than the first needed[i] bytes of its range. Blocks that follow, of this launch or of later ones,
 * touch none of its first done[i] bytes. Both may be larger than the range. Slices of a launch may run at
 * once. */
void pollyrs_rt_launch_slice(void *run, uint32_t kernel, uint64_t blocks, const uint64_t *scalars, const uint64_t *needed,
                             const uint64_t *done);

/* Before each launch whose blocks several devices could share, in as many parts as `units`: how many parts it
 * is to have; 0: it is to be launched as a whole, or in slices. Otherwise pollyrs_rt_part follows for each
 * part, in order, and then pollyrs_rt_launch_parts.
 *
 * Together the parts have all blocks of the launch, each once, or launches of the kernel with other scalars
 * do together what it does. `scalars` are those of pollyrs_rt_launch for the part. It touches nothing and
 * writes nothing of arrays but what the `ranges` say. */
typedef struct PollyrsPart {
  uint64_t array;      /* its number in the descriptor; several entries may be of one */
  uint64_t touched[2]; /* the first byte, counted from the range's start, and the one behind the last: touched in any way */
  uint64_t written[2]; /* and written; some bytes in between may not be */
} PollyrsPart;
uint64_t pollyrs_rt_parts(void *run, uint32_t kernel, uint64_t units);
void pollyrs_rt_part(void *run, uint64_t blocks, const uint64_t *scalars, uint32_t n_ranges, const PollyrsPart *ranges);
void pollyrs_rt_launch_parts(void *run);

/* Waits, copies the written ranges back and frees everything. 0: done. Otherwise host memory is as it was
 * before, but for ranges without POLLYRS_ARRAY_COPY_IN, and the original loop must run. An error after the
 * first byte came back ends the program with a message. */
int32_t pollyrs_rt_end(void *run);

/* As pollyrs_rt_begin, in a function with a hold. *hold is NULL before the first call in an activation. A run
 * is ended before the hold is used again. */
void *pollyrs_rt_begin_held(void **hold, const PollyrsScop *scop, double work, const PollyrsArray *arrays, uint32_t n_arrays);

/* Before this thread reads objects of the mask `read`, or writes those of `write` by other means than a run:
 * what the device wrote of them comes back, and of those in `write` nothing stays. Before a call that may
 * touch anything, or that orders accesses of this thread with another's (a lock, say), both are POLLYRS_ALL.
 * A device that fails here ends the program: the only copy of results is lost. */
void pollyrs_rt_release(void **hold, uint32_t read, uint32_t write);

/* In place of a release before this thread reads so many bytes and `times` more of them, each `step` bytes
 * behind the ones before, if `write` is 0, or writes them, which may be of objects of that mask: what it
 * reads comes back, and what lies beside it may stay; where it writes nothing that the device has,
 * everything stays. */
void pollyrs_rt_access(void **hold, const void *start, uint64_t bytes, int64_t step, uint64_t times, uint32_t write);

/* Whether something of an activation, or of those that lent it their hold, may be on the device: 0 or 1. */
int32_t pollyrs_rt_holds(void **hold);

/* Before this thread frees the objects of the mask `dead`, a release of which follows: what only the device
 * has of them is gone. */
void pollyrs_rt_discard(void **hold, uint32_t dead);

/* As pollyrs_rt_release of everything; and the hold is freed and *hold NULL again. */
void pollyrs_rt_leave(void **hold);

/* An activation that was lent the hold of its caller's slot shares it, by its own slot *slot, which is NULL.
 * Returns slot, or NULL if nothing was lent. The caller has released what the callee reads or writes by other
 * means than runs; the callee leaves before whatever may do anything, and before it throws. */
void **pollyrs_rt_enter(void **slot, void **lender);

/* The activation returns. known[i], for i < n: the caller's objects that the callee's object i may be part
 * of, 0: nobody's that the caller knows. What is in known objects only stays for the caller. Where the hold
 * was not lent: as pollyrs_rt_leave. */
void pollyrs_rt_return(void **slot, uint32_t n, const uint32_t *known);

/* pollyrs_rt_host_begin, after everything came back. */
void *pollyrs_rt_host_begin_held(void **hold, const PollyrsScop *scop, uint32_t reason);

/* A table of addresses of rows, the first at `first`, the last at `last`, `step` bytes apart: the first
 * address, and how far apart all of them are, in units of `unit` bytes. The address is NULL if they are not,
 * or descend, or the table can't be read. With first == last it tells what is in one word. */
typedef struct PollyrsRows {
  void *first;
  int64_t pitch;
} PollyrsRows;
PollyrsRows pollyrs_rt_rows(const void *first, const void *last, int64_t step, int64_t unit);

/* The same for rows of which no more is accessed than the bytes from `low` to `high` behind each one's first:
 * where they are not equally far apart, the address is one that stands for them, of which only runs make
 * use. */
PollyrsRows pollyrs_rt_rows_anywhere(const void *first, const void *last, int64_t step, int64_t unit, int64_t low, int64_t high);
/* The bytes of rows whose ends stand in a table, from `first` to `last`, `step` bytes apart, each `behind`
 * bytes behind the row's address; -1 if they differ or can't be read. */
int64_t pollyrs_rt_row_length(const void *first, const void *last, int64_t step, int64_t behind);
/* The number that all words of a table are, from `first` to `last`, `step` bytes apart; -1 if they differ, or
 * can't be read. */
int64_t pollyrs_rt_common_length(const void *first, const void *last, int64_t step);
/* The largest of the signed numbers of `bytes` bytes (4 or 8) in a table, from `first` to `last`, `step` bytes apart; at most 2^46, and that
 * where they can't be read. */
int64_t pollyrs_rt_most(const void *first, const void *last, int64_t step, int64_t bytes);
/* 1 if no byte from `low` to `high` behind any row of a table, as for pollyrs_rt_rows_anywhere, lies from
 * `begin` to `end`, which is not included; else 0. With a step of 0 `first` is the row. */
int64_t pollyrs_rt_rows_leave(const void *first, const void *last, int64_t step, int64_t low, int64_t high,
                              const void *begin, const void *end);

/* Iterations by place, for sums into elements that lists of integers name. Iteration `i` (of `times`) and `k`
 * (of `inner`) takes its place from the integer i * step + k * distance bytes behind each list in turn that
 * is not NULL; `inner` is 1 where there is more than one list. Integers have `kind` bytes, without a sign
 * where POLLYRS_GROUPED_UNSIGNED is added; POLLYRS_GROUPED_PARTLY says that the loop may leave some of them
 * unread, whose memory is looked at first. Place low + p (p < places) has the iterations order[q], in the
 * program's order, for q from start[p] to start[p + 1]; second[q] is `k`, or the number of the list. No
 * places: there is no answer, or all integers differ. The answer stays what it is. */
#define POLLYRS_GROUPED_UNSIGNED 16u
#define POLLYRS_GROUPED_PARTLY 32u
typedef struct PollyrsGroups {
  const int32_t *start, *order, *second;
  int64_t low, places;
} PollyrsGroups;
const PollyrsGroups *pollyrs_rt_grouped(const void *a, const void *b, const void *c, const void *d, int64_t step, int64_t distance,
                                        int64_t inner, int64_t times, int64_t kind);
/* The same, of a loop that runs about `work` statements for each integer: there is no answer, and the lists
 * are not looked at, where that is too little for a device. (Version 13.) */
const PollyrsGroups *pollyrs_rt_places(const void *a, const void *b, const void *c, const void *d, int64_t step, int64_t distance,
                                       int64_t inner, int64_t times, int64_t kind, int64_t work);

/* Before the inspections of an execution of so much `work`, with so many kernels, of the SCoP whose cache this
 * is: 0 if the original loop is to run without them, for the reason POLLYRS_REASON_RUNTIME. (Version 13.) */
int32_t pollyrs_rt_worth(uint64_t *cache, double work, uint32_t n_kernels);
int32_t pollyrs_rt_worth_held(void **hold, uint64_t *cache, double work, uint32_t n_kernels);

/* 1 if executions may run on a device as far as the settings say. */
int64_t pollyrs_rt_wanted(void);

/* The least and the largest, as signed integers, of those that lie in rows of contiguous bytes from `start`
 * on: rows[0] bytes in each, rows[1 + d] of them in dimension d of three, rows[4 + d] bytes apart, outermost
 * first. ends[0] and ends[1] are both 0 where there is no element. Returns 0, with both 0, if some of it
 * can't be read; and, with POLLYRS_INSPECT_DISTINCT added to element_bytes, if two of them are equal. With
 * POLLYRS_INSPECT_NUMBERS they are floating-point numbers of 4 or 8 bytes, the ends are the bits of doubles:
 * of NaNs if one of them is one. With POLLYRS_INSPECT_UNSIGNED integers of at most 4 bytes have no sign. */
#define POLLYRS_INSPECT_DISTINCT 256u
#define POLLYRS_INSPECT_NUMBERS 512u
#define POLLYRS_INSPECT_UNSIGNED 1024u
int32_t pollyrs_rt_inspect(const void *start, const int64_t rows[7], uint32_t element_bytes, int64_t ends[2]);
/* The same in a function with a hold: what only the device has of these bytes comes back first, and stays
 * there. What was found for an execution that succeeds is not looked for again as long as the device has the
 * same. `cache` is that of the SCoP whose execution this is for; `what` has the mask of the objects that the
 * elements may belong to, and POLLYRS_INSPECT_FIRST in the first inspection of an execution. */
#define POLLYRS_INSPECT_FIRST 0x80000000u
int32_t pollyrs_rt_inspect_held(void **hold, const uint64_t *cache, uint32_t what, const void *start, const int64_t rows[7],
                                uint32_t element_bytes, int64_t ends[2]);

/* 1 if the kernels with POLLYRS_KERNEL_LATE are not there: the execution that begins next may not launch
 * them, others of its kernels do their work. 0: they are there, from now on in all executions. `work` as for
 * pollyrs_rt_begin. */
int32_t pollyrs_rt_late(const PollyrsScop *scop, double work);

/* Before a begin: in the SCoP's next execution one thread of the device would run alone what takes as long as
 * so many additions one after the other (sums that keep their order). */
void pollyrs_rt_serial(const PollyrsScop *scop, double additions);

/* A check failed: the values on the two sides of the condition, for the text of the reason that the thread's
 * next pollyrs_rt_host_begin gets. \1 stands for the left one there, \2 for the right one. */
void pollyrs_rt_sides(int64_t left, int64_t right);

/* As pollyrs_rt_host_begin for a loop that has no SCoP, a copy that never runs on the device: its function,
 * place ("gemm.c:85") and why. */
void *pollyrs_rt_kept_begin(const char *function, const char *at, const char *reason);

/* Brackets the original loop, for the profile and for the estimate of the next execution. Returns NULL
 * (cheaply) when neither wants it; pollyrs_rt_host_end(NULL) does nothing. */
void *pollyrs_rt_host_begin(const PollyrsScop *scop, uint32_t reason);
void pollyrs_rt_host_end(void *host);

/* Barrier among the threads of a block of the emulated device. A barrier that some threads of a block reach
 * and others never do ends the program, and so does one in a kernel without POLLYRS_KERNEL_HAS_BARRIER. */
void pollyrs_rt_emu_barrier(const PollyrsEmuThread *thread);
/* The value of the thread so many lanes away in the warp, 32 threads side by side; the thread's own value
 * where there is no such lane. All threads of the warp call it together, in a kernel with
 * POLLYRS_KERNEL_HAS_BARRIER. */
uint64_t pollyrs_rt_emu_shuffle(const PollyrsEmuThread *thread, uint64_t value, int32_t away);
/* The value of a thread of the team: of so many threads side by side, a power of two up to 32, the one with
 * this number. All threads of the team call it together, in a kernel with POLLYRS_KERNEL_HAS_BARRIER. */
uint64_t pollyrs_rt_emu_pass(const PollyrsEmuThread *thread, uint64_t value, uint32_t lane, uint32_t lanes);

/* In kernels with POLLYRS_KERNEL_GRAPH: the calling thread waits for a block of a lower number; a barrier of
 * its block follows before others read what that one wrote. And: all threads of the block call it at its end,
 * behind a barrier. */
void pollyrs_rt_emu_wait(const PollyrsEmuThread *thread, uint64_t block);
void pollyrs_rt_emu_signal(const PollyrsEmuThread *thread);

/* The checked emulated device (POLLYRS_KERNEL_CHECKED): who accesses what; a constant of the program. */
typedef struct PollyrsEmuSite {
  const char *what;  /* a statement, a copy, ... */
  const char *array; /* the source name, or "" */
  uint32_t bytes;
  uint32_t flags;    /* 1: a store; 2: a load whose value may be thrown away; 4: one operation on what is there;
                      * 8: a store that may give elements the values that they have; from the ninth bit on:
                      * the logarithm of what the address has to be a multiple of */
  uint32_t argument; /* the kernel's array argument; -1: shared memory; -2: not known */
  uint32_t granule;  /* bytes of the kernel's smallest access to shared memory */
} PollyrsEmuSite;

/* In front of each load and store of device or shared memory. A load returns 1 if nobody wrote what it reads;
 * a store says whether its value comes from such a load. A mistake ends the program, as POLLYRS_RT_CHECK
 * says. */
uint32_t pollyrs_rt_emu_load(const PollyrsEmuThread *thread, const void *address, const PollyrsEmuSite *site);
void pollyrs_rt_emu_store(const PollyrsEmuThread *thread, const void *address, const PollyrsEmuSite *site, uint32_t undefined);
/* In front of a branch or an access whose condition or address may come from such a load. */
void pollyrs_rt_emu_decide(const PollyrsEmuThread *thread, const PollyrsEmuSite *site, uint32_t undefined);
/* pollyrs_rt_emu_barrier, at this place of the code. */
void pollyrs_rt_emu_barrier_at(const PollyrsEmuThread *thread, const PollyrsEmuSite *site);
/* a * b + c, rounded once. */
double pollyrs_rt_emu_fma(double a, double b, double c);
/* After pollyrs_rt_begin: an array's dimensions and the sizes of the second, third, fourth, for messages.
 * dims is 0 if there are more. */
void pollyrs_rt_emu_shape(void *run, uint32_t array, uint32_t dims, int64_t size1, int64_t size2, int64_t size3);

#ifdef __cplusplus
}
#endif
#endif
