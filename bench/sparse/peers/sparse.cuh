// What the peers of bench/sparse share: times of library functions, bytes, and the device's rate of a copy.
#pragma once
#include "peer.h"

double peer_kernel_ms, peer_call_ms;

// Of the last peer: the library's milliseconds, and the bytes that the loop has to move at least; 0 for unknown.
static double library_ms, least_bytes;

// Times a library's call. Its peer was measured before.
template <typename Launch> void library(Launch launch) {
  double kernel = peer_kernel_ms, call = peer_call_ms;
  measure(launch, [] {});
  library_ms = library_ms > 0 ? std::min(library_ms, peer_kernel_ms) : peer_kernel_ms;
  peer_kernel_ms = kernel, peer_call_ms = call;
}

// GB read and written per second by a copy of 1 GiB.
static double copy_rate() {
  static double rate = 0;
  if (rate == 0) {
    size_t n = size_t(1) << 30;
    Array<char> a(n), b(n);
    double kernel = peer_kernel_ms, call = peer_call_ms;
    measure([&] { cudaMemcpyAsync(a, b, n, cudaMemcpyDeviceToDevice); }, [] {});
    rate = 2.0 * n / peer_kernel_ms / 1e6;
    peer_kernel_ms = kernel, peer_call_ms = call;
  }
  return rate;
}

extern "C" const char *peer_more() {
  static char text[200];
  int at = snprintf(text, sizeof text, ", \"copy rate\": %.1f", copy_rate());
  if (library_ms > 0)
    at += snprintf(text + at, sizeof text - at, ", \"library ms\": %.5f", library_ms);
  if (least_bytes > 0)
    snprintf(text + at, sizeof text - at, ", \"bytes\": %.0f", least_bytes);
  library_ms = least_bytes = 0;
  return text;
}

// The sum over a group of lanes, for its first lane.
template <int LANES, typename T> __device__ T group_sum(T v) {
  for (int d = LANES / 2; d; d /= 2)
    v += __shfl_down_sync(~0u, v, d, LANES);
  return v;
}
