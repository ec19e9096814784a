// Many recurrences at once, each over a line or a small grid: lattices of option prices, dynamic programming, sweeps in place, steps of small stencils.
//
// ARGS: 40 21
// ARGS: 1 7
// ARGS: 17 70
// ARGS: 3 2
// OFFLOAD: yes
// KERNELS: lattice lattice_twice likeliest knapsack chain sweep heat smooth align
#include "example.h"

#define KEEP __attribute__((noinline)) static

// Values of options from the last step back, in place.
KEEP void lattice(int m, int n, TYPE v[m][n + 1], TYPE *up, TYPE *down) {
  for (int o = 0; o < m; o++)
    for (int t = n; t > 0; t--)
      for (int i = 0; i < t; i++)
        v[o][i] = up[o] * v[o][i + 1] + down[o] * v[o][i];
}

// The same by two lines.
KEEP void lattice_twice(int m, int n, TYPE v[m][n + 1], TYPE w[m][n + 1], TYPE *up, TYPE *down) {
  for (int o = 0; o < m; o++)
    for (int t = n; t > 0; t--) {
      for (int i = 0; i < t; i++)
        w[o][i] = up[o] * v[o][i + 1] + down[o] * v[o][i];
      for (int i = 0; i < t; i++)
        v[o][i] = w[o][i];
    }
}

// The score of the likeliest path to each of 8 states, for n observations of each sequence.
KEEP void likeliest(int m, int n, TYPE best[m][n][8], TYPE from[8][8], TYPE seen[m][n][8]) {
  for (int o = 0; o < m; o++)
    for (int t = 1; t < n; t++)
      for (int s = 0; s < 8; s++) {
        TYPE most = best[o][t - 1][0] + from[0][s];
        for (int r = 1; r < 8; r++)
          most = best[o][t - 1][r] + from[r][s] > most ? best[o][t - 1][r] + from[r][s] : most;
        best[o][t][s] = most + seen[o][t][s];
      }
}

// Knapsacks of n items of weight 3: a row of values for each item.
KEEP void knapsack(int m, int n, TYPE value[m][n + 1][64], TYPE worth[m][n + 1]) {
  for (int o = 0; o < m; o++)
    for (int k = 1; k <= n; k++) {
      for (int w = 0; w < 3; w++)
        value[o][k][w] = value[o][k - 1][w];
      for (int w = 3; w < 64; w++) {
        TYPE with = value[o][k - 1][w - 3] + worth[o][k], without = value[o][k - 1][w];
        value[o][k][w] = with > without ? with : without;
      }
    }
}

// The cheapest orders of products of 16 matrices, by lengths of chains.
KEEP void chain(int m, TYPE cost[m][16][16], TYPE size[m][17]) {
  for (int o = 0; o < m; o++)
    for (int length = 1; length < 16; length++)
      for (int i = 0; i < 16 - length; i++) {
        TYPE least = cost[o][i][i] + cost[o][i + 1][i + length] + size[o][i] * size[o][i + 1] * size[o][i + length + 1];
        for (int k = i + 1; k < i + length; k++) {
          TYPE c = cost[o][i][k] + cost[o][k + 1][i + length] + size[o][i] * size[o][k + 1] * size[o][i + length + 1];
          least = c < least ? c : least;
        }
        cost[o][i][i + length] = least;
      }
}

// Gauss-Seidel on grids of 12 x 12.
KEEP void sweep(int m, int n, TYPE u[m][12][12]) {
  for (int o = 0; o < m; o++)
    for (int t = 0; t < n; t++)
      for (int i = 1; i < 11; i++)
        for (int j = 1; j < 11; j++)
          u[o][i][j] = (TYPE)0.25 * (u[o][i - 1][j] + u[o][i + 1][j] + u[o][i][j - 1] + u[o][i][j + 1]);
}

// Steps of a stencil on small grids, each with a coefficient of its own.
KEEP void heat(int m, int n, TYPE u[m][14][14], TYPE v[m][14][14], TYPE *k) {
  for (int o = 0; o < m; o++)
    for (int t = 0; t < n; t++) {
      for (int i = 1; i < 13; i++)
        for (int j = 1; j < 13; j++)
          v[o][i][j] = u[o][i][j] + k[o] * (u[o][i - 1][j] + u[o][i + 1][j] + u[o][i][j - 1] + u[o][i][j + 1] - 4 * u[o][i][j]);
      for (int i = 1; i < 13; i++)
        for (int j = 1; j < 13; j++)
          u[o][i][j] = v[o][i][j];
    }
}

// Exponential smoothing of several series of each group, and their mean at each time, which the next one begins with.
KEEP void smooth(int m, int n, TYPE x[m][n][20], TYPE level[m][20], TYPE *alpha) {
  for (int o = 0; o < m; o++)
    for (int t = 0; t < n; t++) {
      TYPE mean = 0;
      for (int s = 0; s < 20; s++)
        mean += level[o][s];
      for (int s = 0; s < 20; s++)
        level[o][s] = alpha[o] * x[o][t][s] + (1 - alpha[o]) * (level[o][s] + mean / 20) / 2;
    }
}

// Pairs of sequences aligned: each element of a table depends on those above and to the left.
KEEP void align(int m, int n, TYPE score[m][n + 1][33], TYPE same[m][n + 1][33]) {
  for (int o = 0; o < m; o++)
    for (int i = 1; i <= n; i++)
      for (int j = 1; j < 33; j++) {
        TYPE best = score[o][i - 1][j - 1] + same[o][i][j], gap = score[o][i - 1][j] - 1, other = score[o][i][j - 1] - 1;
        best = gap > best ? gap : best;
        score[o][i][j] = other > best ? other : best;
      }
}

static TYPE *filled(size_t all) {
  TYPE *a = example_array(all);
  example_fill(a, all);
  return a;
}

int main(int argc, char **argv) {
  int m = argc > 1 ? atoi(argv[1]) : 40, n = argc > 2 ? atoi(argv[2]) : 21;
  size_t k = (size_t)m * (n + 1);
  TYPE *v = filled(k), *w = filled(k), *z = filled(k), *up = filled(m), *down = filled(m);
  TYPE *best = filled(k * 8), *from = filled(64), *seen = filled(k * 8), *value = filled(k * 64), *worth = filled(k);
  TYPE *cost = filled((size_t)m * 256), *size = filled((size_t)m * 17), *u = filled((size_t)m * 144);
  TYPE *g = filled((size_t)m * 196), *h = filled((size_t)m * 196), *x = filled(k * 20), *level = filled((size_t)m * 20);
  TYPE *score = filled(k * 33), *same = filled(k * 33);
  lattice(m, n, (void *)v, up, down);
  lattice_twice(m, n, (void *)w, (void *)z, up, down);
  likeliest(m, n, (void *)best, (void *)from, (void *)seen);
  knapsack(m, n, (void *)value, (void *)worth);
  chain(m, (void *)cost, (void *)size);
  sweep(m, n, (void *)u);
  heat(m, n, (void *)g, (void *)h, up);
  smooth(m, n, (void *)x, (void *)level, down);
  align(m, n, (void *)score, (void *)same);
  example_print("v", v, k);
  example_print("w", w, k);
  example_print("best", best, (size_t)m * n * 8);
  example_print("value", value, k * 64);
  example_print("cost", cost, (size_t)m * 256);
  example_print("u", u, (size_t)m * 144);
  example_print("g", g, (size_t)m * 196);
  example_print("level", level, (size_t)m * 20);
  example_print("score", score, k * 33);
  return 0;
}
