// Initialisation of a part of a larger array (Grosser et al., ICS 2015): with the first setting, 1 8 9 0 1 3 1 3 6, the part lies inside of the
// array; with the second, 1 8 9 0 5 6 1 3 6, its rows run into the next ones.
// ARGS: 1 8 9 0 1 3 1 3 6
// ARGS: 4 8 9 1 2 3 3 5 6
// ARGS: 4 8 9 0 4 0 2 5 9
// ARGS: 4 8 9 1 2 3 0 5 60
// ARGS: 4 40 50 2 20 10 2 20 40
// ARGS: 1 8 9 0 5 6 1 3 6
// OFFLOAD: partial
// FALLBACK: stay inside its dimensions
#include "example.h"

__attribute__((noinline)) static void set_subarray(int n, int m, int p, float A[n][m][p], int o0, int o1, int o2, int s0, int s1,
                                                   int s2) {
  for (int i = 0; i < s0; i++)
    for (int j = 0; j < s1; j++)
      for (int k = 0; k < s2; k++)
        A[i + o0][j + o1][k + o2] = 100 * i + 10 * j + k;
}

int main(int argc, char **argv) {
  int v[9];
  for (int a = 0; a < 9; ++a)
    v[a] = (int)example_arg(argc, argv, a + 1, 4);
  size_t count = (size_t)v[0] * v[1] * v[2], room = count + 1000;
  float *A = calloc(room, sizeof *A);
  if (!A)
    return 2;
  for (size_t c = 0; c < room; ++c)
    A[c] = (float)example_uniform();
  set_subarray(v[0], v[1], v[2], (float(*)[v[1]][v[2]])A, v[3], v[4], v[5], v[6], v[7], v[8]);
  printf("%016llx\n", (unsigned long long)example_hash(A, room * sizeof *A));
  free(A);
  return 0;
}
