/* What the convolutions share: sizes, data and output. The layout is the kernel's. */
#include "unseen.h"

/* Arrays as the layout has them: the parameters are n, k, c, h, w, r. */
static void run(int n, int k, int c, int h, int w, int r, TYPE *out, TYPE *in, TYPE *weight);

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 2), k = (int)example_arg(argc, argv, 2, 20), c = (int)example_arg(argc, argv, 3, 10);
  int h = (int)example_arg(argc, argv, 4, 20), w = (int)example_arg(argc, argv, 5, 30), f = (int)example_arg(argc, argv, 6, 3);
  size_t outs = (size_t)n * k * h * w, ins = (size_t)n * c * (h + f - 1) * (w + f - 1);
  TYPE *out = 0;
  for (long r = example_repeat(); r > 0; --r) {
    example_seed(1);
    free(out);
    out = dense_random(outs);
    TYPE *in = dense_random(ins), *weight = dense_random((size_t)k * c * f * f);
    if (outs && c && f) run(n, k, c, h, w, f, out, in, weight);
    free(in);
    free(weight);
  }
  example_print("out", out, outs);
  return 0;
}
