// Peers of bench/sparse/tables.c; histograms and selections by CUB.
#include "sparse.cuh"
#include <cub/cub.cuh>

// Of four keys a word, in shared memory.
__global__ void byte_histogram(long words, const uchar4 *__restrict__ data, int *count) {
  __shared__ int part[256];
  part[threadIdx.x] = 0;
  __syncthreads();
  EACH(i, words) {
    uchar4 v = data[i];
    atomicAdd(&part[v.x], 1), atomicAdd(&part[v.y], 1), atomicAdd(&part[v.z], 1), atomicAdd(&part[v.w], 1);
  }
  __syncthreads();
  atomicAdd(&count[threadIdx.x], part[threadIdx.x]);
}

template <typename T> void histogram_library(const T *data, int *count, int bins, long n) {
  size_t size = 0;
  cub::DeviceHistogram::HistogramEven(nullptr, size, data, count, bins + 1, T(0), T(bins), (int)n);
  Array<char> buffer(size + 1);
  library([&] { cub::DeviceHistogram::HistogramEven(buffer.data, size, data, count, bins + 1, T(0), T(bins), (int)n); });
}

PEER peer_byte_histogram(long n, const unsigned char *data, int *count) {
  Array<unsigned char> dd(data, n);
  Array<int> dc(count, 256);
  measure([&] { byte_histogram<<<132 * 8, 256>>>(n / 4, (const uchar4 *)dd.data, dc); }, [&] { dc.back(count); });
  size_t size = 0;
  cub::DeviceHistogram::HistogramEven(nullptr, size, dd.data, dc.data, 257, 0, 256, (int)n);
  Array<char> buffer(size + 1);
  library([&] { cub::DeviceHistogram::HistogramEven(buffer.data, size, dd.data, dc.data, 257, 0, 256, (int)n); });
  least_bytes = n;
}

__global__ void large_histogram(long n, const int *__restrict__ key, int *count) {
  EACH(i, n) atomicAdd(&count[key[i]], 1);
}

PEER peer_large_histogram(long n, const int *key, int *count) {
  int bins = *std::max_element(key, key + n) + 1;
  Array<int> dk(key, n), dc(count, bins);
  measure([&] { large_histogram<<<blocks(n, 256), 256>>>(n, dk, dc); }, [&] { dc.back(count); });
  histogram_library<int>(dk.data, dc.data, bins, n);
  least_bytes = 4.0 * n + 8.0 * bins;
}

__global__ void weighted_histogram(long n, const int *__restrict__ bin, const float *__restrict__ weight, float *sum) {
  __shared__ float part[1024];
  for (int k = threadIdx.x; k < 1024; k += blockDim.x)
    part[k] = 0;
  __syncthreads();
  EACH(i, n) atomicAdd(&part[bin[i]], weight[i]);
  __syncthreads();
  for (int k = threadIdx.x; k < 1024; k += blockDim.x)
    atomicAdd(&sum[k], part[k]);
}

PEER peer_weighted_histogram(long n, const int *bin, const float *weight, float *sum) {
  Array<int> db(bin, n);
  Array<float> dw(weight, n), ds(sum, 1024);
  measure([&] { weighted_histogram<<<132 * 4, 512>>>(n, db, dw, ds); }, [&] { ds.back(sum); });
  least_bytes = 8.0 * n;
}

__global__ void joint_histogram(long n, const unsigned char *__restrict__ a, const unsigned char *__restrict__ b, int *count) {
  EACH(i, n) atomicAdd(&count[a[i] * 256 + b[i]], 1);
}

PEER peer_joint_histogram(long n, const unsigned char *a, const unsigned char *b, int *count) {
  Array<unsigned char> da(a, n), db(b, n);
  Array<int> dc(count, 65536);
  measure([&] { joint_histogram<<<blocks(n, 1024), 256>>>(n, da, db, dc); }, [&] { dc.back(count); });
  least_bytes = 2.0 * n;
}

__global__ void value_histogram(long n, const float *__restrict__ x, float low, float width, int bins, int *count) {
  extern __shared__ int part[];
  for (int k = threadIdx.x; k < bins; k += blockDim.x)
    part[k] = 0;
  __syncthreads();
  EACH(i, n) {
    int b = (int)((x[i] - low) / width);
    if (b >= 0 && b < bins)
      atomicAdd(&part[b], 1);
  }
  __syncthreads();
  for (int k = threadIdx.x; k < bins; k += blockDim.x)
    atomicAdd(&count[k], part[k]);
}

PEER peer_value_histogram(long n, const float *x, float low, float width, int bins, int *count) {
  Array<float> dx(x, n);
  Array<int> dc(count, bins);
  measure([&] { value_histogram<<<132 * 4, 512, bins * sizeof(int)>>>(n, dx, low, width, bins, dc); }, [&] { dc.back(count); });
  size_t size = 0;
  cub::DeviceHistogram::HistogramEven(nullptr, size, dx.data, dc.data, bins + 1, low, low + bins * width, (int)n);
  Array<char> buffer(size + 1);
  library([&] { cub::DeviceHistogram::HistogramEven(buffer.data, size, dx.data, dc.data, bins + 1, low, low + bins * width, (int)n); });
  least_bytes = 4.0 * n;
}

__global__ void lookup(long words, const unsigned char *__restrict__ table, const uchar4 *__restrict__ in, uchar4 *__restrict__ out) {
  __shared__ unsigned char t[256];
  t[threadIdx.x] = table[threadIdx.x];
  __syncthreads();
  EACH(i, words) {
    uchar4 v = in[i];
    out[i] = make_uchar4(t[v.x], t[v.y], t[v.z], t[v.w]);
  }
}

PEER peer_lookup(long n, const unsigned char *table, const unsigned char *in, unsigned char *out) {
  Array<unsigned char> dt(table, 256), di(in, n), dout(out, n);
  measure([&] { lookup<<<132 * 8, 256>>>(n / 4, dt, (const uchar4 *)di.data, (uchar4 *)dout.data); }, [&] { dout.back(out); });
  least_bytes = 2.0 * n;
}

__global__ void interpolate(long n, int size, const float *__restrict__ table, const float *__restrict__ x, float *__restrict__ y) {
  EACH(i, n) {
    float p = x[i] * (size - 1);
    int k = min((int)p, size - 2);
    float t = p - k;
    y[i] = table[k] * (1 - t) + table[k + 1] * t;
  }
}

PEER peer_interpolate(long n, int size, const float *table, const float *x, float *y) {
  Array<float> dt(table, size), dx(x, n), dy(n);
  measure([&] { interpolate<<<blocks(n, 256), 256>>>(n, size, dt, dx, dy); }, [&] { dy.back(y); });
  least_bytes = 8.0 * n;
}

__global__ void warp(int h, int w, const float *__restrict__ mapx, const float *__restrict__ mapy, const unsigned char *__restrict__ in, unsigned char *__restrict__ out) {
  long at = blockIdx.x * (long)blockDim.x + threadIdx.x;
  if (at >= (long)h * w)
    return;
  float u = mapx[at], v = mapy[at];
  int i = (int)u, j = (int)v;
  unsigned char result = 0;
  if (u >= 0 && v >= 0 && i < w - 1 && j < h - 1) {
    float a = u - i, b = v - j;
    const unsigned char *p = in + (long)j * w + i;
    result = (unsigned char)((1 - b) * ((1 - a) * p[0] + a * p[1]) + b * ((1 - a) * p[w] + a * p[w + 1]) + 0.5f);
  }
  out[at] = result;
}

PEER peer_warp(int h, int w, const float *mapx, const float *mapy, const unsigned char *in, unsigned char *out) {
  long n = (long)h * w;
  Array<float> dx(mapx, n), dy(mapy, n);
  Array<unsigned char> di(in, n), dout(n);
  measure([&] { warp<<<blocks(n, 256), 256>>>(h, w, dx, dy, di, dout); }, [&] { dout.back(out); });
  least_bytes = 10.0 * n;
}

__global__ void embedding(long all, int width, const int *__restrict__ token, const float4 *__restrict__ table, float4 *__restrict__ out) {
  EACH(k, all) out[k] = table[(long)token[k / width] * width + k % width];
}

PEER peer_embedding(int tokens, int width, const int *token, const float *table, float *out) {
  int words = *std::max_element(token, token + tokens) + 1;
  Array<int> dt(token, tokens);
  Array<float> dw(table, (long)words * width), dout((long)tokens * width);
  measure([&] { embedding<<<blocks((long)tokens * width / 4, 256), 256>>>((long)tokens * width / 4, width / 4, dt, (const float4 *)dw.data, (float4 *)dout.data); },
          [&] { dout.back(out); });
  least_bytes = 4.0 * tokens * (width + 1) + 4.0 * words * width;
}

__global__ void embedding_bag(int bags, const int *__restrict__ start, const int *__restrict__ index, const float2 *__restrict__ table, float2 *__restrict__ out) {
  int b = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (b >= bags)
    return;
  float2 sum = make_float2(0, 0);
#pragma unroll 4
  for (int k = start[b]; k < start[b + 1]; k++) {
    float2 v = table[32l * index[k] + lane];
    sum.x += v.x, sum.y += v.y;
  }
  out[32l * b + lane] = sum;
}

PEER peer_embedding_bag(int bags, const int *start, const int *index, const float *table, float *out) {
  int entries = start[bags], words = *std::max_element(index, index + entries) + 1;
  Array<int> ds(start, bags + 1), di(index, entries);
  Array<float> dw(table, 64l * words), dout(64l * bags);
  measure([&] { embedding_bag<<<blocks(bags, 8), 256>>>(bags, ds, di, (const float2 *)dw.data, (float2 *)dout.data); }, [&] { dout.back(out); });
  least_bytes = 4.0 * entries + 256.0 * (bags + words);
}

__global__ void embedding_gradient(long all, const int *__restrict__ token, const float *__restrict__ gradient, float *table) {
  EACH(k, all) atomicAdd(&table[64l * token[k / 64] + k % 64], gradient[k]);
}

PEER peer_embedding_gradient(int tokens, const int *token, const float *gradient, float *table) {
  int words = *std::max_element(token, token + tokens) + 1;
  Array<int> dt(token, tokens);
  Array<float> dg(gradient, 64l * tokens), dw(table, 64l * words);
  measure([&] { embedding_gradient<<<blocks(64l * tokens, 256), 256>>>(64l * tokens, dt, dg, dw); }, [&] { dw.back(table); });
  least_bytes = 260.0 * tokens + 512.0 * words;
}

__global__ void permute(long n, const int *__restrict__ from, const double *__restrict__ in, double *__restrict__ out) {
  EACH(i, n) out[i] = in[from[i]];
}

PEER peer_permute(long n, const int *from, const double *in, double *out) {
  Array<int> df(from, n);
  Array<double> di(in, n), dout(n);
  measure([&] { permute<<<blocks(n, 256), 256>>>(n, df, di, dout); }, [&] { dout.back(out); });
  least_bytes = 20.0 * n;
}

__global__ void scatter(long n, const int *__restrict__ to, const double *__restrict__ in, double *__restrict__ out) {
  EACH(i, n) out[to[i]] = in[i];
}

PEER peer_scatter(long n, const int *to, const double *in, double *out) {
  Array<int> dt(to, n);
  Array<double> di(in, n), dout(out, n);
  measure([&] { scatter<<<blocks(n, 256), 256>>>(n, dt, di, dout); }, [&] { dout.back(out); });
  least_bytes = 20.0 * n;
}

// A stable sort by keys of as many bits as there are.
PEER peer_group(long n, int keys, const int *key, const float *value, int *place, float *out) {
  Array<int> dk(key, n), sorted(n);
  Array<float> dv(value, n), dout(n);
  int bits = 1;
  while (keys - 1 >> bits)
    bits++;
  size_t size = 0;
  cub::DeviceRadixSort::SortPairs(nullptr, size, dk.data, sorted.data, dv.data, dout.data, (int)n, 0, bits);
  Array<char> buffer(size + 1);
  auto sort = [&] { cub::DeviceRadixSort::SortPairs(buffer.data, size, dk.data, sorted.data, dv.data, dout.data, (int)n, 0, bits); };
  measure(sort, [&] { dout.back(out); });
  library(sort);
  least_bytes = 12.0 * n;
}

struct Above {
  float limit;
  __device__ bool operator()(float v) const { return v > limit; }
};

PEER peer_compact(long n, const float *x, float limit, int *count, float *out) {
  Array<float> dx(x, n), dout(n);
  Array<int> dc(1);
  size_t size = 0;
  cub::DeviceSelect::If(nullptr, size, dx.data, dout.data, dc.data, (int)n, Above{limit});
  Array<char> buffer(size + 1);
  auto select = [&] { cub::DeviceSelect::If(buffer.data, size, dx.data, dout.data, dc.data, (int)n, Above{limit}); };
  std::vector<float> all(n);
  measure(select, [&] {
    dc.back(count);
    dout.back(all.data());
    std::copy(all.begin(), all.begin() + *count, out);
  });
  library(select);
  least_bytes = 6.0 * n;
}

__global__ void group_least(long n, const int *__restrict__ key, const int *__restrict__ value, int *least) {
  EACH(i, n)
  if (value[i] < least[key[i]])
    atomicMin(&least[key[i]], value[i]);
}

PEER peer_group_least(long n, const int *key, const int *value, int *least) {
  int keys = *std::max_element(key, key + n) + 1;
  Array<int> dk(key, n), dv(value, n), dl(least, keys);
  measure([&] { group_least<<<blocks(n, 256), 256>>>(n, dk, dv, dl); }, [&] { dl.back(least); });
  least_bytes = 8.0 * n;
}

__global__ void bucket(long n, int borders, const float *__restrict__ border, const float *__restrict__ x, int *__restrict__ out) {
  EACH(i, n) {
    int low = 0, high = borders;
    while (low < high) {
      int middle = (low + high) / 2;
      if (border[middle] <= x[i])
        low = middle + 1;
      else
        high = middle;
    }
    out[i] = low;
  }
}

PEER peer_bucket(long n, int borders, const float *border, const float *x, int *out) {
  Array<float> db(border, borders), dx(x, n);
  Array<int> dout(n);
  measure([&] { bucket<<<blocks(n, 256), 256>>>(n, borders, db, dx, dout); }, [&] { dout.back(out); });
  least_bytes = 8.0 * n;
}
