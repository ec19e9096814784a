/* What the kernels of this folder share: arrays of random data, repetition, output. Each program defines kernel() and its sizes. */
#ifndef DENSE_UNSEEN_H
#define DENSE_UNSEEN_H
#include "example.h"

/* An array of `count` random numbers in [-1, 1). */
static TYPE *dense_random(size_t count) {
  TYPE *a = example_array(count);
  example_fill(a, count);
  return a;
}
#endif
