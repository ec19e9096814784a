// Several reductions of one loop by hand, as bench/sums.c has them, in one launch each: vectors of 16 bytes, shuffles, atomic updates.
// nvcc -O3 -arch=sm_90 sums.cu -o sums && ./sums: the median of seven executions after the first.
#include <algorithm>
#include <cstdio>
#include <vector>

__device__ long long total;
__device__ int low, high, bits, edges[6];
__device__ float sums[4];

constexpr unsigned ALL = ~0u;

__global__ void statistics(long n, const int4 *a) {
  long long s = 0;
  int least = 2147483647, most = -2147483647 - 1, x = 0;
  for (long i = blockIdx.x * blockDim.x + threadIdx.x; i < n / 4; i += gridDim.x * blockDim.x) {
    int4 v = a[i];
    s += (long long)v.x + v.y + v.z + v.w;
    least = min(min(least, min(v.x, v.y)), min(v.z, v.w));
    most = max(max(most, max(v.x, v.y)), max(v.z, v.w));
    x ^= v.x ^ v.y ^ v.z ^ v.w;
  }
  for (int d = 16; d; d /= 2) {
    s += __shfl_xor_sync(ALL, s, d);
    least = min(least, __shfl_xor_sync(ALL, least, d));
    most = max(most, __shfl_xor_sync(ALL, most, d));
    x ^= __shfl_xor_sync(ALL, x, d);
  }
  if (threadIdx.x % 32 == 0) {
    atomicAdd((unsigned long long *)&total, (unsigned long long)s);
    atomicMin(&low, least);
    atomicMax(&high, most);
    atomicXor(&bits, x);
  }
}

// Integers in the order of the numbers.
__device__ int key(float f) {
  int b = __float_as_int(f);
  return b < 0 ? b ^ 0x7fffffff : b;
}

__global__ void box(long n, const float4 *p) {
  float v[6] = {1e30f, -1e30f, 1e30f, -1e30f, 1e30f, -1e30f};
  for (long i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    float4 q = p[i];
    float of[3] = {q.x, q.y, q.z};
    for (int d = 0; d < 3; d++) {
      v[2 * d] = fminf(v[2 * d], of[d]);
      v[2 * d + 1] = fmaxf(v[2 * d + 1], of[d]);
    }
  }
  for (int o = 16; o; o /= 2)
    for (int d = 0; d < 6; d++) {
      float w = __shfl_xor_sync(ALL, v[d], o);
      v[d] = d % 2 ? fmaxf(v[d], w) : fminf(v[d], w);
    }
  if (threadIdx.x % 32 == 0)
    for (int d = 0; d < 6; d++)
      d % 2 ? atomicMax(edges + d, key(v[d])) : atomicMin(edges + d, key(v[d]));
}

__global__ void moments(long n, const float4 *a, const float4 *b) {
  float v[4] = {};
  for (long i = blockIdx.x * blockDim.x + threadIdx.x; i < n / 4; i += gridDim.x * blockDim.x) {
    float4 x = a[i], y = b[i];
    v[0] += x.x + x.y + x.z + x.w;
    v[1] += x.x * x.x + x.y * x.y + x.z * x.z + x.w * x.w;
    v[2] += y.x + y.y + y.z + y.w;
    v[3] += x.x * y.x + x.y * y.y + x.z * y.z + x.w * y.w;
  }
  for (int o = 16; o; o /= 2)
    for (float &s : v)
      s += __shfl_xor_sync(ALL, s, o);
  if (threadIdx.x % 32 == 0)
    for (int d = 0; d < 4; d++)
      atomicAdd(sums + d, v[d]);
}

template <class F> void time(const char *name, F run) {
  std::vector<float> times;
  cudaEvent_t start, stop;
  cudaEventCreate(&start);
  cudaEventCreate(&stop);
  for (int r = 0; r < 8; r++) {
    cudaEventRecord(start);
    run();
    cudaEventRecord(stop);
    cudaEventSynchronize(stop);
    float ms = 0;
    cudaEventElapsedTime(&ms, start, stop);
    if (r > 0)
      times.push_back(ms);
  }
  std::sort(times.begin(), times.end());
  printf("%s %.4f ms, %s\n", name, times[3], cudaGetErrorString(cudaGetLastError()));
}

__global__ void fill(long n, unsigned *a) {
  for (long i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    a[i] = 0x3f000000u | (unsigned)(i * 2654435761u) >> 9;
}

int main() {
  long n = 2l * 8192 * 8192;
  unsigned *a, *b;
  cudaMalloc(&a, 4 * n);
  cudaMalloc(&b, 4 * n);
  fill<<<1056, 256>>>(n, a);
  fill<<<1056, 256>>>(n, b);
  time("statistics", [&] { statistics<<<1056, 256>>>(n, (int4 *)a); });
  time("box", [&] { box<<<1056, 256>>>(n / 4, (float4 *)a); });
  time("moments", [&] { moments<<<1056, 256>>>(n, (float4 *)a, (float4 *)b); });
}
