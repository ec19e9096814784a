// Peers of bench/everyday2/images.c: windows in shared memory or registers, bytes four or sixteen at a time.
#include "peer.h"

double peer_kernel_ms, peer_call_ms;

typedef unsigned char byte;

// A row of 256 outputs and its halo in shared memory.
constexpr int WIDEST = 16, ROW = 256;

__global__ void along_rows(int n, int m, int r, const float *__restrict__ w, const float *__restrict__ x, float *__restrict__ t) {
  __shared__ float line[ROW + 2 * WIDEST], weight[2 * WIDEST + 1];
  int i = blockIdx.y, first = blockIdx.x * ROW;
  for (int k = threadIdx.x; k < 2 * r + 1; k += ROW)
    weight[k] = w[k];
  for (int k = threadIdx.x; k < ROW + 2 * r; k += ROW) {
    int j = first + k - r;
    line[k] = j >= 0 && j < m ? x[(long)i * m + j] : 0;
  }
  __syncthreads();
  int j = first + threadIdx.x;
  if (j < r || j >= m - r)
    return;
  float sum = 0;
  for (int k = 0; k < 2 * r + 1; k++)
    sum += weight[k] * line[threadIdx.x + k];
  t[(long)i * m + j] = sum;
}

// Columns of 32, 64 outputs high; each thread has eight rows.
constexpr int WIDE = 32, HIGH = 64;

__global__ void along_columns(int n, int m, int r, const float *__restrict__ w, const float *__restrict__ t, float *__restrict__ y) {
  __shared__ float tile[HIGH + 2 * WIDEST][WIDE], weight[2 * WIDEST + 1];
  int j = blockIdx.x * WIDE + threadIdx.x, top = blockIdx.y * HIGH;
  for (int k = threadIdx.y * WIDE + threadIdx.x; k < 2 * r + 1; k += WIDE * 8)
    weight[k] = w[k];
  for (int k = threadIdx.y; k < HIGH + 2 * r; k += 8) {
    int i = top + k - r;
    tile[k][threadIdx.x] = i >= 0 && i < n && j < m ? t[(long)i * m + j] : 0;
  }
  __syncthreads();
  if (j < r || j >= m - r)
    return;
  for (int k = threadIdx.y; k < HIGH; k += 8) {
    int i = top + k;
    if (i < r || i >= n - r)
      continue;
    float sum = 0;
    for (int p = 0; p < 2 * r + 1; p++)
      sum += weight[p] * tile[k + p][threadIdx.x];
    y[(long)i * m + j] = sum;
  }
}

PEER peer_separable(int n, int m, int r, const float *w, const float *x, float *t, float *y) {
  long nm = (long)n * m;
  Array<float> dx(x, nm), dt(nm), dy(y, nm), dw(w, 2 * r + 1);
  measure(
      [&] {
        along_rows<<<dim3(blocks(m, ROW), n), ROW>>>(n, m, r, dw, dx, dt);
        along_columns<<<dim3(blocks(m, WIDE), blocks(n, HIGH)), dim3(WIDE, 8)>>>(n, m, r, dw, dt, dy);
      },
      [&] { dy.back(y); });
}

__constant__ float GAUSS[7] = {0.03f, 0.11f, 0.22f, 0.28f, 0.22f, 0.11f, 0.03f};

// Both passes of a tile of 32 x 32 in shared memory.
__global__ void gauss(int n, int m, const float *__restrict__ x, float *__restrict__ t, float *__restrict__ y) {
  __shared__ float in[38][40], half[38][33];
  int left = blockIdx.x * 32, top = blockIdx.y * 32;
  for (int k = threadIdx.y * 32 + threadIdx.x; k < 38 * 38; k += 256) {
    int i = top + k / 38 - 3, j = left + k % 38 - 3;
    in[k / 38][k % 38] = i >= 0 && i < n && j >= 0 && j < m ? x[(long)i * m + j] : 0;
  }
  __syncthreads();
  for (int k = threadIdx.y; k < 38; k += 8) {
    float sum = 0;
#pragma unroll
    for (int q = 0; q < 7; q++)
      sum += GAUSS[q] * in[k][threadIdx.x + q];
    half[k][threadIdx.x] = sum;
    int i = top + k - 3, j = left + threadIdx.x;
    if (k >= 3 && k < 35 && i < n && j >= 3 && j < m - 3)
      t[(long)i * m + j] = sum;
  }
  __syncthreads();
  int j = left + threadIdx.x;
  for (int k = threadIdx.y; k < 32; k += 8) {
    int i = top + k;
    if (i < 3 || i >= n - 3 || j < 3 || j >= m - 3)
      continue;
    float sum = 0;
#pragma unroll
    for (int p = 0; p < 7; p++)
      sum += GAUSS[p] * half[k + p][threadIdx.x];
    y[(long)i * m + j] = sum;
  }
}

PEER peer_gauss(int n, int m, const float *x, float *t, float *y) {
  long nm = (long)n * m;
  Array<float> dx(x, nm), dt(t, nm), dy(y, nm);
  measure([&] { gauss<<<dim3(blocks(m, 32), blocks(n, 32)), dim3(32, 8)>>>(n, m, dx, dt, dy); },
          [&] {
            dt.back(t);
            dy.back(y);
          });
}

__constant__ float WEIGHTS[25];

// A thread has a column of eight outputs; rows move through registers.
__global__ void correlate(int n, int m, const float *__restrict__ x, float *__restrict__ y) {
  int j = blockIdx.x * blockDim.x + threadIdx.x + 2, top = blockIdx.y * 8 + 2;
  if (j >= m - 2)
    return;
  float sums[8] = {0};
#pragma unroll
  for (int row = 0; row < 12; row++) {
    int i = top - 2 + row;
    if (i >= n)
      break;
    float v[5];
#pragma unroll
    for (int q = 0; q < 5; q++)
      v[q] = x[(long)i * m + j + q - 2];
#pragma unroll
    for (int p = 0; p < 5; p++)
      if (row - p >= 0 && row - p < 8) {
#pragma unroll
        for (int q = 0; q < 5; q++)
          sums[row - p] += WEIGHTS[5 * p + q] * v[q];
      }
  }
#pragma unroll
  for (int k = 0; k < 8; k++)
    if (top + k < n - 2)
      y[(long)(top + k) * m + j] = sums[k];
}

PEER peer_correlate(int n, int m, const float *w, const float *x, float *y) {
  long nm = (long)n * m;
  Array<float> dx(x, nm), dy(y, nm);
  CHECK(cudaMemcpyToSymbol(WEIGHTS, w, sizeof WEIGHTS));
  measure([&] { correlate<<<dim3(blocks(m - 4, 128), blocks(n - 4, 8)), 128>>>(n, m, dx, dy); }, [&] { dy.back(y); });
}

// A box as sums along rows, then along columns of them, in shared memory.
__global__ void box(int n, int m, int r, const float *__restrict__ x, float *__restrict__ y) {
  __shared__ float in[32 + 2 * WIDEST][32 + 2 * WIDEST + 1], half[32 + 2 * WIDEST][33];
  int left = blockIdx.x * 32, top = blockIdx.y * 32, side = 32 + 2 * r;
  for (int p = threadIdx.y; p < side; p += 8)
    for (int q = threadIdx.x; q < side; q += 32) {
      int i = top + p - r, j = left + q - r;
      in[p][q] = i >= 0 && i < n && j >= 0 && j < m ? x[(long)i * m + j] : 0;
    }
  __syncthreads();
  for (int k = threadIdx.y; k < side; k += 8) {
    float sum = 0;
    for (int q = 0; q < 2 * r + 1; q++)
      sum += in[k][threadIdx.x + q];
    half[k][threadIdx.x] = sum;
  }
  __syncthreads();
  int j = left + threadIdx.x;
  for (int k = threadIdx.y; k < 32; k += 8) {
    int i = top + k;
    if (i < r || i >= n - r || j < r || j >= m - r)
      continue;
    float sum = 0;
    for (int p = 0; p < 2 * r + 1; p++)
      sum += half[k + p][threadIdx.x];
    y[(long)i * m + j] = sum / ((2 * r + 1) * (2 * r + 1));
  }
}

PEER peer_box(int n, int m, int r, const float *x, float *y) {
  long nm = (long)n * m;
  Array<float> dx(x, nm), dy(y, nm);
  measure([&] { box<<<dim3(blocks(m, 32), blocks(n, 32)), dim3(32, 8)>>>(n, m, r, dx, dy); }, [&] { dy.back(y); });
}

__device__ inline void order(float &a, float &b) {
  float low = fminf(a, b);
  b = fmaxf(a, b), a = low;
}

__global__ void median(int n, int m, const float *__restrict__ x, float *__restrict__ y) {
  int j = blockIdx.x * blockDim.x + threadIdx.x + 1, top = blockIdx.y * 4 + 1;
  if (j >= m - 1)
    return;
  float w[6][3];
#pragma unroll
  for (int p = 0; p < 6; p++)
#pragma unroll
    for (int q = 0; q < 3; q++)
      w[p][q] = top - 1 + p < n ? x[(long)(top - 1 + p) * m + j + q - 1] : 0;
#pragma unroll
  for (int k = 0; k < 4; k++) {
    if (top + k >= n - 1)
      return;
    float a = w[k][0], b = w[k][1], c = w[k][2], d = w[k + 1][0], e = w[k + 1][1], f = w[k + 1][2], g = w[k + 2][0], h = w[k + 2][1], i = w[k + 2][2];
    // Rows in order; the largest of the least, the median of the middle ones, the least of the largest; the median of these.
    order(a, b), order(b, c), order(a, b), order(d, e), order(e, f), order(d, e), order(g, h), order(h, i), order(g, h);
    float least = fmaxf(a, fmaxf(d, g)), most = fminf(c, fminf(f, i));
    order(b, e), order(e, h), order(b, e);
    order(least, e), order(e, most), order(least, e);
    y[(long)(top + k) * m + j] = e;
  }
}

PEER peer_median(int n, int m, const float *x, float *y) {
  long nm = (long)n * m;
  Array<float> dx(x, nm), dy(y, nm);
  measure([&] { median<<<dim3(blocks(m - 2, 128), blocks(n - 2, 4)), 128>>>(n, m, dx, dy); }, [&] { dy.back(y); });
}

__global__ void bilateral(int n, int m, const float *__restrict__ x, float *__restrict__ y) {
  __shared__ float in[16][41];
  int left = blockIdx.x * 32, top = blockIdx.y * 8;
  for (int k = threadIdx.y * 32 + threadIdx.x; k < 16 * 40; k += 256) {
    int i = top + k / 40 - 4, j = left + k % 40 - 4;
    in[k / 40][k % 40] = i >= 0 && i < n && j >= 0 && j < m ? x[(long)i * m + j] : 0;
  }
  __syncthreads();
  int i = top + threadIdx.y, j = left + threadIdx.x;
  if (i < 4 || i >= n - 4 || j < 4 || j >= m - 4)
    return;
  float centre = in[threadIdx.y + 4][threadIdx.x + 4], sum = 0, weights = 0;
#pragma unroll
  for (int p = -4; p <= 4; p++)
#pragma unroll
    for (int q = -4; q <= 4; q++) {
      float v = in[threadIdx.y + 4 + p][threadIdx.x + 4 + q], d = v - centre;
      float w = expf(-0.02f * (p * p + q * q) - 8 * d * d);
      sum += w * v, weights += w;
    }
  y[(long)i * m + j] = sum / weights;
}

PEER peer_bilateral(int n, int m, const float *x, float *y) {
  long nm = (long)n * m;
  Array<float> dx(x, nm), dy(y, nm);
  measure([&] { bilateral<<<dim3(blocks(m, 32), blocks(n, 8)), dim3(32, 8)>>>(n, m, dx, dy); }, [&] { dy.back(y); });
}

// Four bytes a thread (which begin where four begin), and one on each side, of three rows; `F` makes a byte of the nine around.
struct Sobel {
  __device__ static byte of(const int (&w)[3][3]) {
    int h = w[0][2] + 2 * w[1][2] + w[2][2] - w[0][0] - 2 * w[1][0] - w[2][0];
    int v = w[2][0] + 2 * w[2][1] + w[2][2] - w[0][0] - 2 * w[0][1] - w[0][2];
    return (byte)min(255, abs(h) + abs(v));
  }
};

struct Dilate {
  __device__ static byte of(const int (&w)[3][3]) {
    int v = 0;
    for (int p = 0; p < 3; p++)
      for (int q = 0; q < 3; q++)
        v = max(v, w[p][q]);
    return (byte)v;
  }
};

struct Life {
  __device__ static byte of(const int (&w)[3][3]) {
    int around = w[0][0] + w[0][1] + w[0][2] + w[1][0] + w[1][2] + w[2][0] + w[2][1] + w[2][2];
    return around == 3 || (around == 2 && w[1][1]);
  }
};

template <typename F> __global__ void nine(int n, int m, const byte *__restrict__ x, byte *__restrict__ y) {
  int first = (blockIdx.x * blockDim.x + threadIdx.x) * 4, top = blockIdx.y * 4 + 1;
  if (first >= m)
    return;
  bool words = m % 4 == 0;
  int w[6][6];
#pragma unroll
  for (int p = 0; p < 6; p++) {
    int i = min(top - 1 + p, n - 1);
    const byte *row = x + (long)i * m;
    w[p][0] = first > 0 ? row[first - 1] : 0;
    w[p][5] = first + 4 < m ? row[first + 4] : 0;
    if (words) {
      uchar4 v = *(const uchar4 *)(row + first);
      w[p][1] = v.x, w[p][2] = v.y, w[p][3] = v.z, w[p][4] = v.w;
    } else {
#pragma unroll
      for (int q = 0; q < 4; q++)
        w[p][q + 1] = first + q < m ? row[first + q] : 0;
    }
  }
#pragma unroll
  for (int k = 0; k < 4; k++) {
    int i = top + k;
    if (i >= n - 1)
      return;
    byte out[4];
#pragma unroll
    for (int q = 0; q < 4; q++) {
      int around[3][3];
#pragma unroll
      for (int a = 0; a < 3; a++)
#pragma unroll
        for (int b = 0; b < 3; b++)
          around[a][b] = w[k + a][q + b];
      out[q] = F::of(around);
    }
    byte *row = y + (long)i * m;
    if (words && first > 0 && first + 4 < m)
      *(uchar4 *)(row + first) = make_uchar4(out[0], out[1], out[2], out[3]);
    else
      for (int q = 0; q < 4; q++)
        if (first + q > 0 && first + q < m - 1)
          row[first + q] = out[q];
  }
}

template <typename F> void nine_of(int n, int m, const byte *x, byte *y) {
  long nm = (long)n * m;
  Array<byte> dx(x, nm), dy(y, nm);
  measure([&] { nine<F><<<dim3(blocks(m, 512), blocks(n - 2, 4)), 128>>>(n, m, dx, dy); }, [&] { dy.back(y); });
}

PEER peer_sobel(int n, int m, const byte *x, byte *y) { nine_of<Sobel>(n, m, x, y); }

PEER peer_dilate(int n, int m, const byte *x, byte *y) { nine_of<Dilate>(n, m, x, y); }

PEER peer_life(int n, int m, const byte *x, byte *y) { nine_of<Life>(n, m, x, y); }

// A histogram for each warp in shared memory.
__global__ void histogram(long n, const byte *__restrict__ x, int *count) {
  __shared__ int local[8][256];
  for (int k = threadIdx.x; k < 8 * 256; k += 256)
    local[0][k] = 0;
  __syncthreads();
  int *mine = local[threadIdx.x / 32];
  EACH(i, n / 16) {
    uint4 v = ((const uint4 *)x)[i];
    unsigned words[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
    for (int k = 0; k < 16; k++)
      atomicAdd(mine + (words[k / 4] >> 8 * (k % 4) & 255), 1);
  }
  EACH(i, n % 16) atomicAdd(mine + x[n / 16 * 16 + i], 1);
  __syncthreads();
  int sum = 0;
  for (int w = 0; w < 8; w++)
    sum += local[w][threadIdx.x];
  atomicAdd(count + threadIdx.x, sum);
}

PEER peer_histogram(long n, const byte *x, int *count) {
  Array<byte> dx(x, n);
  Array<int> dc(256);
  measure(
      [&] {
        cudaMemsetAsync(dc, 0, 256 * sizeof(int));
        histogram<<<132 * 8, 256>>>(n, dx, dc);
      },
      [&] { dc.back(count); });
}

// Four pixels, three words, a thread.
__global__ void grey(long n, const byte *__restrict__ rgb, byte *__restrict__ y) {
  EACH(i, n / 4) {
    unsigned words[3] = {((const unsigned *)rgb)[3 * i], ((const unsigned *)rgb)[3 * i + 1], ((const unsigned *)rgb)[3 * i + 2]};
    byte out[4];
#pragma unroll
    for (int k = 0; k < 4; k++) {
      int c[3];
#pragma unroll
      for (int q = 0; q < 3; q++)
        c[q] = words[(3 * k + q) / 4] >> 8 * ((3 * k + q) % 4) & 255;
      out[k] = (77 * c[0] + 150 * c[1] + 29 * c[2]) >> 8;
    }
    ((uchar4 *)y)[i] = make_uchar4(out[0], out[1], out[2], out[3]);
  }
  EACH(i, n % 4) {
    long j = n / 4 * 4 + i;
    y[j] = (77 * rgb[3 * j] + 150 * rgb[3 * j + 1] + 29 * rgb[3 * j + 2]) >> 8;
  }
}

PEER peer_grey(long n, const byte *rgb, byte *y) {
  Array<byte> dx(rgb, 3 * n), dy(n);
  measure([&] { grey<<<blocks(n, 1024), 256>>>(n, dx, dy); }, [&] { dy.back(y); });
}

__global__ void yuv(long n, const float *__restrict__ r, const float *__restrict__ g, const float *__restrict__ b, float *__restrict__ out) {
  EACH(i, n) {
    float y = 0.299f * r[i] + 0.587f * g[i] + 0.114f * b[i];
    out[i] = y;
    out[n + i] = 0.492f * (b[i] - y);
    out[2 * n + i] = 0.877f * (r[i] - y);
  }
}

PEER peer_yuv(long n, const float *r, const float *g, const float *b, float *out) {
  Array<float> dr(r, n), dg(g, n), db(b, n), dout(3 * n);
  measure([&] { yuv<<<blocks(n, 512), 256>>>(n, dr, dg, db, dout); }, [&] { dout.back(out); });
}

__device__ inline void yuv_of(const int (&c)[3], byte (&out)[3]) {
  int r = c[0], g = c[1], b = c[2];
  out[0] = (66 * r + 129 * g + 25 * b + 4224) >> 8;
  out[1] = (-38 * r - 74 * g + 112 * b + 32896) >> 8;
  out[2] = (112 * r - 94 * g - 18 * b + 32896) >> 8;
}

__global__ void yuv_pixels(long n, const byte *__restrict__ rgb, byte *__restrict__ y) {
  EACH(i, n / 4) {
    unsigned words[3] = {((const unsigned *)rgb)[3 * i], ((const unsigned *)rgb)[3 * i + 1], ((const unsigned *)rgb)[3 * i + 2]}, made[3] = {0};
#pragma unroll
    for (int k = 0; k < 4; k++) {
      int c[3];
      byte out[3];
#pragma unroll
      for (int q = 0; q < 3; q++)
        c[q] = words[(3 * k + q) / 4] >> 8 * ((3 * k + q) % 4) & 255;
      yuv_of(c, out);
#pragma unroll
      for (int q = 0; q < 3; q++)
        made[(3 * k + q) / 4] |= (unsigned)out[q] << 8 * ((3 * k + q) % 4);
    }
#pragma unroll
    for (int q = 0; q < 3; q++)
      ((unsigned *)y)[3 * i + q] = made[q];
  }
  EACH(i, n % 4) {
    long j = n / 4 * 4 + i;
    int c[3] = {rgb[3 * j], rgb[3 * j + 1], rgb[3 * j + 2]};
    byte out[3];
    yuv_of(c, out);
    for (int q = 0; q < 3; q++)
      y[3 * j + q] = out[q];
  }
}

PEER peer_yuv_pixels(long n, const byte *rgb, byte *out) {
  Array<byte> dx(rgb, 3 * n), dy(3 * n);
  measure([&] { yuv_pixels<<<blocks(n, 1024), 256>>>(n, dx, dy); }, [&] { dy.back(out); });
}

__global__ void blend(long n, const uchar4 *__restrict__ top, const uchar4 *__restrict__ below, uchar4 *__restrict__ out) {
  EACH(i, n) {
    uchar4 t = top[i], b = below[i];
    int a = t.w;
    out[i] = make_uchar4((t.x * a + b.x * (255 - a)) / 255, (t.y * a + b.y * (255 - a)) / 255, (t.z * a + b.z * (255 - a)) / 255, 255);
  }
}

PEER peer_blend(long n, const byte *top, const byte *below, byte *out) {
  Array<uchar4> dt(top, n), db(below, n), dout(n);
  measure([&] { blend<<<blocks(n, 512), 256>>>(n, dt, db, dout); }, [&] { dout.back(out); });
}

__global__ void gamma_table(long n, const byte *__restrict__ table, const byte *__restrict__ x, byte *__restrict__ y) {
  __shared__ byte local[256];
  local[threadIdx.x] = table[threadIdx.x];
  __syncthreads();
  EACH(i, n / 16) {
    uint4 v = ((const uint4 *)x)[i];
    unsigned words[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
    for (int k = 0; k < 4; k++) {
      unsigned w = words[k];
      words[k] = local[w & 255] | local[w >> 8 & 255] << 8 | local[w >> 16 & 255] << 16 | (unsigned)local[w >> 24] << 24;
    }
    ((uint4 *)y)[i] = make_uint4(words[0], words[1], words[2], words[3]);
  }
  EACH(i, n % 16) y[n / 16 * 16 + i] = local[x[n / 16 * 16 + i]];
}

PEER peer_gamma_table(long n, const byte *table, const byte *x, byte *y) {
  Array<byte> dt(table, 256), dx(x, n), dy(n);
  measure([&] { gamma_table<<<132 * 8, 256>>>(n, dt, dx, dy); }, [&] { dy.back(y); });
}

// A thread makes the four outputs between four inputs.
__global__ void enlarge(int n, int m, const float *__restrict__ x, float *__restrict__ y) {
  int p = blockIdx.y, q = blockIdx.x * blockDim.x + threadIdx.x;
  if (p >= n - 1 || q >= m - 1)
    return;
  float a = x[(long)p * m + q], b = x[(long)p * m + q + 1], c = x[(long)(p + 1) * m + q], d = x[(long)(p + 1) * m + q + 1];
  float2 *row = (float2 *)(y + 4l * p * m) + q;
  row[0] = make_float2(a, 0.5f * a + 0.5f * b);
  row[m] = make_float2(0.5f * a + 0.5f * c, 0.5f * (0.5f * a + 0.5f * b) + 0.5f * (0.5f * c + 0.5f * d));
}

PEER peer_enlarge(int n, int m, const float *x, float *y) {
  long nm = (long)n * m;
  Array<float> dx(x, nm), dy(y, 4 * nm);
  measure([&] { enlarge<<<dim3(blocks(m, 256), n), 256>>>(n, m, dx, dy); }, [&] { dy.back(y); });
}

__global__ void resize(int n, int m, int h, int w, const float *__restrict__ x, float *__restrict__ y) {
  float fy = (float)(n - 1) / h, fx = (float)(m - 1) / w;
  int i = blockIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
  if (j >= w)
    return;
  int p = (int)(i * fy), q = (int)(j * fx);
  float a = i * fy - p, b = j * fx - q;
  const float *upper = x + (long)p * m + q, *lower = upper + m;
  y[(long)i * w + j] = (1 - a) * ((1 - b) * upper[0] + b * upper[1]) + a * ((1 - b) * lower[0] + b * lower[1]);
}

PEER peer_resize(int n, int m, int h, int w, const float *x, float *y) {
  Array<float> dx(x, (long)n * m), dy((long)h * w);
  measure([&] { resize<<<dim3(blocks(w, 256), h), 256>>>(n, m, h, w, dx, dy); }, [&] { dy.back(y); });
}

__global__ void halve(int n, int m, const float2 *__restrict__ x, float *__restrict__ y) {
  int i = blockIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
  if (j >= m)
    return;
  float2 a = x[2l * i * m + j], b = x[(2l * i + 1) * m + j];
  y[(long)i * m + j] = 0.25f * (a.x + a.y + b.x + b.y);
}

PEER peer_halve(int n, int m, const float *x, float *y) {
  Array<float2> dx(x, 2l * n * m);
  Array<float> dy((long)n * m);
  measure([&] { halve<<<dim3(blocks(m, 256), n), 256>>>(n, m, dx, dy); }, [&] { dy.back(y); });
}

__global__ void rotate_tiles(int n, int m, const float *__restrict__ x, float *__restrict__ y) {
  __shared__ float tile[32][33];
  int left = blockIdx.x * 32, top = blockIdx.y * 32;
  for (int k = threadIdx.y; k < 32; k += 8)
    if (top + k < n && left + threadIdx.x < m)
      tile[k][threadIdx.x] = x[(long)(top + k) * m + left + threadIdx.x];
  __syncthreads();
  // The columns of the tile, its last row first, so that lanes lie along the output's rows.
  int i = top + 31 - threadIdx.x;
  for (int k = threadIdx.y; k < 32; k += 8)
    if (i < n && left + k < m)
      y[(long)(left + k) * n + n - 1 - i] = tile[31 - threadIdx.x][k];
}

PEER peer_rotate(int n, int m, const float *x, float *y) {
  long nm = (long)n * m;
  Array<float> dx(x, nm), dy(nm);
  measure([&] { rotate_tiles<<<dim3(blocks(m, 32), blocks(n, 32)), dim3(32, 8)>>>(n, m, dx, dy); }, [&] { dy.back(y); });
}

// Both stages at once: the blurred value is needed at its own point only.
__global__ void sharpen(int n, int m, const float *__restrict__ x, float *__restrict__ t, float *__restrict__ y) {
  int j = blockIdx.x * blockDim.x + threadIdx.x + 1, top = blockIdx.y * 4 + 1;
  if (j >= m - 1)
    return;
  const float *at = x + (long)top * m + j;
  float above = at[-m], here = at[0];
#pragma unroll
  for (int k = 0; k < 4; k++, at += m) {
    if (top + k >= n - 1)
      return;
    float below = at[m], mean = (above + below + at[-1] + at[1] + 4 * here) * 0.125f;
    t[(long)(top + k) * m + j] = mean;
    y[(long)(top + k) * m + j] = fminf(fmaxf(here + 1.5f * (here - mean), 0), 1);
    above = here, here = below;
  }
}

PEER peer_sharpen(int n, int m, const float *x, float *t, float *y) {
  long nm = (long)n * m;
  Array<float> dx(x, nm), dt(t, nm), dy(y, nm);
  measure([&] { sharpen<<<dim3(blocks(m - 2, 256), blocks(n - 2, 4)), 256>>>(n, m, dx, dt, dy); },
          [&] {
            dt.back(t);
            dy.back(y);
          });
}

__global__ void mandelbrot(int n, int m, int limit, int *__restrict__ y) {
  int j = blockIdx.x * 16 + threadIdx.x, i = blockIdx.y * 8 + threadIdx.y;
  if (i >= n || j >= m)
    return;
  float cr = -2 + 3.0f * j / m, ci = -1.5f + 3.0f * i / n, r = 0, s = 0;
  int k = 0;
  while (k < limit && r * r + s * s < 4) {
    float next = r * r - s * s + cr;
    s = 2 * r * s + ci;
    r = next;
    k++;
  }
  y[(long)i * m + j] = k;
}

PEER peer_mandelbrot(int n, int m, int limit, int *y) {
  Array<int> dy((long)n * m);
  measure([&] { mandelbrot<<<dim3(blocks(m, 16), blocks(n, 8)), dim3(16, 8)>>>(n, m, limit, dy); }, [&] { dy.back(y); });
}
