// Products that other statements hide in one kernel: scores, their largest and weighted values by row; the nearest of all pairs, which stays one kernel, since nothing holds all pairs.
// ARGS: 2 70 40
// ARGS: 3 33 5
// ARGS: 1 130 64
// ARGS: 2 1 0
// ARGS: 0 4 4
// OFFLOAD: yes
// KERNELS: attention nearest
#include "example.h"

#define KERNEL __attribute__((noinline)) static

KERNEL void attention(int heads, int tokens, int d, const float Q[heads][tokens][d], const float K[heads][tokens][d], const float V[heads][tokens][d],
                      float S[heads][tokens][tokens], float O[heads][tokens][d]) {
  for (int h = 0; h < heads; h++)
    for (int i = 0; i < tokens; i++) {
      float largest = -1e30f, sum = 0;
      for (int j = 0; j < tokens; j++) {
        float dot = 0;
        for (int k = 0; k < d; k++)
          dot += Q[h][i][k] * K[h][j][k];
        S[h][i][j] = dot * 0.125f;
        if (S[h][i][j] > largest)
          largest = S[h][i][j];
      }
      for (int j = 0; j < tokens; j++) {
        S[h][i][j] = 1 / (1 + largest - S[h][i][j]);
        sum += S[h][i][j];
      }
      for (int k = 0; k < d; k++) {
        float o = 0;
        for (int j = 0; j < tokens; j++)
          o += S[h][i][j] * V[h][j][k];
        O[h][i][k] = o / sum;
      }
    }
}

KERNEL void nearest(int n, int d, const float x[n][d], const float y[n][d], float *least) {
  for (int i = 0; i < n; i++) {
    least[i] = 1e30f;
    for (int j = 0; j < n; j++) {
      float sum = 0;
      for (int k = 0; k < d; k++)
        sum += (x[i][k] - y[j][k]) * (x[i][k] - y[j][k]);
      least[i] = sum < least[i] ? sum : least[i];
    }
  }
}

int main(int argc, char **argv) {
  int heads = argc > 1 ? atoi(argv[1]) : 2, tokens = argc > 2 ? atoi(argv[2]) : 70, d = argc > 3 ? atoi(argv[3]) : 40;
  size_t rows = (size_t)heads * tokens, all = rows * d, pairs = rows * tokens;
  float *a = malloc((5 * all + pairs + tokens + 1) * sizeof *a), *S = a + 4 * all, *least = S + pairs;
  for (size_t i = 0; i < 4 * all; ++i)
    a[i] = (float)example_uniform();
  for (size_t i = 0; i < pairs + tokens; ++i)
    S[i] = 3;
  attention(heads, tokens, d, (void *)a, (void *)(a + all), (void *)(a + 2 * all), (void *)S, (void *)(a + 3 * all));
  printf("attention %016llx\n", (unsigned long long)example_hash(a, (4 * all + pairs) * sizeof *a));
  if (heads > 0)
    nearest(tokens, d, (void *)a, (void *)(a + all), least);
  printf("nearest %016llx\n", (unsigned long long)example_hash(least, tokens * sizeof *least));
  free(a);
  return 0;
}
