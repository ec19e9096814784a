// Peers of bench/sparse/graphs.c.
#include "sparse.cuh"

__global__ void first_level(int n, int *level) {
  EACH(i, n) level[i] = i == 0 ? 0 : -1;
}

__global__ void next_level(int n, int d, const int *__restrict__ start, const int *__restrict__ edge, int *level, int *changed) {
  int i = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (i >= n || level[i] != d)
    return;
  for (int k = start[i] + lane; k < start[i + 1]; k += 32)
    if (level[edge[k]] < 0)
      level[edge[k]] = d + 1, *changed = 1;
}

PEER peer_bfs(int n, const int *start, const int *edge, int *level) {
  Array<int> ds(start, n + 1), de(edge, start[n]), dl(n), dc(1);
  measure(
      [&] {
        first_level<<<blocks(n, 256), 256>>>(n, dl);
        int changed = 1;
        for (int d = 0; changed; d++) {
          cudaMemsetAsync(dc, 0, sizeof(int));
          next_level<<<blocks(n, 8), 256>>>(n, d, ds, de, dl, dc);
          cudaMemcpy(&changed, dc, sizeof(int), cudaMemcpyDeviceToHost);
        }
      },
      [&] { dl.back(level); });
  least_bytes = 4.0 * start[n] + 8.0 * n;
}

__global__ void rank_step(int n, const int *__restrict__ start, const int *__restrict__ from, const int *__restrict__ degree, const float *__restrict__ rank,
                          float *__restrict__ next) {
  int i = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (i >= n)
    return;
  float sum = 0;
  for (int k = start[i] + lane; k < start[i + 1]; k += 32)
    sum += rank[from[k]] / degree[from[k]];
  sum = group_sum<32>(sum);
  if (lane == 0)
    next[i] = 0.15f / n + 0.85f * sum;
}

PEER peer_page_rank(int n, int steps, const int *start, const int *from, const int *degree, float *rank, float *next_rank) {
  Array<int> ds(start, n + 1), df(from, start[n]), dd(degree, n);
  Array<float> dr(rank, n), dn(n);
  measure(
      [&] {
        for (int t = 0; t < steps; t++) {
          rank_step<<<blocks(n, 8), 256>>>(n, ds, df, dd, dr, dn);
          cudaMemcpyAsync(dr, dn, n * sizeof(float), cudaMemcpyDeviceToDevice);
        }
      },
      [&] { dr.back(rank); });
  least_bytes = steps * (4.0 * start[n] + 16.0 * n);
}

__global__ void in_degrees(long edges, const int *__restrict__ to, int *degree) {
  EACH(e, edges) atomicAdd(&degree[to[e]], 1);
}

PEER peer_in_degrees(long edges, const int *to, int *degree) {
  int n = *std::max_element(to, to + edges) + 1;
  Array<int> dt(to, edges), dd(degree, n);
  measure([&] { in_degrees<<<blocks(edges, 256), 256>>>(edges, dt, dd); }, [&] { dd.back(degree); });
  least_bytes = 4.0 * edges + 8.0 * n;
}

__global__ void least_label(int n, const int *__restrict__ start, const int *__restrict__ edge, const int *__restrict__ label, int *__restrict__ next) {
  int i = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (i >= n)
    return;
  int least = label[i];
  for (int k = start[i] + lane; k < start[i + 1]; k += 32)
    least = min(least, label[edge[k]]);
  least = __reduce_min_sync(~0u, least);
  if (lane == 0)
    next[i] = least;
}

PEER peer_least_label(int n, const int *start, const int *edge, const int *label, int *next_label) {
  Array<int> ds(start, n + 1), de(edge, start[n]), dl(label, n), dn(n);
  measure([&] { least_label<<<blocks(n, 8), 256>>>(n, ds, de, dl, dn); }, [&] { dn.back(next_label); });
  least_bytes = 4.0 * start[n] + 12.0 * n;
}

__global__ void relax(long edges, const int *__restrict__ from, const int *__restrict__ to, const int *__restrict__ weight, const int *__restrict__ old, int *distance) {
  EACH(e, edges) {
    int d = old[from[e]] + weight[e];
    if (d < distance[to[e]])
      atomicMin(&distance[to[e]], d);
  }
}

PEER peer_relax(long edges, const int *from, const int *to, const int *weight, const int *old, int *distance) {
  int n = std::max(*std::max_element(from, from + edges), *std::max_element(to, to + edges)) + 1;
  Array<int> df(from, edges), dt(to, edges), dw(weight, edges), dold(old, n), dd(distance, n);
  measure([&] { relax<<<blocks(edges, 256), 256>>>(edges, df, dt, dw, dold, dd); }, [&] { dd.back(distance); });
  least_bytes = 12.0 * edges + 12.0 * n;
}
