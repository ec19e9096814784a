/* What the algorithms share: one text of each kernel, compiled in several forms.
 *
 *   -DFORM=constant         sizes are constants (-DSIZE1=..., -DSIZE2=..., else the defaults), arrays are arrays
 *   -DFORM=vla              sizes are parameters, arrays are C99 arrays of variable length
 *   -DFORM=linear           sizes are parameters, arrays are pointers, indices are computed in int
 *   -DFORM=linear_unsigned  the same in unsigned
 *   -DINLINE                the kernel is inlined into main, else it stays a function
 *   -DTYPE=float            the element type; double is the default, integer algorithms define their own
 *
 * An algorithm defines SIZES(X), a list X(number, name, default), before it includes this file; an element is written A(i, j), by
 * a macro of the array's name, so that the kernel's loops read the same in all forms. All forms take the same arguments: the sizes,
 * then a seed. Loops that count down are written `for (INDEX i = n; i-- > 0;)`, which is right in int and in unsigned. */
#ifndef ALGORITHM_H
#define ALGORITHM_H

#include "../../examples/example.h"
#include <math.h>

#ifndef FORM
#define FORM vla
#endif
#define ALGORITHM_FORM_constant 1
#define ALGORITHM_FORM_vla 2
#define ALGORITHM_FORM_linear 3
#define ALGORITHM_FORM_linear_unsigned 4
#define ALGORITHM_PASTE_(a, b) a##b
#define ALGORITHM_PASTE(a, b) ALGORITHM_PASTE_(a, b)
#define ALGORITHM_FORM ALGORITHM_PASTE(ALGORITHM_FORM_, FORM)

#if ALGORITHM_FORM < 1
#error "-DFORM= is one of constant, vla, linear, linear_unsigned"
#elif ALGORITHM_FORM == 4
#define INDEX unsigned
#else
#define INDEX int
#endif

/* Parameters and elements. ATn takes the extents of all dimensions but the first. */
#if ALGORITHM_FORM <= 2
#define VECTOR_OF(type, a, n) type a[n]
#define MATRIX(a, n, m) TYPE a[n][m]
#define CUBE(a, n, m, l) TYPE a[n][m][l]
#define AT2(a, m, i, j) a[i][j]
#define AT3(a, m, l, i, j, k) a[i][j][k]
#else
#define VECTOR_OF(type, a, n) type *a
#define MATRIX(a, n, m) TYPE *a
#define CUBE(a, n, m, l) TYPE *a
#define AT2(a, m, i, j) a[(i) * (m) + (j)]
#define AT3(a, m, l, i, j, k) a[((i) * (m) + (j)) * (l) + (k)]
#endif
#define VECTOR(a, n) VECTOR_OF(TYPE, a, n)

/* Sizes: constants of the file, or the first parameters of the kernel and variables of main. */
#if ALGORITHM_FORM == 1
#ifndef SIZE1
#define SIZE1 0
#endif
#ifndef SIZE2
#define SIZE2 0
#endif
#ifndef SIZE3
#define SIZE3 0
#endif
#ifndef SIZE4
#define SIZE4 0
#endif
#ifndef SIZE5
#define SIZE5 0
#endif
#define ALGORITHM_CONSTANT(k, name, otherwise) name = SIZE##k > 0 ? SIZE##k : otherwise,
enum { SIZES(ALGORITHM_CONSTANT) };
#define ALGORITHM_PARAMETER(k, name, otherwise)
#define ALGORITHM_PASS(k, name, otherwise)
#define ALGORITHM_READ(k, name, otherwise)                                                                                       \
  if (example_arg(argc, argv, k, name) != name) {                                                                                \
    fprintf(stderr, "argument %d is %s, but this program was compiled for %d\n", k, argv[k], (int)name);                         \
    exit(2);                                                                                                                     \
  }
#else
#define ALGORITHM_PARAMETER(k, name, otherwise) INDEX name,
#define ALGORITHM_PASS(k, name, otherwise) name,
#define ALGORITHM_READ(k, name, otherwise) INDEX name = (INDEX)example_arg(argc, argv, k, otherwise);
#endif

#ifdef INLINE
#define ALGORITHM_LINKAGE static inline __attribute__((always_inline))
#else
#define ALGORITHM_LINKAGE static __attribute__((noinline))
#endif

/* The kernel's head, with the sizes in front of the given parameters, and its call. */
#define KERNEL(...) ALGORITHM_LINKAGE void kernel(SIZES(ALGORITHM_PARAMETER) __VA_ARGS__)
#define CALL_KERNEL(...) kernel(SIZES(ALGORITHM_PASS) __VA_ARGS__)

#define ALGORITHM_COUNT(k, name, otherwise) +1
#define READ_SIZES                                                                                                               \
  SIZES(ALGORITHM_READ)                                                                                                          \
  long seed = example_arg(argc, argv, 1 SIZES(ALGORITHM_COUNT), 1)

/* Runs its statement as often as EXAMPLE_REPEAT says, each time with the same data. */
#define REPEAT for (long repetition = example_repeat(); example_seed(seed), repetition > 0; --repetition)

#define SQRT(x) _Generic((TYPE)0, float : sqrtf, default : sqrt)(x)
#define EXP(x) _Generic((TYPE)0, float : expf, default : exp)(x)
#define POW(x, y) _Generic((TYPE)0, float : powf, default : pow)(x, y)

/* Data. Each loop calls the generator, which keeps it on the host and out of the counts of loops. */

/* Uniform in [low, high). */
EXAMPLE_UNUSED static void fill_between(TYPE *a, size_t count, double low, double high) {
  for (size_t i = 0; i < count; ++i)
    a[i] = (TYPE)(low + (high - low) * (example_uniform() / 2 + 0.5));
}

/* A square matrix whose diagonal outweighs its row, so that elimination without pivoting is stable. */
EXAMPLE_UNUSED static void fill_dominant(TYPE *a, size_t n) {
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j < n; ++j)
      a[i * n + j] = (TYPE)(example_uniform() + (i == j ? (double)n + 1 : 0));
}

/* The same and symmetric: positive definite. */
EXAMPLE_UNUSED static void fill_definite(TYPE *a, size_t n) {
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j <= i; ++j)
      a[i * n + j] = a[j * n + i] = (TYPE)(example_uniform() + (i == j ? (double)n + 1 : 0));
}

/* Integers in [low, high). */
EXAMPLE_UNUSED static int random_between(int low, int high) { return low + (int)(example_bits() % (uint64_t)(high - low)); }

#endif
