/* Deriche's recursive edge filter: passes in both directions over the rows, then over the columns (International Journal of
 * Computer Vision 1, 1987).
 * deriche [WIDTH HEIGHT [SEED]] */
#define SIZES(X) X(1, w, 40) X(2, h, 50)
#include "algorithm.h"

#define in(i, j) AT2(in, h, i, j)
#define out(i, j) AT2(out, h, i, j)
#define forth(i, j) AT2(forth, h, i, j)
#define back(i, j) AT2(back, h, i, j)

KERNEL(TYPE alpha, MATRIX(in, w, h), MATRIX(out, w, h), MATRIX(forth, w, h), MATRIX(back, w, h)) {
  TYPE k = (1 - EXP(-alpha)) * (1 - EXP(-alpha)) / (1 + 2 * alpha * EXP(-alpha) - EXP(2 * alpha));
  TYPE a1 = k, a2 = k * EXP(-alpha) * (alpha - 1);
  TYPE a3 = k * EXP(-alpha) * (alpha + 1), a4 = -k * EXP(-2 * alpha);
  TYPE b1 = POW((TYPE)2, -alpha), b2 = -EXP(-2 * alpha);
  for (INDEX i = 0; i < w; ++i) {
    TYPE y1 = 0, y2 = 0, x1 = 0;
    for (INDEX j = 0; j < h; ++j) {
      forth(i, j) = a1 * in(i, j) + a2 * x1 + b1 * y1 + b2 * y2;
      x1 = in(i, j);
      y2 = y1;
      y1 = forth(i, j);
    }
  }
  for (INDEX i = 0; i < w; ++i) {
    TYPE y1 = 0, y2 = 0, x1 = 0, x2 = 0;
    for (INDEX j = h; j-- > 0;) {
      back(i, j) = a3 * x1 + a4 * x2 + b1 * y1 + b2 * y2;
      x2 = x1;
      x1 = in(i, j);
      y2 = y1;
      y1 = back(i, j);
    }
  }
  for (INDEX i = 0; i < w; ++i)
    for (INDEX j = 0; j < h; ++j)
      out(i, j) = forth(i, j) + back(i, j);
  for (INDEX j = 0; j < h; ++j) {
    TYPE y1 = 0, y2 = 0, x1 = 0;
    for (INDEX i = 0; i < w; ++i) {
      forth(i, j) = a1 * out(i, j) + a2 * x1 + b1 * y1 + b2 * y2;
      x1 = out(i, j);
      y2 = y1;
      y1 = forth(i, j);
    }
  }
  for (INDEX j = 0; j < h; ++j) {
    TYPE y1 = 0, y2 = 0, x1 = 0, x2 = 0;
    for (INDEX i = w; i-- > 0;) {
      back(i, j) = a3 * x1 + a4 * x2 + b1 * y1 + b2 * y2;
      x2 = x1;
      x1 = out(i, j);
      y2 = y1;
      y1 = back(i, j);
    }
  }
  for (INDEX i = 0; i < w; ++i)
    for (INDEX j = 0; j < h; ++j)
      out(i, j) = forth(i, j) + back(i, j);
}

int main(int argc, char **argv) {
  READ_SIZES;
  size_t size = (size_t)w * h;
  void *in = example_array(size), *out = example_array(size), *forth = example_array(size), *back = example_array(size);
  REPEAT {
    example_fill(in, size);
    CALL_KERNEL((TYPE)0.25, in, out, forth, back);
  }
  example_print("out", out, size);
  example_print("forth", forth, size);
  example_print("back", back, size);
  free(in);
  free(out);
  free(forth);
  free(back);
  return 0;
}
