// The diagonal stencil on a padded array of Grosser et al. (ICS 2015), In[Q+2][R+2][S+2]; linearised, with sizes that do not fit, too.
// ARGS: 9 10 11 11
// ARGS: 0 0 0 0
// ARGS: 1 1 1 1
// ARGS: 3 30 7 8
// ARGS: 4 5 60 20
// OFFLOAD: partial
// FALLBACK: stay inside its dimensions
#include "example.h"

__attribute__((noinline)) static void stencil(long Q, long R, long S, double Out[Q + 2][R + 2][S + 2], double In[Q + 2][R + 2][S + 2]) {
  for (long i = 1; i <= Q; i++)
    for (long j = 1; j <= R; j++)
      for (long k = 1; k <= S; k++)
        Out[i][j][k] = 0.33f * (In[i][j][k] + In[i + 1][j + 1][k + 1] + In[i - 1][j - 1][k - 1]);
}

/* Planes and rows of an array made for T in the last dimension, S of which are computed. */
__attribute__((noinline)) static void part(long Q, long R, long S, long T, double *restrict Out, const double *restrict In) {
  for (long i = 1; i <= Q; i++)
    for (long j = 1; j <= R; j++)
      for (long k = 1; k <= S; k++)
        Out[(i * (R + 2) + j) * (T + 2) + k] = 0.5 * In[(i * (R + 2) + j) * (T + 2) + k] +
                                               In[((i + 1) * (R + 2) + j + 1) * (T + 2) + k + 1] -
                                               In[((i - 1) * (R + 2) + j - 1) * (T + 2) + k - 1];
}

int main(int argc, char **argv) {
  long Q = example_arg(argc, argv, 1, 9), R = example_arg(argc, argv, 2, 10), S = example_arg(argc, argv, 3, 11);
  long T = example_arg(argc, argv, 4, 11);
  size_t count = (size_t)(Q + 2) * (R + 2) * (S + T + 2);
  double *Out = example_array(count), *In = example_array(count);
  example_fill(Out, count);
  example_fill(In, count);
  stencil(Q, R, S, (double(*)[R + 2][S + 2])Out, (double(*)[R + 2][S + 2])In);
  example_print("Out", Out, count);
  part(Q, R, S, T, Out, In);
  example_print("Out", Out, count);
  free(Out);
  free(In);
  return 0;
}
