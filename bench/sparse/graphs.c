/* Graphs. */
#include "sparse.h"

/* Levels of a search from vertex 0. */
KERNEL bfs(int n, const int *start, const int *edge, int *level) {
  for (int i = 0; i < n; i++)
    level[i] = -1;
  level[0] = 0;
  int changed = 1;
  for (int d = 0; changed; d++) {
    changed = 0;
    for (int i = 0; i < n; i++)
      if (level[i] == d)
        for (int k = start[i]; k < start[i + 1]; k++)
          if (level[edge[k]] < 0) {
            level[edge[k]] = d + 1;
            changed = 1;
          }
  }
}

/* Some steps, in which each vertex asks those that point to it. */
KERNEL page_rank(int n, int steps, const int *start, const int *from, const int *degree, float *rank, float *next_rank) {
  for (int t = 0; t < steps; t++) {
    for (int i = 0; i < n; i++) {
      float sum = 0;
      for (int k = start[i]; k < start[i + 1]; k++)
        sum += rank[from[k]] / degree[from[k]];
      next_rank[i] = 0.15f / n + 0.85f * sum;
    }
    for (int i = 0; i < n; i++)
      rank[i] = next_rank[i];
  }
}

KERNEL in_degrees(long edges, const int *to, int *degree) {
  for (long e = 0; e < edges; e++)
    degree[to[e]]++;
}

/* The least label of a vertex and its neighbours. */
KERNEL least_label(int n, const int *start, const int *edge, const int *label, int *next_label) {
  for (int i = 0; i < n; i++) {
    int least = label[i];
    for (int k = start[i]; k < start[i + 1]; k++)
      if (label[edge[k]] < least)
        least = label[edge[k]];
    next_label[i] = least;
  }
}

/* Distances by edges, relaxed once. */
KERNEL relax(long edges, const int *from, const int *to, const int *weight, const int *old, int *distance) {
  for (long e = 0; e < edges; e++) {
    int d = old[from[e]] + weight[e];
    if (d < distance[to[e]])
      distance[to[e]] = d;
  }
}

int main(int argc, char **argv) {
  begin(argc, argv);
  int n = SIZE(1000000, 500), mean = SIZE(16, 4);
  CASE(bfs) {
    int *s = starts(n, mean, 0), *e = ints(s[n], n), *level = ints(n, 1);
    RUN(bfs, level, n, (n, s, e, level));
  }
  CASE(page_rank) {
    int *s = starts(n, mean, 1), *from = ints(s[n], n), *degree = ints(n, 20);
    for (int i = 0; i < n; i++)
      degree[i]++;
    float *rank = floats(n, 0, 1), *other = floats(n, 0, 0);
    RUN(page_rank, rank, n, (n, 10, s, from, degree, rank, other));
  }
  CASE(in_degrees) {
    long edges = (long)mean * n;
    int *to = ints(edges, n), *degree = ints(n, 1);
    RUN(in_degrees, degree, n, (edges, to, degree));
  }
  CASE(least_label) {
    int *s = starts(n, mean, 1), *e = ints(s[n], n), *label = permutation(n), *other = ints(n, 1);
    RUN(least_label, other, n, (n, s, e, label, other));
  }
  CASE(relax) {
    long edges = (long)mean * n;
    int *from = ints(edges, n), *to = ints(edges, n), *weight = ints(edges, 1000), *old = ints(n, 100000), *distance = ints(n, 100000);
    RUN(relax, distance, n, (edges, from, to, weight, old, distance));
  }
  return 0;
}
