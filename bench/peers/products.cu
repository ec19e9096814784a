// Peers of bench/everyday2/products.c. Products of matrices go by tiles of 64 x 64 in shared memory, 4 x 4 a thread (of large ones cuBLAS is the peer that counts:
// bench/peers/library.py has it); convolutions as such products over channels, rows and columns of the window at once.
#include "peer.h"

double peer_kernel_ms, peer_call_ms;

// C[i][j] = store(sum over k of a(i, k) * b(k, j)): `a` and `b` are asked for elements inside of n x l and l x m only. One matrix for each z of the grid.
constexpr int TILE = 64, DEEP = 16;

template <typename A, typename B, typename Store> __global__ void __launch_bounds__(256) product(int n, int m, int l, A a, B b, Store store) {
  __shared__ float as[DEEP][TILE + 4], bs[DEEP][TILE + 4];
  int top = blockIdx.y * TILE, left = blockIdx.x * TILE, matrix = blockIdx.z, depth = a.depth(top, l);
  int r = threadIdx.x / 16 * 4, c = threadIdx.x % 16 * 4;
  float sums[4][4] = {{0}};
  if (!store.any(top, left))
    return;
  for (int first = a.first(top); first < depth; first += DEEP) {
#pragma unroll
    for (int e = 0; e < TILE * DEEP / 256; e++) {
      int at = e * 256 + threadIdx.x, i = A::ROWS ? at / DEEP : at % TILE, k = A::ROWS ? at % DEEP : at / TILE;
      as[k][i] = top + i < n && first + k < l ? a(matrix, top + i, first + k) : 0;
      int j = B::COLUMNS ? at / DEEP : at % TILE, q = B::COLUMNS ? at % DEEP : at / TILE;
      bs[q][j] = left + j < m && first + q < l ? b(matrix, first + q, left + j) : 0;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < DEEP; k++) {
      float4 u = *(float4 *)&as[k][r], v = *(float4 *)&bs[k][c];
      float us[4] = {u.x, u.y, u.z, u.w}, vs[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
      for (int p = 0; p < 4; p++)
#pragma unroll
        for (int q = 0; q < 4; q++)
          sums[p][q] += us[p] * vs[q];
    }
    __syncthreads();
  }
#pragma unroll
  for (int p = 0; p < 4; p++)
#pragma unroll
    for (int q = 0; q < 4; q++)
      if (top + r + p < n && left + c + q < m)
        store(matrix, top + r + p, left + c + q, sums[p][q]);
}

template <typename A, typename B, typename Store> void product_of(int matrices, int n, int m, int l, A a, B b, Store store) {
  product<<<dim3(blocks(m, TILE), blocks(n, TILE), matrices), 256>>>(n, m, l, a, b, store);
}

// Operands. ROWS and COLUMNS say along which dimension neighbouring threads load.
struct Whole {
  __device__ int first(int) const { return 0; }
  __device__ int depth(int, int l) const { return l; }
};

struct Matrix : Whole {
  static constexpr bool ROWS = true, COLUMNS = false;
  const float *data;
  int width;
  long matrix;
  Matrix(const float *data, int width, long matrix = 0) : data(data), width(width), matrix(matrix) {}
  __device__ float operator()(int t, int i, int j) const { return data[t * matrix + (long)i * width + j]; }
};

struct Transposed : Whole {
  static constexpr bool ROWS = false, COLUMNS = true;
  const float *data;
  int width;
  Transposed(const float *data, int width) : data(data), width(width) {}
  __device__ float operator()(int, int i, int j) const { return data[(long)j * width + i]; }
};

struct Symmetric : Whole {
  static constexpr bool ROWS = true, COLUMNS = false;
  const float *data;
  int width;
  Symmetric(const float *data, int width) : data(data), width(width) {}
  __device__ float operator()(int, int i, int j) const { return j <= i ? data[(long)i * width + j] : data[(long)j * width + i]; }
};

struct Lower {
  static constexpr bool ROWS = true, COLUMNS = false;
  const float *data;
  int width;
  Lower(const float *data, int width) : data(data), width(width) {}
  __device__ int first(int) const { return 0; }
  __device__ int depth(int top, int l) const { return min(l, top + TILE); }
  __device__ float operator()(int, int i, int j) const { return j <= i ? data[(long)i * width + j] : 0; }
};

struct Store {
  float *data;
  int width;
  long matrix;
  float alpha, beta;
  Store(float *data, int width, long matrix = 0, float alpha = 1, float beta = 0) : data(data), width(width), matrix(matrix), alpha(alpha), beta(beta) {}
  __device__ bool any(int, int) const { return true; }
  __device__ void operator()(int t, int i, int j, float v) const {
    float &c = data[t * matrix + (long)i * width + j];
    c = beta == 0 ? alpha * v : alpha * v + beta * c;
  }
};

struct StoreLower : Store {
  using Store::Store;
  __device__ bool any(int top, int left) const { return left < top + TILE; }
  __device__ void operator()(int t, int i, int j, float v) const {
    if (j <= i)
      Store::operator()(t, i, j, v);
  }
};

PEER peer_gemm(int n, int m, int l, float alpha, const float *A, const float *B, float beta, float *C) {
  Array<float> a(A, (long)n * l), b(B, (long)l * m), c(C, (long)n * m);
  measure([&] { product_of(1, n, m, l, Matrix(a, l), Matrix(b, m), Store(c, m, 0, alpha, beta)); }, [&] { c.back(C); });
}

PEER peer_gemm_small(int n, const float *A, const float *B, float *C) {
  long nn = (long)n * n;
  Array<float> a(A, nn), b(B, nn), c(nn);
  measure([&] { product_of(1, n, n, n, Matrix(a, n), Matrix(b, n), Store(c, n)); }, [&] { c.back(C); });
}

// B in shared memory; a thread has a row of A in registers, and a warp the same columns.
__global__ void tall_rows(int n, int m, const float *__restrict__ A, const float *__restrict__ B, float *__restrict__ C) {
  extern __shared__ float shared[];
  float *b = shared, *rows = shared + m * m;
  for (int e = threadIdx.x; e < m * m; e += blockDim.x)
    b[e] = B[e];
  long top = blockIdx.x * 256l;
  int count = (int)min(256l, n - top);
  for (int e = threadIdx.x; e < count * m; e += blockDim.x)
    rows[e / m * (m + 1) + e % m] = A[top * m + e];
  __syncthreads();
  float row[32];
  if (threadIdx.x < count) {
#pragma unroll
    for (int k = 0; k < 32; k++)
      row[k] = k < m ? rows[threadIdx.x * (m + 1) + k] : 0;
    for (int j = 0; j < m; j++) {
      float sum = 0;
#pragma unroll
      for (int k = 0; k < 32; k++)
        sum += k < m ? row[k] * b[k * m + j] : 0;
      rows[threadIdx.x * (m + 1) + j] = sum;
    }
  }
  __syncthreads();
  for (int e = threadIdx.x; e < count * m; e += blockDim.x)
    C[top * m + e] = rows[e / m * (m + 1) + e % m];
}

PEER peer_tall(int n, int m, const float *A, const float *B, float *C) {
  Array<float> a(A, (long)n * m), b(B, (long)m * m), c((long)n * m);
  int bytes = (m * m + 256 * (m + 1)) * (int)sizeof(float);
  measure([&] { tall_rows<<<blocks(n, 256), 256, bytes>>>(n, m, a, b, c); }, [&] { c.back(C); });
}

// Parts of the rows by blocks, 32 rows at a time in shared memory; a thread has a part of the (at most 32 x 32) result.
__global__ void gram_parts(int n, int m, const float *__restrict__ A, float *C) {
  __shared__ float rows[32][33];
  float sums[4] = {0};
  int j = threadIdx.x % 32, i = threadIdx.x / 32;
  for (long first = blockIdx.x * 32l; first < n; first += gridDim.x * 32l) {
    __syncthreads();
    for (int k = i; k < 32; k += 8)
      rows[k][j] = first + k < n && j < m ? A[(first + k) * m + j] : 0;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 32; k++) {
      float v = rows[k][j];
#pragma unroll
      for (int p = 0; p < 4; p++)
        sums[p] += rows[k][i + 8 * p] * v;
    }
  }
#pragma unroll
  for (int p = 0; p < 4; p++)
    if (i + 8 * p < m && j < m)
      atomicAdd(C + (i + 8 * p) * m + j, sums[p]);
}

PEER peer_gram(int n, int m, const float *A, float *C) {
  Array<float> a(A, (long)n * m), c((long)m * m);
  measure(
      [&] {
        cudaMemsetAsync(c, 0, (long)m * m * sizeof(float));
        gram_parts<<<132 * 8, 256>>>(n, m, a, c);
      },
      [&] { c.back(C); });
}

// Matrices of up to 16 x 16: a block one, an element a thread.
__global__ void batched(int n, const float *__restrict__ A, const float *__restrict__ B, float *__restrict__ C) {
  __shared__ float a[16][17], b[16][17];
  int i = threadIdx.y, j = threadIdx.x;
  long at = blockIdx.x * (long)n * n + i * n + j;
  bool in = i < n && j < n;
  a[i][j] = in ? A[at] : 0, b[i][j] = in ? B[at] : 0;
  __syncthreads();
  float sum = 0;
#pragma unroll
  for (int k = 0; k < 16; k++)
    sum += a[i][k] * b[k][j];
  if (in)
    C[at] = sum;
}

PEER peer_batched(int t, int n, const float *A, const float *B, float *C) {
  long all = (long)t * n * n;
  Array<float> a(A, all), b(B, all), c(all);
  measure([&] { batched<<<t, dim3(16, 16)>>>(n, a, b, c); }, [&] { c.back(C); });
}

PEER peer_syrk(int n, int m, float alpha, float beta, const float *A, float *C) {
  Array<float> a(A, (long)n * m), c(C, (long)n * n);
  measure([&] { product_of(1, n, n, m, Matrix(a, m), Transposed(a, m), StoreLower(c, n, 0, alpha, beta)); }, [&] { c.back(C); });
}

PEER peer_symm(int n, int m, const float *A, const float *B, float *C) {
  Array<float> a(A, (long)n * n), b(B, (long)n * m), c((long)n * m);
  measure([&] { product_of(1, n, m, n, Symmetric(a, n), Matrix(b, m), Store(c, m)); }, [&] { c.back(C); });
}

PEER peer_trmm(int n, int m, const float *A, const float *B, float *C) {
  Array<float> a(A, (long)n * n), b(B, (long)n * m), c((long)n * m);
  measure([&] { product_of(1, n, m, n, Lower(a, n), Matrix(b, m), Store(c, m)); }, [&] { c.back(C); });
}

// T[i, j][f] = sum over k of X[i, j, k] C[k][f], a product; then a sum over j with B.
__global__ void mttkrp_sum(int n, int r, const float *__restrict__ T, const float *__restrict__ B, float *__restrict__ M) {
  int i = blockIdx.x;
  for (int f = threadIdx.x; f < r; f += blockDim.x) {
    float sum = 0;
#pragma unroll 8
    for (int j = 0; j < n; j++)
      sum += T[((long)i * n + j) * r + f] * B[j * r + f];
    M[i * r + f] = sum;
  }
}

PEER peer_mttkrp(int n, int r, const float *X, const float *B, const float *C, float *M) {
  Array<float> x(X, (long)n * n * n), b(B, (long)n * r), c(C, (long)n * r), t((long)n * n * r), out((long)n * r);
  measure(
      [&] {
        product_of(1, n * n, r, n, Matrix(x, n), Matrix(c, r), Store(t, r));
        mttkrp_sum<<<n, 32>>>(n, r, t, b, out);
      },
      [&] { out.back(M); });
}

// A warp a row.
__global__ void matvec(int n, int m, const float *__restrict__ A, const float *__restrict__ x, float *__restrict__ y) {
  int row = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (row >= n)
    return;
  const float *a = A + (long)row * m;
  float sum = 0;
  if (m % 4 == 0)
    for (int j = lane; j < m / 4; j += 32) {
      float4 u = ((const float4 *)a)[j], v = ((const float4 *)x)[j];
      sum += u.x * v.x + u.y * v.y + u.z * v.z + u.w * v.w;
    }
  else
    for (int j = lane; j < m; j += 32)
      sum += a[j] * x[j];
  sum = warp_sum(sum);
  if (lane == 0)
    y[row] = sum;
}

PEER peer_matvec(int n, int m, const float *A, const float *x, float *y) {
  Array<float> a(A, (long)n * m), dx(x, m), dy(n);
  measure([&] { matvec<<<blocks(n, 8), 256>>>(n, m, a, dx, dy); }, [&] { dy.back(y); });
}

__global__ void matvec_t(int n, int m, const float *__restrict__ A, const float *__restrict__ x, float *y) {
  int j = blockIdx.x * blockDim.x + threadIdx.x;
  if (j >= m)
    return;
  float sum = 0;
#pragma unroll 8
  for (int i = blockIdx.y; i < n; i += gridDim.y)
    sum += A[(long)i * m + j] * x[i];
  atomicAdd(y + j, sum);
}

PEER peer_matvec_t(int n, int m, const float *A, const float *x, float *y) {
  Array<float> a(A, (long)n * m), dx(x, n), dy(m);
  measure(
      [&] {
        cudaMemsetAsync(dy, 0, m * sizeof(float));
        matvec_t<<<dim3(blocks(m, 128), 64), 128>>>(n, m, a, dx, dy);
      },
      [&] { dy.back(y); });
}

__global__ void rank_one(int n, int m, float alpha, const float *__restrict__ x, const float *__restrict__ y, float *__restrict__ A) {
  float u = alpha * x[blockIdx.y];
  float *row = A + (long)blockIdx.y * m;
  int j = blockIdx.x * blockDim.x + threadIdx.x;
  if (m % 4 == 0) {
    if (j < m / 4) {
      float4 a = ((float4 *)row)[j], v = ((const float4 *)y)[j];
      ((float4 *)row)[j] = make_float4(a.x + u * v.x, a.y + u * v.y, a.z + u * v.z, a.w + u * v.w);
    }
    return;
  }
  for (; j < m; j += gridDim.x * blockDim.x)
    row[j] += u * y[j];
}

PEER peer_rank_one(int n, int m, float alpha, const float *x, const float *y, float *A) {
  Array<float> dx(x, n), dy(y, m), a(A, (long)n * m);
  measure([&] { rank_one<<<dim3(blocks(m, 1024), n), 256>>>(n, m, alpha, dx, dy, a); }, [&] { a.back(A); });
}

__global__ void means(int n, int m, const float *__restrict__ x, float *mean) {
  int j = blockIdx.x * blockDim.x + threadIdx.x;
  if (j >= m)
    return;
  float sum = 0;
  for (int i = blockIdx.y; i < n; i += gridDim.y)
    sum += x[(long)i * m + j];
  atomicAdd(mean + j, sum / n);
}

struct Centred : Whole {
  static constexpr bool ROWS = false, COLUMNS = false;
  const float *data, *mean;
  int width;
  bool left;
  Centred(const float *data, const float *mean, int width, bool left) : data(data), mean(mean), width(width), left(left) {}
  // As the left operand transposed: its row is the data's column.
  __device__ float operator()(int, int i, int j) const {
    int row = left ? j : i, column = left ? i : j;
    return data[(long)row * width + column] - mean[column];
  }
};

struct StoreBoth : Store {
  using Store::Store;
  __device__ bool any(int top, int left) const { return left < top + TILE; }
  __device__ void operator()(int, int i, int j, float v) const {
    if (j <= i)
      data[(long)i * width + j] = data[(long)j * width + i] = alpha * v;
  }
};

PEER peer_covariance(int n, int m, float *x, float *mean, float *c) {
  Array<float> dx(x, (long)n * m), dm(m), dc((long)m * m);
  measure(
      [&] {
        cudaMemsetAsync(dm, 0, m * sizeof(float));
        means<<<dim3(blocks(m, 128), 32), 128>>>(n, m, dx, dm);
        product_of(1, m, m, n, Centred(dx, dm, m, true), Centred(dx, dm, m, false), StoreBoth(dc, m, 0, 1.0f / (n - 1)));
      },
      [&] {
        dm.back(mean);
        dc.back(c);
      });
}

// Differences, not products: tiles as above.
__global__ void __launch_bounds__(256) distances(int n, int m, int d, const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ y) {
  __shared__ float as[DEEP][TILE + 4], bs[DEEP][TILE + 4];
  int top = blockIdx.y * TILE, left = blockIdx.x * TILE, r = threadIdx.x / 16 * 4, c = threadIdx.x % 16 * 4;
  float sums[4][4] = {{0}};
  for (int first = 0; first < d; first += DEEP) {
    for (int at = threadIdx.x; at < TILE * DEEP; at += 256) {
      int i = at / DEEP, k = at % DEEP;
      as[k][i] = top + i < n && first + k < d ? a[(long)(top + i) * d + first + k] : 0;
      bs[k][i] = left + i < m && first + k < d ? b[(long)(left + i) * d + first + k] : 0;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < DEEP; k++)
#pragma unroll
      for (int p = 0; p < 4; p++)
#pragma unroll
        for (int q = 0; q < 4; q++) {
          float v = as[k][r + p] - bs[k][c + q];
          sums[p][q] += v * v;
        }
    __syncthreads();
  }
#pragma unroll
  for (int p = 0; p < 4; p++)
#pragma unroll
    for (int q = 0; q < 4; q++)
      if (top + r + p < n && left + c + q < m)
        y[(long)(top + r + p) * m + left + c + q] = sqrtf(sums[p][q]);
}

PEER peer_distances(int n, int m, int d, const float *a, const float *b, float *y) {
  Array<float> da(a, (long)n * d), db(b, (long)m * d), dy((long)n * m);
  measure([&] { distances<<<dim3(blocks(m, TILE), blocks(n, TILE)), 256>>>(n, m, d, da, db, dy); }, [&] { dy.back(y); });
}

// A thread a point, whose coordinates are in registers (up to 64); centres pass through shared memory, 32 at a time.
__global__ void __launch_bounds__(128) assign(int n, int k, int d, const float *__restrict__ x, const float *__restrict__ centre, int *__restrict__ nearest) {
  __shared__ float centres[32][64], points[128][33];
  long top = blockIdx.x * 128l, i = top + threadIdx.x;
  float p[64];
#pragma unroll
  for (int half = 0; half < 2; half++) {
    __syncthreads();
    for (int e = threadIdx.x; e < 128 * 32; e += 128) {
      int row = e / 32, j = half * 32 + e % 32;
      points[row][e % 32] = top + row < n && j < d ? x[(top + row) * d + j] : 0;
    }
    __syncthreads();
#pragma unroll
    for (int j = 0; j < 32; j++)
      p[half * 32 + j] = points[threadIdx.x][j];
  }
  float least = INFINITY;
  int best = 0;
  for (int first = 0; first < k; first += 32) {
    int count = min(32, k - first);
    __syncthreads();
    for (int e = threadIdx.x; e < count * 64; e += 128)
      centres[e / 64][e % 64] = e % 64 < d ? centre[(long)(first + e / 64) * d + e % 64] : 0;
    __syncthreads();
    for (int c = 0; c < count; c++) {
      float sum = 0;
#pragma unroll
      for (int j = 0; j < 64; j++)
        sum += (p[j] - centres[c][j]) * (p[j] - centres[c][j]);
      if (sum < least)
        least = sum, best = first + c;
    }
  }
  if (i < n)
    nearest[i] = best;
}

PEER peer_assign(int n, int k, int d, const float *x, const float *centre, int *nearest) {
  Array<float> dx(x, (long)n * d), dc(centre, (long)k * d);
  Array<int> dn(n);
  measure([&] { assign<<<blocks(n, 128), 128>>>(n, k, d, dx, dc, dn); }, [&] { dn.back(nearest); });
}

__constant__ float MOTION[12];

// Points pass through shared memory, so that lanes load and store neighbours.
__global__ void transform(long n, const float *__restrict__ p, float *__restrict__ q) {
  __shared__ float s[768];
  long first = blockIdx.x * 768l, all = 3 * n;
  for (int k = threadIdx.x; k < 768; k += 256)
    s[k] = first + k < all ? p[first + k] : 0;
  __syncthreads();
  float x = s[3 * threadIdx.x], y = s[3 * threadIdx.x + 1], z = s[3 * threadIdx.x + 2];
#pragma unroll
  for (int j = 0; j < 3; j++)
    s[3 * threadIdx.x + j] = MOTION[4 * j] * x + MOTION[4 * j + 1] * y + MOTION[4 * j + 2] * z + MOTION[4 * j + 3];
  __syncthreads();
  for (int k = threadIdx.x; k < 768; k += 256)
    if (first + k < all)
      q[first + k] = s[k];
}

PEER peer_transform(long n, const float *R, const float *p, float *q) {
  Array<float> dp(p, 3 * n), dq(3 * n);
  CHECK(cudaMemcpyToSymbol(MOTION, R, sizeof MOTION));
  measure([&] { transform<<<blocks(n, 256), 256>>>(n, dp, dq); }, [&] { dq.back(q); });
}

// C[i] = transposed B times A[i].
PEER peer_contract(int n, const float *A, const float *B, float *C) {
  long nnn = (long)n * n * n;
  Array<float> a(A, nnn), b(B, (long)n * n), c(nnn);
  measure([&] { product_of(n, n, n, n, Transposed(b, n), Matrix(a, n, (long)n * n), Store(c, n, (long)n * n)); }, [&] { c.back(C); });
}

// The window's elements of one image as a matrix: rows are channels, rows and columns of the window, columns the output's points.
template <int SIDE, int STEP> struct Window : Whole {
  static constexpr bool ROWS = false, COLUMNS = false;
  const float *data;
  int channels, side, out;
  Window(const float *data, int channels, int side, int out) : data(data), channels(channels), side(side), out(out) {}
  __device__ float operator()(int image, int k, int point) const {
    int d = k / (SIDE * SIDE), r = k / SIDE % SIDE, s = k % SIDE, p = point / out, q = point % out;
    return data[(((long)image * channels + d) * side + STEP * p + r) * side + STEP * q + s];
  }
};

struct StoreBias : Store {
  const float *bias;
  StoreBias(float *data, int width, long matrix, const float *bias) : Store(data, width, matrix), bias(bias) {}
  __device__ void operator()(int t, int i, int j, float v) const { Store::operator()(t, i, j, v + bias[i]); }
};

struct StorePositive : Store {
  using Store::Store;
  __device__ void operator()(int t, int i, int j, float v) const { Store::operator()(t, i, j, fmaxf(v, 0)); }
};

PEER peer_conv3x3(int b, int k, int c, int n, const float *x, const float *w, float *y) {
  long all = (long)b * k * n * n;
  Array<float> dx(x, (long)b * c * (n + 2) * (n + 2)), dw(w, (long)k * c * 9), dy(all);
  measure([&] { product_of(b, k, n * n, c * 9, Matrix(dw, c * 9), Window<3, 1>(dx, c, n + 2, n), Store(dy, n * n, (long)k * n * n)); }, [&] { dy.back(y); });
}

PEER peer_conv1x1(int b, int k, int c, int n, const float *x, const float *w, const float *bias, float *y) {
  long all = (long)b * k * n;
  Array<float> dx(x, (long)b * c * n), dw(w, (long)k * c), db(bias, k), dy(all);
  measure([&] { product_of(b, k, n, c, Matrix(dw, c), Matrix(dx, n, (long)c * n), StoreBias(dy, n, (long)k * n, db)); }, [&] { dy.back(y); });
}

PEER peer_conv_strided(int b, int k, int c, int n, const float *x, const float *w, float *y) {
  long all = (long)b * k * n * n;
  Array<float> dx(x, (long)b * c * (2 * n + 5) * (2 * n + 5)), dw(w, (long)k * c * 49), dy(all);
  measure([&] { product_of(b, k, n * n, c * 49, Matrix(dw, c * 49), Window<7, 2>(dx, c, 2 * n + 5, n), StorePositive(dy, n * n, (long)k * n * n)); },
          [&] { dy.back(y); });
}

// A column of eight outputs a thread.
__global__ void depthwise(int c, int n, const float *__restrict__ x, const float *__restrict__ w, float *__restrict__ y) {
  int plane = blockIdx.z, q = blockIdx.x * blockDim.x + threadIdx.x, top = blockIdx.y * 8;
  if (q >= n)
    return;
  float weight[9];
#pragma unroll
  for (int k = 0; k < 9; k++)
    weight[k] = w[plane % c * 9 + k];
  float sums[8] = {0};
#pragma unroll
  for (int row = 0; row < 10; row++) {
    if (top + row >= n + 2)
      break;
    const float *at = x + ((long)plane * (n + 2) + top + row) * (n + 2) + q;
    float v[3] = {at[0], at[1], at[2]};
#pragma unroll
    for (int r = 0; r < 3; r++)
      if (row - r >= 0 && row - r < 8)
        sums[row - r] += weight[3 * r] * v[0] + weight[3 * r + 1] * v[1] + weight[3 * r + 2] * v[2];
  }
#pragma unroll
  for (int k = 0; k < 8; k++)
    if (top + k < n)
      y[((long)plane * n + top + k) * n + q] = sums[k];
}

PEER peer_depthwise(int b, int c, int n, const float *x, const float *w, float *y) {
  Array<float> dx(x, (long)b * c * (n + 2) * (n + 2)), dw(w, 9l * c), dy((long)b * c * n * n);
  measure([&] { depthwise<<<dim3(blocks(n, 128), blocks(n, 8), b * c), 128>>>(c, n, dx, dw, dy); }, [&] { dy.back(y); });
}

__global__ void max_pool(long rows, int m, const float2 *__restrict__ x, float *__restrict__ y) {
  EACH(e, rows * m) {
    long row = e / m;
    int j = (int)(e % m);
    float2 a = x[2 * row * m + j], b = x[(2 * row + 1) * m + j];
    y[e] = fmaxf(fmaxf(a.x, a.y), fmaxf(b.x, b.y));
  }
}

PEER peer_max_pool(int planes, int n, int m, const float *x, float *y) {
  long all = (long)planes * n * m;
  Array<float2> dx(x, 2 * all);
  Array<float> dy(all);
  measure([&] { max_pool<<<blocks(all, 512), 256>>>((long)planes * n, m, dx, dy); }, [&] { dy.back(y); });
}
