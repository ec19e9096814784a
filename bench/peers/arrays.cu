// Peers of bench/everyday2/arrays.c: vectors of 16 bytes where memory bounds, tiles in shared memory, sums in parallel.
#include "peer.h"

double peer_kernel_ms, peer_call_ms;

__global__ void copy_four(long n, float *__restrict__ a, const float *__restrict__ b) {
  EACH(i, n / 4)((float4 *)a)[i] = ((const float4 *)b)[i];
  EACH(i, n % 4) a[n / 4 * 4 + i] = b[n / 4 * 4 + i];
}

PEER peer_copy(long n, float *a, const float *b) {
  Array<float> da(n), db(b, n);
  measure([&] { copy_four<<<blocks(n, 1024), 256>>>(n, da, db); }, [&] { da.back(a); });
}

__global__ void triad(long n, double s, double *__restrict__ a, const double *__restrict__ b, const double *__restrict__ c) {
  EACH(i, n / 2) {
    double2 u = ((const double2 *)b)[i], v = ((const double2 *)c)[i];
    ((double2 *)a)[i] = make_double2(u.x + s * v.x, u.y + s * v.y);
  }
  EACH(i, n % 2) a[n - 1] = b[n - 1] + s * c[n - 1];
}

PEER peer_triad(long n, double s, double *a, const double *b, const double *c) {
  Array<double> da(n), db(b, n), dc(c, n);
  measure([&] { triad<<<blocks(n, 512), 256>>>(n, s, da, db, dc); }, [&] { da.back(a); });
}

__global__ void dot_parts(long n, const float *__restrict__ a, const float *__restrict__ b, float *y) {
  float sum = 0;
  EACH(i, n / 4) {
    float4 u = ((const float4 *)a)[i], v = ((const float4 *)b)[i];
    sum += u.x * v.x + u.y * v.y + u.z * v.z + u.w * v.w;
  }
  EACH(i, n % 4) sum += a[n / 4 * 4 + i] * b[n / 4 * 4 + i];
  sum = block_sum(sum);
  if (threadIdx.x == 0)
    atomicAdd(y, sum);
}

PEER peer_dot(long n, const float *a, const float *b, float *y) {
  Array<float> da(a, n), db(b, n), dy(1);
  measure(
      [&] {
        cudaMemsetAsync(dy, 0, sizeof(float));
        dot_parts<<<132 * 8, 256>>>(n, da, db, dy);
      },
      [&] { dy.back(y); });
}

__global__ void norm_parts(long n, const double *__restrict__ a, double *parts) {
  __shared__ double warps[8];
  double sum = 0;
  EACH(i, n / 2) {
    double2 v = ((const double2 *)a)[i];
    sum += v.x * v.x + v.y * v.y;
  }
  EACH(i, n % 2) sum += a[n - 1] * a[n - 1];
  sum = warp_sum(sum);
  if (threadIdx.x % 32 == 0)
    warps[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int k = 1; k < 8; k++)
      sum += warps[k];
    parts[blockIdx.x] = sum;
  }
}

__global__ void norm_join(int n, const double *__restrict__ parts, double *y) {
  double sum = 0;
  for (int i = threadIdx.x; i < n; i += 32)
    sum += parts[i];
  sum = warp_sum(sum);
  if (threadIdx.x == 0)
    *y = sqrt(sum);
}

PEER peer_norm(long n, const double *a, double *y) {
  const int parts = 132 * 8;
  Array<double> da(a, n), dp(parts), dy(1);
  measure(
      [&] {
        norm_parts<<<parts, 256>>>(n, da, dp);
        norm_join<<<1, 32>>>(parts, dp, dy);
      },
      [&] { dy.back(y); });
}

// Tiles of 32 x 32 through shared memory; `batch` matrices.
__global__ void transpose_tiles(int n, int m, const float *__restrict__ a, float *__restrict__ b) {
  __shared__ float tile[32][33];
  long matrix = (long)blockIdx.z * n * m;
  int left = blockIdx.x * 32, top = blockIdx.y * 32;
  for (int k = threadIdx.y; k < 32; k += 8)
    if (top + k < n && left + threadIdx.x < m)
      tile[k][threadIdx.x] = a[matrix + (long)(top + k) * m + left + threadIdx.x];
  __syncthreads();
  for (int k = threadIdx.y; k < 32; k += 8)
    if (left + k < m && top + threadIdx.x < n)
      b[matrix + (long)(left + k) * n + top + threadIdx.x] = tile[threadIdx.x][k];
}

void transposed(int batch, int n, int m, const float *a, float *b) {
  long all = (long)batch * n * m;
  Array<float> da(a, all), db(all);
  measure([&] { transpose_tiles<<<dim3(blocks(m, 32), blocks(n, 32), batch), dim3(32, 8)>>>(n, m, da, db); }, [&] { db.back(b); });
}

PEER peer_transpose(int n, int m, const float *a, float *b) { transposed(1, n, m, a, b); }

PEER peer_channels_last(int b, int c, int n, const float *x, float *y) { transposed(b, c, n, x, y); }

// Rows change places; four elements a thread where rows are aligned.
__global__ void permute(int a, int b, int c, int d, const float *__restrict__ x, float *__restrict__ y) {
  long rows = (long)a * b * c;
  if (d % 4 == 0) {
    int quads = d / 4;
    EACH(e, rows * quads) {
      long row = e / quads;
      int l = (int)(e % quads), k = (int)(row % c), j = (int)(row / c % b);
      long i = row / ((long)b * c);
      ((float4 *)y)[((i * c + k) * b + j) * quads + l] = ((const float4 *)x)[e];
    }
    return;
  }
  EACH(e, rows * d) {
    long row = e / d;
    int l = (int)(e % d), k = (int)(row % c), j = (int)(row / c % b);
    long i = row / ((long)b * c);
    y[((i * c + k) * b + j) * d + l] = x[e];
  }
}

PEER peer_permute(int a, int b, int c, int d, const float *x, float *y) {
  long all = (long)a * b * c * d;
  Array<float> dx(x, all), dy(all);
  measure([&] { permute<<<blocks(all, 1024), 256>>>(a, b, c, d, dx, dy); }, [&] { dy.back(y); });
}

__global__ void reverse_four(long n, const float *__restrict__ a, float *__restrict__ b) {
  if (n % 4 == 0) {
    EACH(i, n / 4) {
      float4 v = ((const float4 *)a)[n / 4 - 1 - i];
      ((float4 *)b)[i] = make_float4(v.w, v.z, v.y, v.x);
    }
    return;
  }
  EACH(i, n) b[i] = a[n - 1 - i];
}

PEER peer_reverse(long n, const float *a, float *b) {
  Array<float> da(a, n), db(n);
  measure([&] { reverse_four<<<blocks(n, 1024), 256>>>(n, da, db); }, [&] { db.back(b); });
}

__global__ void deinterleave(long n, const float *__restrict__ x, float *__restrict__ re, float *__restrict__ im) {
  EACH(i, n / 2) {
    float4 v = ((const float4 *)x)[i];
    ((float2 *)re)[i] = make_float2(v.x, v.z);
    ((float2 *)im)[i] = make_float2(v.y, v.w);
  }
  EACH(i, n % 2) re[n - 1] = x[2 * n - 2], im[n - 1] = x[2 * n - 1];
}

PEER peer_deinterleave(long n, const float *x, float *re, float *im) {
  Array<float> dx(x, 2 * n), dr(n), di(n);
  measure([&] { deinterleave<<<blocks(n, 512), 256>>>(n, dx, dr, di); },
          [&] {
            dr.back(re);
            di.back(im);
          });
}

__global__ void gather(long n, const int *__restrict__ index, const float *__restrict__ x, float *__restrict__ y) {
  EACH(i, n / 4) {
    int4 k = ((const int4 *)index)[i];
    ((float4 *)y)[i] = make_float4(x[k.x], x[k.y], x[k.z], x[k.w]);
  }
  EACH(i, n % 4) y[n / 4 * 4 + i] = x[index[n / 4 * 4 + i]];
}

PEER peer_gather(long n, const int *index, const float *x, float *y) {
  long most = 0;
  for (long i = 0; i < n; i++)
    most = std::max(most, (long)index[i]);
  Array<int> di(index, n);
  Array<float> dx(x, most + 1), dy(n);
  measure([&] { gather<<<blocks(n, 1024), 256>>>(n, di, dx, dy); }, [&] { dy.back(y); });
}

__global__ void brighten(long n, const unsigned char *__restrict__ x, unsigned char *__restrict__ y) {
  EACH(i, n / 16) {
    uint4 v = ((const uint4 *)x)[i];
    const unsigned more = 40u * 0x01010101u;
    ((uint4 *)y)[i] = make_uint4(__vaddus4(v.x, more), __vaddus4(v.y, more), __vaddus4(v.z, more), __vaddus4(v.w, more));
  }
  EACH(i, n % 16) {
    long j = n / 16 * 16 + i;
    y[j] = (unsigned char)min(255, x[j] + 40);
  }
}

PEER peer_brighten(long n, const unsigned char *x, unsigned char *y) {
  Array<unsigned char> dx(x, n), dy(n);
  measure([&] { brighten<<<blocks(n, 4096), 256>>>(n, dx, dy); }, [&] { dy.back(y); });
}

__device__ inline signed char quantised(float v) { return (signed char)fminf(fmaxf(v * 50, -127), 127); }

__global__ void quantise(long n, const float *__restrict__ x, signed char *__restrict__ y) {
  EACH(i, n / 4) {
    float4 v = ((const float4 *)x)[i];
    ((char4 *)y)[i] = make_char4(quantised(v.x), quantised(v.y), quantised(v.z), quantised(v.w));
  }
  EACH(i, n % 4) y[n / 4 * 4 + i] = quantised(x[n / 4 * 4 + i]);
}

PEER peer_quantise(long n, const float *x, signed char *y) {
  Array<float> dx(x, n);
  Array<signed char> dy(n);
  measure([&] { quantise<<<blocks(n, 1024), 256>>>(n, dx, dy); }, [&] { dy.back(y); });
}

__device__ inline void adam_step(float rate, float g, float &p, float &m, float &v) {
  m = 0.9f * m + 0.1f * g;
  v = 0.999f * v + 0.001f * g * g;
  p -= rate * m / (sqrtf(v) + 1e-8f);
}

__global__ void adam(long n, float rate, const float *__restrict__ g, float *__restrict__ p, float *__restrict__ m, float *__restrict__ v) {
  EACH(i, n / 4) {
    float4 gs = ((const float4 *)g)[i], ps = ((float4 *)p)[i], ms = ((float4 *)m)[i], vs = ((float4 *)v)[i];
    adam_step(rate, gs.x, ps.x, ms.x, vs.x), adam_step(rate, gs.y, ps.y, ms.y, vs.y);
    adam_step(rate, gs.z, ps.z, ms.z, vs.z), adam_step(rate, gs.w, ps.w, ms.w, vs.w);
    ((float4 *)p)[i] = ps, ((float4 *)m)[i] = ms, ((float4 *)v)[i] = vs;
  }
  EACH(i, n % 4) {
    long j = n / 4 * 4 + i;
    adam_step(rate, g[j], p[j], m[j], v[j]);
  }
}

PEER peer_adam(long n, float rate, const float *g, float *p, float *m, float *v) {
  Array<float> dg(g, n), dp(p, n), dm(m, n), dv(v, n);
  measure([&] { adam<<<blocks(n, 1024), 256>>>(n, rate, dg, dp, dm, dv); },
          [&] {
            dp.back(p);
            dm.back(m);
            dv.back(v);
          });
}

// A warp a row.
__global__ void spmv_csr(int n, const int *__restrict__ start, const int *__restrict__ column, const float *__restrict__ value, const float *__restrict__ x,
                         float *__restrict__ y) {
  int row = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (row >= n)
    return;
  float sum = 0;
  for (int k = start[row] + lane; k < start[row + 1]; k += 32)
    sum += value[k] * x[column[k]];
  sum = warp_sum(sum);
  if (lane == 0)
    y[row] = sum;
}

PEER peer_spmv_csr(int n, const int *start, const int *column, const float *value, const float *x, float *y) {
  Array<int> ds(start, n + 1), dc(column, start[n]);
  Array<float> dv(value, start[n]), dx(x, n), dy(n);
  measure([&] { spmv_csr<<<blocks(n, 8), 256>>>(n, ds, dc, dv, dx, dy); }, [&] { dy.back(y); });
}

__global__ void spmv_ell(int n, int width, const int *__restrict__ column, const float *__restrict__ value, const float *__restrict__ x, float *__restrict__ y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float sum = 0;
#pragma unroll 8
  for (int k = 0; k < width; k++)
    sum += value[(long)k * n + i] * x[column[(long)k * n + i]];
  y[i] = sum;
}

PEER peer_spmv_ell(int n, int width, const int *column, const float *value, const float *x, float *y) {
  long all = (long)n * width;
  Array<int> dc(column, all);
  Array<float> dv(value, all), dx(x, n), dy(n);
  measure([&] { spmv_ell<<<blocks(n, 256), 256>>>(n, width, dc, dv, dx, dy); }, [&] { dy.back(y); });
}

// Four outputs a thread, of a line in shared memory.
__global__ void radius7(long n, const int *__restrict__ a, int *__restrict__ b) {
  __shared__ int line[1024 + 16];
  long first = blockIdx.x * 1024l;
  for (int k = threadIdx.x; k < 1024 + 14; k += 256) {
    long i = first + k - 7;
    line[k] = i >= 0 && i < n ? a[i] : 0;
  }
  __syncthreads();
#pragma unroll
  for (int part = 0; part < 4; part++) {
    int k = part * 256 + threadIdx.x, sum = 0;
#pragma unroll
    for (int q = 0; q < 15; q++)
      sum += line[k + q];
    if (first + k >= 7 && first + k < n - 7)
      b[first + k] = sum;
  }
}

PEER peer_radius7(long n, const int *a, int *b) {
  Array<int> da(a, n), db(b, n);
  measure([&] { radius7<<<blocks(n, 1024), 256>>>(n, da, db); }, [&] { db.back(b); });
}

// A column of eight points a thread; rows move through registers.
__global__ void sweep2d(int n, int m, const float *__restrict__ a, float *__restrict__ b) {
  int j = blockIdx.x * blockDim.x + threadIdx.x + 1, top = blockIdx.y * 8 + 1;
  if (j >= m - 1)
    return;
  const float *at = a + (long)top * m + j;
  float above = at[-m], here = at[0];
#pragma unroll
  for (int k = 0; k < 8; k++, at += m) {
    if (top + k >= n - 1)
      return;
    float below = at[m];
    b[(long)(top + k) * m + j] = 0.5f * here + 0.125f * (above + below + at[-1] + at[1]);
    above = here, here = below;
  }
}

PEER peer_sweep2d(int n, int m, const float *a, float *b) {
  long nm = (long)n * m;
  Array<float> da(a, nm), db(b, nm);
  measure([&] { sweep2d<<<dim3(blocks(m - 2, 128), blocks(n - 2, 8)), 128>>>(n, m, da, db); }, [&] { db.back(b); });
}

// A column of eight planes a thread.
__global__ void sweep3d(int n, const double *__restrict__ a, double *__restrict__ b) {
  int k = blockIdx.x * 32 + threadIdx.x + 1, j = blockIdx.y * 8 + threadIdx.y + 1, top = blockIdx.z * 8 + 1;
  if (k >= n - 1 || j >= n - 1)
    return;
  long plane = (long)n * n;
  const double *at = a + top * plane + (long)j * n + k;
  double above = at[-plane], here = at[0];
  for (int p = 0; p < 8; p++, at += plane) {
    if (top + p >= n - 1)
      return;
    double below = at[plane];
    b[(top + p) * plane + (long)j * n + k] = 0.4 * here + 0.1 * (above + below + at[-n] + at[n] + at[-1] + at[1]);
    above = here, here = below;
  }
}

PEER peer_sweep3d(int n, const double *a, double *b) {
  long all = (long)n * n * n;
  Array<double> da(a, all), db(b, all);
  measure([&] { sweep3d<<<dim3(blocks(n - 2, 32), blocks(n - 2, 8), blocks(n - 2, 8)), dim3(32, 8)>>>(n, da, db); }, [&] { db.back(b); });
}

// A column of eight planes a thread: the sum of each plane's nine is used three times.
__global__ void box27(int n, const float *__restrict__ a, float *__restrict__ b) {
  int k = blockIdx.x * 32 + threadIdx.x + 1, j = blockIdx.y * 8 + threadIdx.y + 1, top = blockIdx.z * 8 + 1;
  if (k >= n - 1 || j >= n - 1)
    return;
  long plane = (long)n * n;
  float before = 0, middle = 0;
  for (int p = -1; p <= 8; p++) {
    if (top + p >= n)
      return;
    const float *at = a + (top + p) * plane + (long)j * n + k;
    float nine = at[-n - 1] + at[-n] + at[-n + 1] + at[-1] + at[0] + at[1] + at[n - 1] + at[n] + at[n + 1];
    if (p >= 1)
      b[(top + p - 1) * plane + (long)j * n + k] = (before + middle + nine) / 27;
    before = middle, middle = nine;
  }
}

PEER peer_box27(int n, const float *a, float *b) {
  long all = (long)n * n * n;
  Array<float> da(a, all), db(b, all);
  measure([&] { box27<<<dim3(blocks(n - 2, 32), blocks(n - 2, 8), blocks(n - 2, 8)), dim3(32, 8)>>>(n, da, db); }, [&] { db.back(b); });
}

__global__ void jacobi(int n, const float *__restrict__ a, float *__restrict__ b) {
  int j = blockIdx.x * blockDim.x + threadIdx.x + 1, top = blockIdx.y * 4 + 1;
  if (j >= n - 1)
    return;
  const float *at = a + (long)top * n + j;
  float above = at[-n], here = at[0];
#pragma unroll
  for (int k = 0; k < 4; k++, at += n) {
    if (top + k >= n - 1)
      return;
    float below = at[n];
    b[(long)(top + k) * n + j] = 0.25f * (above + below + at[-1] + at[1]);
    above = here, here = below;
  }
}

// A launch a step; both grids change places, and their borders are the same.
PEER peer_jacobi(int steps, int n, float *a, float *b) {
  long all = (long)n * n;
  Array<float> da(a, all), db(all);
  CHECK(cudaMemcpy(db, da, all * sizeof(float), cudaMemcpyDeviceToDevice));
  measure(
      [&] {
        float *from = da, *to = db;
        for (int t = 0; t < steps; t++) {
          jacobi<<<dim3(blocks(n - 2, 128), blocks(n - 2, 4)), 128>>>(n, from, to);
          std::swap(from, to);
        }
      },
      [&] { (steps % 2 ? db : da).back(a); });
}

__global__ void fdtd_e(int n, int m, float *__restrict__ ex, float *__restrict__ ey, const float *__restrict__ hz) {
  int i = blockIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
  if (j >= m)
    return;
  long at = (long)i * m + j;
  float h = hz[at];
  if (j > 0)
    ex[at] -= 0.5f * (h - hz[at - 1]);
  if (i > 0)
    ey[at] += 0.5f * (h - hz[at - m]);
}

__global__ void fdtd_h(int n, int m, const float *__restrict__ ex, const float *__restrict__ ey, float *__restrict__ hz) {
  int i = blockIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n - 1 || j >= m - 1)
    return;
  long at = (long)i * m + j;
  hz[at] -= 0.7f * (ex[at + 1] - ex[at] - ey[at + m] + ey[at]);
}

PEER peer_fdtd(int n, int m, float *ex, float *ey, float *hz) {
  long nm = (long)n * m;
  Array<float> dex(ex, nm), dey(ey, nm), dh(hz, nm);
  measure(
      [&] {
        fdtd_e<<<dim3(blocks(m, 256), n), 256>>>(n, m, dex, dey, dh);
        fdtd_h<<<dim3(blocks(m, 256), n), 256>>>(n, m, dex, dey, dh);
      },
      [&] {
        dex.back(ex);
        dey.back(ey);
        dh.back(hz);
      });
}

__global__ void gradient(int n, int m, const float *__restrict__ a, float *__restrict__ gx, float *__restrict__ gy, float *__restrict__ magnitude) {
  int i = blockIdx.y + 1, j = blockIdx.x * blockDim.x + threadIdx.x + 1;
  if (j >= m - 1)
    return;
  long at = (long)i * m + j;
  float x = 0.5f * (a[at + 1] - a[at - 1]), y = 0.5f * (a[at + m] - a[at - m]);
  gx[at] = x, gy[at] = y, magnitude[at] = sqrtf(x * x + y * y);
}

PEER peer_gradient(int n, int m, const float *a, float *gx, float *gy, float *magnitude) {
  long nm = (long)n * m;
  Array<float> da(a, nm), dx(nm), dy(nm), dm(magnitude, nm);
  measure([&] { gradient<<<dim3(blocks(m - 2, 256), n - 2), 256>>>(n, m, da, dx, dy, dm); },
          [&] { dm.back(magnitude); });
}
