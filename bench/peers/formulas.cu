// Peers of bench/everyday2/formulas.c: a thread an element, shared memory where all meet all.
#include "peer.h"

double peer_kernel_ms, peer_call_ms;

__device__ inline float normal(float x) { return 0.5f * erfcf(-x * 0.70710678f); }

__global__ void black_scholes(long n, float rate, float volatility, const float *__restrict__ price, const float *__restrict__ strike,
                              const float *__restrict__ years, float *__restrict__ call, float *__restrict__ put) {
  EACH(i, n) {
    float root = volatility * sqrtf(years[i]);
    float d1 = (logf(price[i] / strike[i]) + (rate + 0.5f * volatility * volatility) * years[i]) / root;
    float d2 = d1 - root, discount = strike[i] * expf(-rate * years[i]);
    float c1 = normal(d1), c2 = normal(d2);
    call[i] = price[i] * c1 - discount * c2;
    put[i] = discount * (1 - c2) - price[i] * (1 - c1);
  }
}

PEER peer_black_scholes(long n, float rate, float volatility, const float *price, const float *strike, const float *years, float *call, float *put) {
  Array<float> dp(price, n), ds(strike, n), dy(years, n), dc(n), dq(n);
  measure([&] { black_scholes<<<blocks(n, 256), 256>>>(n, rate, volatility, dp, ds, dy, dc, dq); },
          [&] {
            dc.back(call);
            dq.back(put);
          });
}

__global__ void option_grid(int n, int m, double price, double rate, double volatility, const double *__restrict__ strike, const double *__restrict__ years,
                            double *__restrict__ value) {
  int i = blockIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
  if (j >= m)
    return;
  double root = volatility * sqrt(years[j]);
  double d1 = (log(price / strike[i]) + (rate + 0.5 * volatility * volatility) * years[j]) / root;
  value[(long)i * m + j] = 0.5 * (price * erfc(-d1 * 0.7071067811865476) - strike[i] * exp(-rate * years[j]) * erfc((root - d1) * 0.7071067811865476));
}

PEER peer_option_grid(int n, int m, double price, double rate, double volatility, const double *strike, const double *years, double *value) {
  Array<double> ds(strike, n), dy(years, m), dv((long)n * m);
  measure([&] { option_grid<<<dim3(blocks(m, 128), n), 128>>>(n, m, price, rate, volatility, ds, dy, dv); }, [&] { dv.back(value); });
}

// Bodies pass through shared memory, 256 at a time.
__global__ void nbody(int n, const float *__restrict__ p, const float *__restrict__ mass, float *__restrict__ a) {
  __shared__ float4 other[256];
  int i = blockIdx.x * 256 + threadIdx.x;
  float x = 0, y = 0, z = 0, ax = 0, ay = 0, az = 0;
  if (i < n)
    x = p[3 * i], y = p[3 * i + 1], z = p[3 * i + 2];
  for (int first = 0; first < n; first += 256) {
    int j = first + threadIdx.x;
    __syncthreads();
    other[threadIdx.x] = j < n ? make_float4(p[3 * j], p[3 * j + 1], p[3 * j + 2], mass[j]) : make_float4(0, 0, 0, 0);
    __syncthreads();
#pragma unroll 8
    for (int k = 0; k < 256; k++) {
      float4 o = other[k];
      float dx = o.x - x, dy = o.y - y, dz = o.z - z;
      float r = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
      float s = o.w * r * r * r;
      ax += s * dx, ay += s * dy, az += s * dz;
    }
  }
  if (i < n)
    a[3 * i] = ax, a[3 * i + 1] = ay, a[3 * i + 2] = az;
}

PEER peer_nbody(int n, const float *p, const float *mass, float *a) {
  Array<float> dp(p, 3l * n), dm(mass, n), da(3l * n);
  measure([&] { nbody<<<blocks(n, 256), 256>>>(n, dp, dm, da); }, [&] { da.back(a); });
}

// Charges pass through shared memory; a thread has one point of the grid.
__global__ void potential(int n, int m, const float *__restrict__ x, const float *__restrict__ y, const float *__restrict__ charge, float *__restrict__ v) {
  __shared__ float xs[256], ys[256], cs[256];
  int j = blockIdx.x * 256 + threadIdx.x, i = blockIdx.y;
  float sum = 0;
  for (int first = 0; first < n; first += 256) {
    int k = first + threadIdx.x;
    __syncthreads();
    xs[threadIdx.x] = k < n ? x[k] : 0, ys[threadIdx.x] = k < n ? y[k] : 0, cs[threadIdx.x] = k < n ? charge[k] : 0;
    __syncthreads();
#pragma unroll 8
    for (int t = 0; t < 256; t++) {
      float dx = xs[t] - j, dy = ys[t] - i;
      sum += cs[t] * rsqrtf(dx * dx + dy * dy + 1);
    }
  }
  if (j < m)
    v[(long)i * m + j] = sum;
}

PEER peer_potential(int n, int m, const float *x, const float *y, const float *charge, float *v) {
  Array<float> dx(x, n), dy(y, n), dc(charge, n), dv((long)m * m);
  measure([&] { potential<<<dim3(blocks(m, 256), m), 256>>>(n, m, dx, dy, dc, dv); }, [&] { dv.back(v); });
}

// A block a box; each of the 27 neighbours passes through shared memory.
__global__ void boxes(int n, int k, const float4 *__restrict__ p, float4 *__restrict__ f) {
  __shared__ float4 other[128];
  int x = blockIdx.z + 1, y = blockIdx.y + 1, z = blockIdx.x + 1, i = threadIdx.x;
  long mine = (((long)x * n + y) * n + z) * k;
  float4 me = i < k ? p[mine + i] : make_float4(0, 0, 0, 0), sum = make_float4(0, 0, 0, 0);
  for (int a = -1; a <= 1; a++)
    for (int b = -1; b <= 1; b++)
      for (int c = -1; c <= 1; c++) {
        long box = (((long)(x + a) * n + y + b) * n + z + c) * k;
        __syncthreads();
        if (i < k)
          other[i] = p[box + i];
        __syncthreads();
        for (int j = 0; j < k; j++) {
          float4 o = other[j];
          float dx = me.x - o.x, dy = me.y - o.y, dz = me.z - o.z;
          float w = o.w * expf(-0.5f * (dx * dx + dy * dy + dz * dz));
          sum.x += w, sum.y += w * dx, sum.z += w * dy, sum.w += w * dz;
        }
      }
  if (i < k)
    f[mine + i] = sum;
}

PEER peer_boxes(int n, int k, const float *p, float *f) {
  long all = (long)n * n * n * k;
  Array<float4> dp(p, all), df(f, all);
  measure([&] { boxes<<<dim3(n - 2, n - 2, n - 2), 128>>>(n, k, dp, df); }, [&] { df.back(f); });
}

__constant__ double COEFFICIENTS[16];

__global__ void polynomial(long n, const double *__restrict__ x, double *__restrict__ y) {
  EACH(i, n) {
    double v = COEFFICIENTS[15], u = x[i];
#pragma unroll
    for (int k = 14; k >= 0; k--)
      v = v * u + COEFFICIENTS[k];
    y[i] = v;
  }
}

PEER peer_polynomial(long n, const double *c, const double *x, double *y) {
  Array<double> dx(x, n), dy(n);
  CHECK(cudaMemcpyToSymbol(COEFFICIENTS, c, sizeof COEFFICIENTS));
  measure([&] { polynomial<<<blocks(n, 512), 256>>>(n, dx, dy); }, [&] { dy.back(y); });
}

__global__ void complex_product(long n, const float4 *__restrict__ a, const float4 *__restrict__ b, float4 *__restrict__ c) {
  EACH(i, n / 2) {
    float4 u = a[i], v = b[i];
    c[i] = make_float4(u.x * v.x - u.y * v.y, u.x * v.y + u.y * v.x, u.z * v.z - u.w * v.w, u.z * v.w + u.w * v.z);
  }
  EACH(i, n % 2) {
    float2 u = ((const float2 *)a)[n - 1], v = ((const float2 *)b)[n - 1];
    ((float2 *)c)[n - 1] = make_float2(u.x * v.x - u.y * v.y, u.x * v.y + u.y * v.x);
  }
}

PEER peer_complex_product(long n, const float *a, const float *b, float *c) {
  Array<float> da(a, 2 * n), db(b, 2 * n), dc(2 * n);
  measure([&] { complex_product<<<blocks(n, 512), 256>>>(n, (const float4 *)da.data, (const float4 *)db.data, (float4 *)dc.data); }, [&] { dc.back(c); });
}

__global__ void haversine(int n, int m, const float *__restrict__ lat1, const float *__restrict__ lon1, const float *__restrict__ lat2,
                          const float *__restrict__ lon2, float *__restrict__ d) {
  int i = blockIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
  if (j >= m)
    return;
  float u = sinf((lat2[j] - lat1[i]) * 0.5f), v = sinf((lon2[j] - lon1[i]) * 0.5f);
  d[(long)i * m + j] = 12742 * asinf(sqrtf(u * u + cosf(lat1[i]) * cosf(lat2[j]) * v * v));
}

PEER peer_haversine(int n, int m, const float *lat1, const float *lon1, const float *lat2, const float *lon2, float *d) {
  Array<float> a(lat1, n), b(lon1, n), c(lat2, m), e(lon2, m), dd((long)n * m);
  measure([&] { haversine<<<dim3(blocks(m, 256), n), 256>>>(n, m, a, b, c, e, dd); }, [&] { dd.back(d); });
}

__global__ void waves(long n, const double *__restrict__ t, double *__restrict__ y) {
  EACH(i, n) y[i] = exp(-0.1 * t[i]) * sin(3 * t[i]) + pow(t[i], 1.5);
}

PEER peer_waves(long n, const double *t, double *y) {
  Array<double> dt(t, n), dy(n);
  measure([&] { waves<<<blocks(n, 256), 256>>>(n, dt, dy); }, [&] { dy.back(y); });
}

__global__ void lorenz(long n, int steps, float h, float *__restrict__ x, float *__restrict__ y, float *__restrict__ z) {
  EACH(i, n) {
    float a = x[i], b = y[i], c = z[i];
    for (int t = 0; t < steps; t++) {
      float da = 10 * (b - a), db = a * (28 - c) - b, dc = a * b - 2.6666667f * c;
      a += h * da, b += h * db, c += h * dc;
    }
    x[i] = a, y[i] = b, z[i] = c;
  }
}

PEER peer_lorenz(long n, int steps, float h, float *x, float *y, float *z) {
  Array<float> dx(x, n), dy(y, n), dz(z, n);
  measure([&] { lorenz<<<blocks(n, 256), 256>>>(n, steps, h, dx, dy, dz); },
          [&] {
            dx.back(x);
            dy.back(y);
            dz.back(z);
          });
}

__global__ void logistic(long n, const double *__restrict__ x, double *__restrict__ y) {
  EACH(i, n) y[i] = 1 / (1 + exp(-x[i]));
}

PEER peer_logistic(long n, const double *x, double *y) {
  Array<double> dx(x, n), dy(n);
  measure([&] { logistic<<<blocks(n, 512), 256>>>(n, dx, dy); }, [&] { dy.back(y); });
}

__global__ void polar(long n, const float *__restrict__ x, const float *__restrict__ y, float *__restrict__ r, float *__restrict__ angle) {
  EACH(i, n) {
    float u = x[i], v = y[i];
    r[i] = sqrtf(u * u + v * v);
    angle[i] = atan2f(v, u);
  }
}

PEER peer_polar(long n, const float *x, const float *y, float *r, float *angle) {
  Array<float> dx(x, n), dy(y, n), dr(n), da(n);
  measure([&] { polar<<<blocks(n, 512), 256>>>(n, dx, dy, dr, da); },
          [&] {
            dr.back(r);
            da.back(angle);
          });
}

__global__ void quadratic(long n, const float *__restrict__ a, const float *__restrict__ b, const float *__restrict__ c, float *__restrict__ x) {
  EACH(i, n) {
    float root = sqrtf(b[i] * b[i] - 4 * a[i] * c[i]), half = 0.5f / a[i];
    x[i] = (-b[i] + root) * half;
    x[n + i] = (-b[i] - root) * half;
  }
}

PEER peer_quadratic(long n, const float *a, const float *b, const float *c, float *x) {
  Array<float> da(a, n), db(b, n), dc(c, n), dx(2 * n);
  measure([&] { quadratic<<<blocks(n, 512), 256>>>(n, da, db, dc, dx); }, [&] { dx.back(x); });
}
