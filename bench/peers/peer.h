// What the peers of bench/everyday2 share: device copies of the program's arrays, and measurements by events.
#pragma once
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

#define CHECK(call)                                                                                                                        \
  do {                                                                                                                                     \
    cudaError_t code_ = (call);                                                                                                            \
    if (code_ != cudaSuccess) {                                                                                                            \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(code_));                                                       \
      exit(4);                                                                                                                             \
    }                                                                                                                                      \
  } while (0)

#define PEER extern "C" void

// Of the last peer that ran: the median of kernel times by events; that, and the copies to and from the device.
extern "C" double peer_kernel_ms, peer_call_ms;

inline double now_ms() { return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

inline double &copies_ms() {
  static double ms = 0;
  return ms;
}

// An array of the device, filled from `host` if that is given; it goes with the scope.
template <typename T> struct Array {
  T *data = nullptr;
  size_t count;
  Array(const void *host, size_t count) : count(count) {
    CHECK(cudaMalloc(&data, count * sizeof(T)));
    if (!host)
      return;
    double begin = now_ms();
    CHECK(cudaMemcpy(data, host, count * sizeof(T), cudaMemcpyHostToDevice));
    copies_ms() += now_ms() - begin;
  }
  explicit Array(size_t count) : Array(nullptr, count) {}
  Array(const Array &) = delete;
  ~Array() { cudaFree(data); }
  operator T *() const { return data; }
  void back(void *host) const {
    double begin = now_ms();
    CHECK(cudaMemcpy(host, data, count * sizeof(T), cudaMemcpyDeviceToHost));
    copies_ms() += now_ms() - begin;
  }
};

// Launches once, for the result, which `back` brings to the program, then seven times more, for the time.
template <typename Launch, typename Back> void measure(Launch launch, Back back) {
  launch();
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  back();
  std::vector<float> times;
  cudaEvent_t begin, end;
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  for (int k = 0; k < 7; k++) {
    CHECK(cudaEventRecord(begin));
    launch();
    CHECK(cudaEventRecord(end));
    CHECK(cudaEventSynchronize(end));
    float ms;
    CHECK(cudaEventElapsedTime(&ms, begin, end));
    times.push_back(ms);
  }
  CHECK(cudaGetLastError());
  CHECK(cudaEventDestroy(begin));
  CHECK(cudaEventDestroy(end));
  std::sort(times.begin(), times.end());
  peer_kernel_ms = times[3];
  peer_call_ms = times[3] + copies_ms();
  copies_ms() = 0;
}

inline unsigned blocks(long n, int each) { return (unsigned)((n + each - 1) / each); }

// Sums and maxima of a warp and of a block; every thread gets the result.
__device__ inline float warp_sum(float v) {
  for (int d = 16; d; d /= 2)
    v += __shfl_xor_sync(~0u, v, d);
  return v;
}

__device__ inline double warp_sum(double v) {
  for (int d = 16; d; d /= 2)
    v += __shfl_xor_sync(~0u, v, d);
  return v;
}

__device__ inline float warp_max(float v) {
  for (int d = 16; d; d /= 2)
    v = fmaxf(v, __shfl_xor_sync(~0u, v, d));
  return v;
}

__device__ inline float block_sum(float v) {
  __shared__ float part[32];
  v = warp_sum(v);
  __syncthreads();
  if (threadIdx.x % 32 == 0)
    part[threadIdx.x / 32] = v;
  __syncthreads();
  v = threadIdx.x % 32 < blockDim.x / 32 ? part[threadIdx.x % 32] : 0;
  return warp_sum(v);
}

__device__ inline float block_max(float v) {
  __shared__ float part[32];
  v = warp_max(v);
  __syncthreads();
  if (threadIdx.x % 32 == 0)
    part[threadIdx.x / 32] = v;
  __syncthreads();
  v = threadIdx.x % 32 < blockDim.x / 32 ? part[threadIdx.x % 32] : -INFINITY;
  return warp_max(v);
}

// A loop over `n` elements by all threads of the grid.
#define EACH(i, n) for (long i = blockIdx.x * (long)blockDim.x + threadIdx.x; i < (n); i += gridDim.x * (long)blockDim.x)
