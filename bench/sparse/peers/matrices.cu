// Peers of bench/sparse/matrices.c: groups of lanes for rows; cuSPARSE.
#include "sparse.cuh"
#ifdef WITH_CUSPARSE
#include <cusparse.h>
#endif

template <int LANES, typename T, typename I>
__global__ void csr(int n, T alpha, T beta, const I *__restrict__ start, const I *__restrict__ column, const T *__restrict__ value, const T *__restrict__ x, T *__restrict__ y) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / LANES, lane = threadIdx.x % LANES;
  T sum = 0;
  if (row < n)
    for (I k = start[row] + lane; k < start[row + 1]; k += LANES)
      sum += value[k] * x[column[k]];
  sum = group_sum<LANES>(sum);
  if (row < n && lane == 0)
    y[row] = beta == 0 ? alpha * sum : alpha * sum + beta * y[row];
}

#ifdef WITH_CUSPARSE
template <typename T, typename I> void csr_library(int n, I entries, T alpha, T beta, I *start, I *column, T *value, T *x, T *y) {
  cudaDataType type = sizeof(T) == 8 ? CUDA_R_64F : CUDA_R_32F;
  cusparseIndexType_t index = sizeof(I) == 8 ? CUSPARSE_INDEX_64I : CUSPARSE_INDEX_32I;
  cusparseHandle_t handle;
  cusparseSpMatDescr_t a;
  cusparseDnVecDescr_t dx, dy;
  cusparseCreate(&handle);
  cusparseCreateCsr(&a, n, n, entries, start, column, value, index, index, CUSPARSE_INDEX_BASE_ZERO, type);
  cusparseCreateDnVec(&dx, n, x, type);
  cusparseCreateDnVec(&dy, n, y, type);
  for (auto how : {CUSPARSE_SPMV_CSR_ALG1, CUSPARSE_SPMV_CSR_ALG2}) {
    size_t size = 0;
    cusparseSpMV_bufferSize(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &alpha, a, dx, &beta, dy, type, how, &size);
    Array<char> buffer(size + 1);
    cusparseSpMV_preprocess(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &alpha, a, dx, &beta, dy, type, how, buffer);
    library([&] { cusparseSpMV(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &alpha, a, dx, &beta, dy, type, how, buffer); });
  }
  cusparseDestroySpMat(a);
  cusparseDestroyDnVec(dx);
  cusparseDestroyDnVec(dy);
  cusparseDestroy(handle);
}
#endif

template <typename T, typename I> void run_csr(int n, T alpha, T beta, const I *start, const I *column, const T *value, const T *x, T *y) {
  I entries = start[n];
  Array<I> ds(start, n + 1), dc(column, entries);
  Array<T> dv(value, entries), dx(x, n), dy(y, n);
  auto with = [&](auto lanes) {
    constexpr int L = decltype(lanes)::value;
    return [&] { csr<L><<<blocks((long)n * L, 256), 256>>>(n, alpha, beta, (const I *)ds, (const I *)dc, (const T *)dv, (const T *)dx, (T *)dy); };
  };
  auto back = [&] { dy.back(y); };
  if (entries < 12l * n)
    measure(with(std::integral_constant<int, 4>()), back);
  else if (entries < 24l * n)
    measure(with(std::integral_constant<int, 16>()), back);
  else
    measure(with(std::integral_constant<int, 32>()), back);
#ifdef WITH_CUSPARSE
  csr_library<T, I>(n, entries, alpha, beta, ds, dc, dv, dx, dy);
#endif
  least_bytes = (double)entries * (sizeof(T) + sizeof(I)) + (double)n * (2 * sizeof(T) + sizeof(I));
}

#define CSR(name, T, I)                                                                                                                    \
  PEER peer_##name(int n, const I *start, const I *column, const T *value, const T *x, T *y) {                                             \
    run_csr<T, I>(n, 1, 0, start, column, value, x, y);                                                                                    \
  }

CSR(csr_double, double, int)
CSR(csr_float, float, int)
CSR(csr_long, float, long)
CSR(csr_skewed, double, int)
CSR(csr_banded, double, int)
CSR(csr_short, double, int)
CSR(csr_in_place, double, int)

PEER peer_csr_scaled(int n, float alpha, float beta, const int *start, const int *column, const float *value, const float *x, float *y) {
  run_csr<float, int>(n, alpha, beta, start, column, value, x, y);
}

__global__ void coo(long entries, const int *__restrict__ row, const int *__restrict__ column, const float *__restrict__ value, const float *__restrict__ x, float *y) {
  EACH(k, entries) atomicAdd(&y[row[k]], value[k] * x[column[k]]);
}

PEER peer_coo(long entries, const int *row, const int *column, const float *value, const float *x, float *y) {
  int n = row[entries - 1] + 1;
  Array<int> dr(row, entries), dc(column, entries);
  Array<float> dv(value, entries), dx(x, n), dy(y, n);
  measure([&] { coo<<<blocks(entries, 256), 256>>>(entries, dr, dc, dv, dx, dy); }, [&] { dy.back(y); });
#ifdef WITH_CUSPARSE
  float one = 1;
  cusparseHandle_t handle;
  cusparseSpMatDescr_t a;
  cusparseDnVecDescr_t vx, vy;
  cusparseCreate(&handle);
  cusparseCreateCoo(&a, n, n, entries, dr, dc, dv, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F);
  cusparseCreateDnVec(&vx, n, dx, CUDA_R_32F);
  cusparseCreateDnVec(&vy, n, dy, CUDA_R_32F);
  size_t size = 0;
  cusparseSpMV_bufferSize(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, a, vx, &one, vy, CUDA_R_32F, CUSPARSE_SPMV_COO_ALG1, &size);
  Array<char> buffer(size + 1);
  library([&] { cusparseSpMV(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, a, vx, &one, vy, CUDA_R_32F, CUSPARSE_SPMV_COO_ALG1, buffer); });
  cusparseDestroySpMat(a);
  cusparseDestroyDnVec(vx);
  cusparseDestroyDnVec(vy);
  cusparseDestroy(handle);
#endif
  least_bytes = 12.0 * entries + 8.0 * n;
}

__global__ void ell(int n, int width, const int *__restrict__ column, const double *__restrict__ value, const double *__restrict__ x, double *__restrict__ y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  double sum = 0;
#pragma unroll 4
  for (int k = 0; k < width; k++) {
    int c = column[(long)k * n + i];
    if (c >= 0)
      sum += value[(long)k * n + i] * x[c];
  }
  y[i] = sum;
}

PEER peer_ell(int n, int width, const int *column, const double *value, const double *x, double *y) {
  long all = (long)n * width;
  Array<int> dc(column, all);
  Array<double> dv(value, all), dx(x, n), dy(n);
  measure([&] { ell<<<blocks(n, 256), 256>>>(n, width, dc, dv, dx, dy); }, [&] { dy.back(y); });
  least_bytes = 12.0 * all + 16.0 * n;
}

// Half a warp for a row of blocks.
__global__ void blocks_of_3(int n, const int *__restrict__ start, const int *__restrict__ column, const double *__restrict__ value, const double *__restrict__ x,
                            double *__restrict__ y) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 16, lane = threadIdx.x % 16;
  double a = 0, b = 0, c = 0;
  if (row < n)
    for (int k = start[row] + lane; k < start[row + 1]; k += 16) {
      const double *v = value + 9l * k, *p = x + 3l * column[k];
      a += v[0] * p[0] + v[1] * p[1] + v[2] * p[2];
      b += v[3] * p[0] + v[4] * p[1] + v[5] * p[2];
      c += v[6] * p[0] + v[7] * p[1] + v[8] * p[2];
    }
  a = group_sum<16>(a), b = group_sum<16>(b), c = group_sum<16>(c);
  if (row < n && lane == 0)
    y[3l * row] = a, y[3l * row + 1] = b, y[3l * row + 2] = c;
}

PEER peer_blocks3(int n, const int *start, const int *column, const double *value, const double *x, double *y) {
  int entries = start[n];
  Array<int> ds(start, n + 1), dc(column, entries);
  Array<double> dv(value, 9l * entries), dx(x, 3l * n), dy(3l * n);
  measure([&] { blocks_of_3<<<blocks(16l * n, 256), 256>>>(n, ds, dc, dv, dx, dy); }, [&] { dy.back(y); });
  least_bytes = 76.0 * entries + 52.0 * n;
}

__global__ void csc(int n, const int *__restrict__ start, const int *__restrict__ row, const float *__restrict__ value, const float *__restrict__ x, float *y) {
  int j = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (j < n)
    for (int k = start[j] + lane; k < start[j + 1]; k += 32)
      atomicAdd(&y[row[k]], value[k] * x[j]);
}

PEER peer_csc(int n, const int *start, const int *row, const float *value, const float *x, float *y) {
  int entries = start[n];
  Array<int> ds(start, n + 1), dr(row, entries);
  Array<float> dv(value, entries), dx(x, n), dy(y, n);
  measure([&] { csc<<<blocks(n, 8), 256>>>(n, ds, dr, dv, dx, dy); }, [&] { dy.back(y); });
  least_bytes = 8.0 * entries + 12.0 * n;
}

// A warp for a row: a lane for a column of the dense matrix.
__global__ void spmm32(int n, const int *__restrict__ start, const int *__restrict__ column, const float *__restrict__ value, const float *__restrict__ x,
                       float *__restrict__ y) {
  int row = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (row >= n)
    return;
  float sum = 0;
#pragma unroll 4
  for (int k = start[row]; k < start[row + 1]; k++)
    sum += value[k] * x[32l * column[k] + lane];
  y[32l * row + lane] = sum;
}

PEER peer_spmm32(int n, const int *start, const int *column, const float *value, const float *x, float *y) {
  int entries = start[n];
  Array<int> ds(start, n + 1), dc(column, entries);
  Array<float> dv(value, entries), dx(x, 32l * n), dy(32l * n);
  measure([&] { spmm32<<<blocks(n, 8), 256>>>(n, ds, dc, dv, dx, dy); }, [&] { dy.back(y); });
#ifdef WITH_CUSPARSE
  float one = 1, zero = 0;
  cusparseHandle_t handle;
  cusparseSpMatDescr_t a;
  cusparseDnMatDescr_t mx, my;
  cusparseCreate(&handle);
  cusparseCreateCsr(&a, n, n, entries, ds, dc, dv, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F);
  cusparseCreateDnMat(&mx, n, 32, 32, dx, CUDA_R_32F, CUSPARSE_ORDER_ROW);
  cusparseCreateDnMat(&my, n, 32, 32, dy, CUDA_R_32F, CUSPARSE_ORDER_ROW);
  auto way = CUSPARSE_OPERATION_NON_TRANSPOSE;
  size_t size = 0;
  cusparseSpMM_bufferSize(handle, way, way, &one, a, mx, &zero, my, CUDA_R_32F, CUSPARSE_SPMM_CSR_ALG2, &size);
  Array<char> buffer(size + 1);
  library([&] { cusparseSpMM(handle, way, way, &one, a, mx, &zero, my, CUDA_R_32F, CUSPARSE_SPMM_CSR_ALG2, buffer); });
  cusparseDestroySpMat(a);
  cusparseDestroyDnMat(mx);
  cusparseDestroyDnMat(my);
  cusparseDestroy(handle);
#endif
  least_bytes = 8.0 * entries + 260.0 * n;
}

__global__ void sampled(int n, const int *__restrict__ start, const int *__restrict__ column, const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ out) {
  int row = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (row >= n)
    return;
  float own = a[32l * row + lane];
#pragma unroll 4
  for (int k = start[row]; k < start[row + 1]; k++) {
    float sum = group_sum<32>(own * b[32l * column[k] + lane]);
    if (lane == 0)
      out[k] = sum;
  }
}

PEER peer_sampled(int n, const int *start, const int *column, const float *a, const float *b, float *out) {
  int entries = start[n];
  Array<int> ds(start, n + 1), dc(column, entries);
  Array<float> da(a, 32l * n), db(b, 32l * n), dout(entries);
  measure([&] { sampled<<<blocks(n, 8), 256>>>(n, ds, dc, da, db, dout); }, [&] { dout.back(out); });
  least_bytes = 8.0 * entries + 260.0 * n;
}

__global__ void jacobi_rows(int n, const int *__restrict__ start, const int *__restrict__ column, const double *__restrict__ value, const double *__restrict__ b,
                            const double *__restrict__ x, double *__restrict__ y) {
  int row = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (row >= n)
    return;
  double sum = 0, diagonal = 0;
  for (int k = start[row] + lane; k < start[row + 1]; k += 32) {
    int j = column[k];
    if (j == row)
      diagonal = value[k];
    else
      sum += value[k] * x[j];
  }
  sum = group_sum<32>(sum), diagonal = group_sum<32>(diagonal);
  if (lane == 0)
    y[row] = (b[row] - sum) / (diagonal == 0 ? 1 : diagonal);
}

PEER peer_jacobi_rows(int n, const int *start, const int *column, const double *value, const double *b, const double *x, double *y) {
  int entries = start[n];
  Array<int> ds(start, n + 1), dc(column, entries);
  Array<double> dv(value, entries), db(b, n), dx(x, n), dy(n);
  measure([&] { jacobi_rows<<<blocks(n, 8), 256>>>(n, ds, dc, dv, db, dx, dy); }, [&] { dy.back(y); });
  least_bytes = 12.0 * entries + 28.0 * n;
}

__global__ void gauss_seidel(int first, int end, const int *__restrict__ member, const int *__restrict__ start, const int *__restrict__ column,
                             const double *__restrict__ value, const double *__restrict__ b, double *x) {
  int m = first + blockIdx.x * blockDim.x + threadIdx.x;
  if (m >= end)
    return;
  int i = member[m];
  double sum = b[i];
  for (int k = start[i]; k < start[i + 1]; k++)
    sum -= value[k] * x[column[k]];
  x[i] = sum * 0.25;
}

PEER peer_gauss_seidel(int colours, const int *first, const int *member, const int *start, const int *column, const double *value, const double *b, double *x) {
  int n = first[colours], entries = start[n];
  Array<int> dm(member, n), ds(start, n + 1), dc(column, entries);
  Array<double> dv(value, entries), db(b, n), dx(x, n);
  measure(
      [&] {
        for (int c = 0; c < colours; c++)
          gauss_seidel<<<blocks(first[c + 1] - first[c], 256), 256>>>(first[c], first[c + 1], dm, ds, dc, dv, db, dx);
      },
      [&] { dx.back(x); });
  least_bytes = 12.0 * entries + 32.0 * n;
}
