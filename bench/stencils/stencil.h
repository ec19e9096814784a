/* What the stencils share. Arrays are C99 arrays of variable length, sizes are parameters; see examples/example.h for the rest. A stencil
 * defines SIZES(X), a list X(number, name, default), before it includes this file. */
#ifndef STENCIL_H
#define STENCIL_H

#include "../algorithms/algorithm.h"

/* Fills `count` elements with uniform values and repeats them `levels` times, so that all time levels begin alike. */
EXAMPLE_UNUSED static void fill_levels(TYPE *a, int levels, size_t count) {
  example_fill(a, count);
  for (int l = 1; l < levels; ++l)
    memcpy(a + l * count, a, count * sizeof(TYPE));
}

/* main for one array of `levels` time levels. */
#define STENCIL_MAIN(levels, elements)                                                                                           \
  int main(int argc, char **argv) {                                                                                              \
    READ_SIZES;                                                                                                                  \
    size_t count = elements;                                                                                                     \
    void *A = example_array(levels * count);                                                                                     \
    REPEAT {                                                                                                                     \
      fill_levels(A, levels, count);                                                                                             \
      CALL_KERNEL(A);                                                                                                            \
    }                                                                                                                            \
    example_print("A", A, levels * count);                                                                                       \
    free(A);                                                                                                                     \
    return 0;                                                                                                                    \
  }

#endif
