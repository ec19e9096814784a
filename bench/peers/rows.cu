// Peers of bench/everyday2/rows.c: a row is a block's, its values stay in registers between the passes.
#include "peer.h"

double peer_kernel_ms, peer_call_ms;

constexpr int THREADS = 256;
// Values of a row that a thread has; rows of up to THREADS * MOST.
constexpr int MOST = 4;

#define ROW_LOOP(k, j, m)                                                                                                                  \
  _Pragma("unroll") for (int k = 0; k < MOST; k++) if (int j = threadIdx.x + k * THREADS; j < (m))

__global__ void softmax(int m, const float *__restrict__ x, float *__restrict__ y) {
  const float *row = x + (long)blockIdx.x * m;
  float v[MOST], largest = -INFINITY, sum = 0;
  ROW_LOOP(k, j, m) largest = fmaxf(largest, v[k] = row[j]);
  largest = block_max(largest);
  ROW_LOOP(k, j, m) sum += v[k] = expf(v[k] - largest);
  sum = block_sum(sum);
  ROW_LOOP(k, j, m) y[(long)blockIdx.x * m + j] = v[k] / sum;
}

PEER peer_softmax(int n, int m, const float *x, float *y) {
  Array<float> dx(x, (long)n * m), dy((long)n * m);
  measure([&] { softmax<<<n, THREADS>>>(m, dx, dy); }, [&] { dy.back(y); });
}

__global__ void layer_norm(int m, const float *__restrict__ x, const float *__restrict__ gain, const float *__restrict__ bias, float *__restrict__ y) {
  const float *row = x + (long)blockIdx.x * m;
  float v[MOST], mean = 0, variance = 0;
  ROW_LOOP(k, j, m) mean += v[k] = row[j];
  mean = block_sum(mean) / m;
  ROW_LOOP(k, j, m) variance += (v[k] - mean) * (v[k] - mean);
  float scale = rsqrtf(block_sum(variance) / m + 1e-5f);
  ROW_LOOP(k, j, m) y[(long)blockIdx.x * m + j] = (v[k] - mean) * scale * gain[j] + bias[j];
}

PEER peer_layer_norm(int n, int m, const float *x, const float *gain, const float *bias, float *y) {
  Array<float> dx(x, (long)n * m), dg(gain, m), db(bias, m), dy((long)n * m);
  measure([&] { layer_norm<<<n, THREADS>>>(m, dx, dg, db, dy); }, [&] { dy.back(y); });
}

__global__ void rms_norm(int m, const float *__restrict__ x, const float *__restrict__ gain, float *__restrict__ y) {
  const float *row = x + (long)blockIdx.x * m;
  float v[MOST], squares = 0;
  ROW_LOOP(k, j, m) v[k] = row[j], squares += v[k] * v[k];
  float scale = rsqrtf(block_sum(squares) / m + 1e-6f);
  ROW_LOOP(k, j, m) y[(long)blockIdx.x * m + j] = v[k] * scale * gain[j];
}

PEER peer_rms_norm(int n, int m, const float *x, const float *gain, float *y) {
  Array<float> dx(x, (long)n * m), dg(gain, m), dy((long)n * m);
  measure([&] { rms_norm<<<n, THREADS>>>(m, dx, dg, dy); }, [&] { dy.back(y); });
}

__global__ void row_norms(int m, const float *__restrict__ x, float *__restrict__ y) {
  const float *row = x + (long)blockIdx.x * m;
  float v[MOST], squares = 0;
  ROW_LOOP(k, j, m) v[k] = row[j], squares += v[k] * v[k];
  float scale = 1 / sqrtf(block_sum(squares));
  ROW_LOOP(k, j, m) y[(long)blockIdx.x * m + j] = v[k] * scale;
}

PEER peer_row_norms(int n, int m, const float *x, float *y) {
  Array<float> dx(x, (long)n * m), dy((long)n * m);
  measure([&] { row_norms<<<n, THREADS>>>(m, dx, dy); }, [&] { dy.back(y); });
}

// Sums of a channel's planes by a block for each of `parts`, then the application.
__global__ void channel_sums(int images, int channels, int pixels, const float *__restrict__ x, float *sums) {
  int c = blockIdx.x;
  float sum = 0, squares = 0;
  for (int i = blockIdx.y; i < images; i += gridDim.y)
    for (int p = threadIdx.x; p < pixels; p += blockDim.x) {
      float v = x[((long)i * channels + c) * pixels + p];
      sum += v, squares += v * v;
    }
  sum = block_sum(sum), squares = block_sum(squares);
  if (threadIdx.x == 0)
    atomicAdd(sums + 2 * c, sum), atomicAdd(sums + 2 * c + 1, squares);
}

__global__ void channel_apply(int channels, int pixels, long count, const float *__restrict__ x, const float *__restrict__ sums,
                              const float *__restrict__ gain, const float *__restrict__ bias, float *__restrict__ y) {
  int c = blockIdx.x % channels;
  float mean = sums[2 * c] / count, variance = sums[2 * c + 1] / count - mean * mean, scale = gain[c] * rsqrtf(variance + 1e-5f), shift = bias[c];
  for (int p = threadIdx.x; p < pixels; p += blockDim.x)
    y[(long)blockIdx.x * pixels + p] = (x[(long)blockIdx.x * pixels + p] - mean) * scale + shift;
}

PEER peer_batch_norm(int images, int channels, int pixels, const float *x, const float *gain, const float *bias, float *y) {
  long all = (long)images * channels * pixels;
  Array<float> dx(x, all), dg(gain, channels), db(bias, channels), dy(all), sums(2 * channels);
  measure(
      [&] {
        cudaMemsetAsync(sums, 0, 2 * channels * sizeof(float));
        channel_sums<<<dim3(channels, std::min(images, 16)), 256>>>(images, channels, pixels, dx, sums);
        channel_apply<<<images * channels, 256>>>(channels, pixels, (long)images * pixels, dx, sums, dg, db, dy);
      },
      [&] { dy.back(y); });
}

__global__ void gelu(long n, int m, const float *__restrict__ x, const float *__restrict__ bias, float *__restrict__ y) {
  long i = blockIdx.x;
  for (int j = threadIdx.x; j < m; j += blockDim.x) {
    float v = x[i * m + j] + bias[j];
    y[i * m + j] = 0.5f * v * (1 + erff(v * 0.70710678f));
  }
}

PEER peer_gelu(int n, int m, const float *x, const float *bias, float *y) {
  Array<float> dx(x, (long)n * m), db(bias, m), dy((long)n * m);
  measure([&] { gelu<<<n, 256>>>(n, m, dx, db, dy); }, [&] { dy.back(y); });
}

// Four elements a thread; the rest by the first threads.
__global__ void gate(long n, const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ y) {
  EACH(i, n / 4) {
    float4 u = ((const float4 *)a)[i], v = ((const float4 *)b)[i];
    ((float4 *)y)[i] = make_float4(u.x / (1 + expf(-u.x)) * v.x, u.y / (1 + expf(-u.y)) * v.y, u.z / (1 + expf(-u.z)) * v.z, u.w / (1 + expf(-u.w)) * v.w);
  }
  EACH(i, n % 4) {
    long j = n / 4 * 4 + i;
    y[j] = a[j] / (1 + expf(-a[j])) * b[j];
  }
}

PEER peer_gate(long n, const float *a, const float *b, float *y) {
  Array<float> da(a, n), db(b, n), dy(n);
  measure([&] { gate<<<blocks(n, 1024), 256>>>(n, da, db, dy); }, [&] { dy.back(y); });
}

__device__ inline float gelu_of(float v) { return 0.5f * v * (1 + tanhf(0.7978846f * (v + 0.044715f * v * v * v))); }

__global__ void gelu_tanh(long n, const float *__restrict__ x, float *__restrict__ y) {
  EACH(i, n / 4) {
    float4 v = ((const float4 *)x)[i];
    ((float4 *)y)[i] = make_float4(gelu_of(v.x), gelu_of(v.y), gelu_of(v.z), gelu_of(v.w));
  }
  EACH(i, n % 4) y[n / 4 * 4 + i] = gelu_of(x[n / 4 * 4 + i]);
}

PEER peer_gelu_tanh(long n, const float *x, float *y) {
  Array<float> dx(x, n), dy(n);
  measure([&] { gelu_tanh<<<blocks(n, 1024), 256>>>(n, dx, dy); }, [&] { dy.back(y); });
}

// One query: each block takes a part of the tokens, with a maximum, a sum and a weighted sum of its own (one pass over K and V), which a second kernel joins.
constexpr int PART = 128, WIDEST = 256;

__global__ void attention_parts(int tokens, int d, const float *__restrict__ q, const float *__restrict__ K, const float *__restrict__ V, float *largest,
                                float *sums, float *outs) {
  __shared__ float p[PART], query[WIDEST];
  int first = blockIdx.x * PART, count = min(PART, tokens - first), warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  for (int k = threadIdx.x; k < d; k += blockDim.x)
    query[k] = q[k];
  __syncthreads();
  for (int t = warp; t < count; t += blockDim.x / 32) {
    float dot = 0;
    for (int k = lane; k < d; k += 32)
      dot += query[k] * K[(long)(first + t) * d + k];
    dot = warp_sum(dot);
    if (lane == 0)
      p[t] = dot;
  }
  __syncthreads();
  float most = block_max(threadIdx.x < count ? p[threadIdx.x] : -INFINITY);
  float e = threadIdx.x < count ? expf(p[threadIdx.x] - most) : 0;
  float sum = block_sum(e);
  if (threadIdx.x < count)
    p[threadIdx.x] = e;
  __syncthreads();
  for (int k = threadIdx.x; k < d; k += blockDim.x) {
    float out = 0;
#pragma unroll 8
    for (int t = 0; t < count; t++)
      out += p[t] * V[(long)(first + t) * d + k];
    outs[(long)blockIdx.x * d + k] = out;
  }
  if (threadIdx.x == 0)
    largest[blockIdx.x] = most, sums[blockIdx.x] = sum;
}

__global__ void attention_join(int parts, int d, const float *__restrict__ largest, const float *__restrict__ sums, const float *__restrict__ outs, float *out) {
  int k = blockIdx.x;
  float most = -INFINITY;
  for (int i = threadIdx.x; i < parts; i += blockDim.x)
    most = fmaxf(most, largest[i]);
  most = block_max(most);
  float sum = 0, value = 0;
  for (int i = threadIdx.x; i < parts; i += blockDim.x) {
    float w = expf(largest[i] - most);
    sum += w * sums[i];
    value += w * outs[(long)i * d + k];
  }
  sum = block_sum(sum), value = block_sum(value);
  if (threadIdx.x == 0)
    out[k] = value / sum;
}

PEER peer_attention_one(int tokens, int d, const float *q, const float *K, const float *V, float *, float *out) {
  int parts = blocks(tokens, PART);
  Array<float> dq(q, d), dk(K, (long)tokens * d), dv(V, (long)tokens * d), largest(parts), sums(parts), outs((long)parts * d), dout(d);
  measure(
      [&] {
        attention_parts<<<parts, 256>>>(tokens, d, dq, dk, dv, largest, sums, outs);
        attention_join<<<d, 256>>>(parts, d, largest, sums, outs, dout);
      },
      [&] { dout.back(out); });
}

// Small full attention: a block has 64 queries of a head, a thread one query's accumulator for 16 of 64 dimensions; keys and values pass through shared memory 32 at a time.
constexpr int DIM = 64, QUERIES = 64, KEYS = 32;

__global__ void attention_block(int tokens, int d, const float *__restrict__ Q, const float *__restrict__ K, const float *__restrict__ V, float *__restrict__ O) {
  __shared__ float keys[KEYS][DIM], values[KEYS][DIM];
  int query = blockIdx.x * QUERIES + threadIdx.x / 4, part = threadIdx.x % 4;
  long head = (long)blockIdx.y * tokens * d;
  float q[16], o[16] = {0}, most = -INFINITY, sum = 0;
#pragma unroll
  for (int k = 0; k < 16; k++)
    q[k] = query < tokens && part + 4 * k < d ? Q[head + (long)query * d + part + 4 * k] : 0;
  for (int first = 0; first < tokens; first += KEYS) {
    __syncthreads();
    for (int e = threadIdx.x; e < KEYS * DIM; e += blockDim.x) {
      int t = e / DIM, k = e % DIM;
      bool in = first + t < tokens && k < d;
      keys[t][k] = in ? K[head + (long)(first + t) * d + k] : 0;
      values[t][k] = in ? V[head + (long)(first + t) * d + k] : 0;
    }
    __syncthreads();
    int count = min(KEYS, tokens - first);
    for (int t = 0; t < count; t++) {
      float s = 0;
#pragma unroll
      for (int k = 0; k < 16; k++)
        s += q[k] * keys[t][part + 4 * k];
      s += __shfl_xor_sync(~0u, s, 1);
      s += __shfl_xor_sync(~0u, s, 2);
      s *= 0.125f;
      if (s > most) {
        float scale = expf(most - s);
        sum *= scale;
#pragma unroll
        for (int k = 0; k < 16; k++)
          o[k] *= scale;
        most = s;
      }
      float e = expf(s - most);
      sum += e;
#pragma unroll
      for (int k = 0; k < 16; k++)
        o[k] += e * values[t][part + 4 * k];
    }
  }
#pragma unroll
  for (int k = 0; k < 16; k++)
    if (query < tokens && part + 4 * k < d)
      O[head + (long)query * d + part + 4 * k] = o[k] / sum;
}

PEER peer_attention(int heads, int tokens, int d, const float *Q, const float *K, const float *V, float *, float *O) {
  long all = (long)heads * tokens * d;
  Array<float> dq(Q, all), dk(K, all), dv(V, all), dout(all);
  measure([&] { attention_block<<<dim3(blocks(tokens, QUERIES), heads), 4 * QUERIES>>>(tokens, d, dq, dk, dv, dout); }, [&] { dout.back(O); });
}

// A block a row, four elements a thread and step where rows are aligned.
__global__ void row_sums(int m, const float *__restrict__ x, float *__restrict__ y) {
  const float *row = x + (long)blockIdx.x * m;
  float sum = 0;
  if (m % 4 == 0)
    for (int j = threadIdx.x; j < m / 4; j += blockDim.x) {
      float4 v = ((const float4 *)row)[j];
      sum += v.x + v.y + v.z + v.w;
    }
  else
    for (int j = threadIdx.x; j < m; j += blockDim.x)
      sum += row[j];
  sum = block_sum(sum);
  if (threadIdx.x == 0)
    y[blockIdx.x] = sum;
}

PEER peer_row_sums(int n, int m, const float *x, float *y) {
  Array<float> dx(x, (long)n * m), dy(n);
  measure([&] { row_sums<<<n, 256>>>(m, dx, dy); }, [&] { dy.back(y); });
}

// A warp a row.
__global__ void short_rows(int n, int m, const float *__restrict__ x, float *__restrict__ y) {
  long row = blockIdx.x * 8l + threadIdx.x / 32;
  int lane = threadIdx.x % 32;
  if (row >= n)
    return;
  float sum = 0;
  for (int j = lane; j < m; j += 32)
    sum += x[row * m + j];
  sum = warp_sum(sum);
  if (lane == 0)
    y[row] = sum;
}

PEER peer_short_rows(int n, int m, const float *x, float *y) {
  Array<float> dx(x, (long)n * m), dy(n);
  measure([&] { short_rows<<<blocks(n, 8), 256>>>(n, m, dx, dy); }, [&] { dy.back(y); });
}

// Lanes along columns, parts of the rows in parallel.
__global__ void column_parts(int n, int m, const float *__restrict__ x, float *y) {
  int j = blockIdx.x * blockDim.x + threadIdx.x;
  if (j >= m)
    return;
  float sum = 0;
  for (int i = blockIdx.y; i < n; i += gridDim.y)
    sum += x[(long)i * m + j];
  atomicAdd(y + j, sum / n);
}

PEER peer_column_means(int n, int m, const float *x, float *y) {
  Array<float> dx(x, (long)n * m), dy(m);
  measure(
      [&] {
        cudaMemsetAsync(dy, 0, m * sizeof(float));
        column_parts<<<dim3(blocks(m, 128), 64), 128>>>(n, m, dx, dy);
      },
      [&] { dy.back(y); });
}

__global__ void argmax_rows(int n, int m, const float *__restrict__ x, int *__restrict__ y) {
  long row = blockIdx.x * 8l + threadIdx.x / 32;
  int lane = threadIdx.x % 32;
  if (row >= n)
    return;
  float best = -INFINITY;
  int where = m;
  for (int j = lane; j < m; j += 32) {
    float v = x[row * m + j];
    if (v > best)
      best = v, where = j;
  }
  for (int d = 16; d; d /= 2) {
    float other = __shfl_xor_sync(~0u, best, d);
    int place = __shfl_xor_sync(~0u, where, d);
    if (other > best || (other == best && place < where))
      best = other, where = place;
  }
  if (lane == 0)
    y[row] = where;
}

PEER peer_argmax_rows(int n, int m, const float *x, int *y) {
  Array<float> dx(x, (long)n * m);
  Array<int> dy(n);
  measure([&] { argmax_rows<<<blocks(n, 8), 256>>>(n, m, dx, dy); }, [&] { dy.back(y); });
}

__global__ void above(int n, int m, const float *__restrict__ x, const float *__restrict__ threshold, int *__restrict__ y) {
  long row = blockIdx.x * 8l + threadIdx.x / 32;
  int lane = threadIdx.x % 32, count = 0;
  if (row >= n)
    return;
  float limit = threshold[row];
  for (int j = lane; j < m; j += 32)
    count += x[row * m + j] > limit;
  count = __reduce_add_sync(~0u, count);
  if (lane == 0)
    y[row] = count;
}

PEER peer_above(int n, int m, const float *x, const float *threshold, int *y) {
  Array<float> dx(x, (long)n * m), dt(threshold, n);
  Array<int> dy(n);
  measure([&] { above<<<blocks(n, 8), 256>>>(n, m, dx, dt, dy); }, [&] { dy.back(y); });
}

__global__ void cross_entropy(int m, const float *__restrict__ x, const int *__restrict__ label, float *__restrict__ loss) {
  const float *row = x + (long)blockIdx.x * m;
  float v[MOST], largest = -INFINITY, sum = 0;
  ROW_LOOP(k, j, m) largest = fmaxf(largest, v[k] = row[j]);
  largest = block_max(largest);
  ROW_LOOP(k, j, m) sum += expf(v[k] - largest);
  sum = block_sum(sum);
  if (threadIdx.x == 0)
    loss[blockIdx.x] = logf(sum) + largest - row[label[blockIdx.x]];
}

PEER peer_cross_entropy(int n, int m, const float *x, const int *label, float *loss) {
  Array<float> dx(x, (long)n * m), dy(n);
  Array<int> dl(label, n);
  measure([&] { cross_entropy<<<n, THREADS>>>(m, dx, dl, dy); }, [&] { dy.back(loss); });
}

// A block a row, a chunk of 256 at a time: prefix sums of warps, then of their totals.
__global__ void prefix_rows(int m, const float *__restrict__ x, float *__restrict__ y) {
  __shared__ float totals[8];
  long row = (long)blockIdx.x * m;
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  float before = 0;
  for (int first = 0; first < m; first += 256) {
    int j = first + threadIdx.x;
    float v = j < m ? x[row + j] : 0;
    for (int d = 1; d < 32; d *= 2) {
      float other = __shfl_up_sync(~0u, v, d);
      if (lane >= d)
        v += other;
    }
    __syncthreads();
    if (lane == 31)
      totals[warp] = v;
    __syncthreads();
    float all = 0;
    for (int w = 0; w < 8; w++) {
      if (w == warp)
        v += all;
      all += totals[w];
    }
    if (j < m)
      y[row + j] = before + v;
    before += all;
  }
}

PEER peer_prefix_rows(int n, int m, const float *x, float *y) {
  Array<float> dx(x, (long)n * m), dy((long)n * m);
  measure([&] { prefix_rows<<<n, 256>>>(m, dx, dy); }, [&] { dy.back(y); });
}

__global__ void cosines(int n, int m, const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ y) {
  long row = blockIdx.x * 8l + threadIdx.x / 32;
  int lane = threadIdx.x % 32;
  if (row >= n)
    return;
  float ab = 0, aa = 0, bb = 0;
  for (int j = lane; j < m; j += 32) {
    float u = a[row * m + j], v = b[row * m + j];
    ab += u * v, aa += u * u, bb += v * v;
  }
  ab = warp_sum(ab), aa = warp_sum(aa), bb = warp_sum(bb);
  if (lane == 0)
    y[row] = ab / sqrtf(aa * bb);
}

PEER peer_cosines(int n, int m, const float *a, const float *b, float *y) {
  Array<float> da(a, (long)n * m), db(b, (long)n * m), dy(n);
  measure([&] { cosines<<<blocks(n, 8), 256>>>(n, m, da, db, dy); }, [&] { dy.back(y); });
}

__global__ void column_minima(int n, long m, const int *__restrict__ x, int *__restrict__ y) {
  long j = blockIdx.x * (long)blockDim.x + threadIdx.x;
  if (j >= m)
    return;
  int least = x[j];
#pragma unroll 8
  for (int i = 1; i < n; i++)
    least = min(least, x[i * m + j]);
  y[j] = least;
}

PEER peer_column_minima(int n, long m, const int *x, int *y) {
  Array<int> dx(x, n * m), dy(m);
  measure([&] { column_minima<<<blocks(m, 256), 256>>>(n, m, dx, dy); }, [&] { dy.back(y); });
}
