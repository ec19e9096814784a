// Peers of bench/sparse/particles.c.
#include "sparse.cuh"

__global__ void md_forces(int n, const int *__restrict__ start, const int *__restrict__ neighbour, const double *__restrict__ x, double cutoff, double *__restrict__ f) {
  int i = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (i >= n)
    return;
  double px = x[3l * i], py = x[3l * i + 1], pz = x[3l * i + 2], fx = 0, fy = 0, fz = 0;
  for (int k = start[i] + lane; k < start[i + 1]; k += 32) {
    const double *q = x + 3l * neighbour[k];
    double dx = px - q[0], dy = py - q[1], dz = pz - q[2], r2 = dx * dx + dy * dy + dz * dz;
    if (r2 < cutoff && r2 > 0) {
      double s = 1 / r2, s6 = s * s * s, force = 48 * s6 * (s6 - 0.5) * s;
      fx += dx * force, fy += dy * force, fz += dz * force;
    }
  }
  fx = group_sum<32>(fx), fy = group_sum<32>(fy), fz = group_sum<32>(fz);
  if (lane == 0)
    f[3l * i] = fx, f[3l * i + 1] = fy, f[3l * i + 2] = fz;
}

PEER peer_md_forces(int n, const int *start, const int *neighbour, const double *x, double cutoff, double *f) {
  int entries = start[n];
  Array<int> ds(start, n + 1), dn(neighbour, entries);
  Array<double> dx(x, 3l * n), df(3l * n);
  measure([&] { md_forces<<<blocks(n, 8), 256>>>(n, ds, dn, dx, cutoff, df); }, [&] { df.back(f); });
  least_bytes = 4.0 * entries + 52.0 * n;
}

__global__ void md_table(int n, int most, const int *__restrict__ count, const int *__restrict__ neighbour, const float *__restrict__ x, const float *__restrict__ y,
                         const float *__restrict__ z, float *__restrict__ energy) {
  int i = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (i >= n)
    return;
  float e = 0;
  for (int k = lane; k < count[i]; k += 32) {
    int j = neighbour[(long)i * most + k];
    float dx = x[i] - x[j], dy = y[i] - y[j], dz = z[i] - z[j];
    float s = 1.0f / (dx * dx + dy * dy + dz * dz + 0.01f);
    e += s * s * s;
  }
  e = group_sum<32>(e);
  if (lane == 0)
    energy[i] = e;
}

PEER peer_md_table(int n, int most, const int *count, const int *neighbour, const float *x, const float *y, const float *z, float *energy) {
  Array<int> dc(count, n), dn(neighbour, (long)n * most);
  Array<float> dx(x, n), dy(y, n), dz(z, n), de(n);
  measure([&] { md_table<<<blocks(n, 8), 256>>>(n, most, dc, dn, dx, dy, dz, de); }, [&] { de.back(energy); });
  least_bytes = 2.0 * n * most + 20.0 * n;
}

__global__ void md_pairs(int n, const int *__restrict__ start, const int *__restrict__ neighbour, const float *__restrict__ x, float *f) {
  int i = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (i >= n)
    return;
  float sum = 0;
  for (int k = start[i] + lane; k < start[i + 1]; k += 32) {
    int j = neighbour[k];
    float d = x[i] - x[j], force = d / (d * d + 0.1f);
    sum += force;
    atomicAdd(&f[j], -force);
  }
  sum = group_sum<32>(sum);
  if (lane == 0)
    atomicAdd(&f[i], sum);
}

PEER peer_md_pairs(int n, const int *start, const int *neighbour, const float *x, float *f) {
  int entries = start[n];
  Array<int> ds(start, n + 1), dn(neighbour, entries);
  Array<float> dx(x, n), df(f, n);
  measure([&] { md_pairs<<<blocks(n, 8), 256>>>(n, ds, dn, dx, df); }, [&] { df.back(f); });
  least_bytes = 4.0 * entries + 16.0 * n;
}

__global__ void pic_deposit(long n, int nx, const float *__restrict__ x, const float *__restrict__ y, const float *__restrict__ charge, float *density) {
  EACH(p, n) {
    int i = (int)x[p], j = (int)y[p];
    float a = x[p] - i, b = y[p] - j, q = charge[p];
    float *d = density + (long)j * nx + i;
    atomicAdd(d, q * (1 - a) * (1 - b)), atomicAdd(d + 1, q * a * (1 - b)), atomicAdd(d + nx, q * (1 - a) * b), atomicAdd(d + nx + 1, q * a * b);
  }
}

PEER peer_pic_deposit(long n, int nx, int ny, const float *x, const float *y, const float *charge, float *density) {
  Array<float> dx(x, n), dy(y, n), dq(charge, n), dd(density, (long)nx * ny);
  measure([&] { pic_deposit<<<blocks(n, 256), 256>>>(n, nx, dx, dy, dq, dd); }, [&] { dd.back(density); });
  least_bytes = 12.0 * n + 8.0 * nx * ny;
}

__global__ void pic_push(long n, int nx, float dt, const float *__restrict__ field, const float *__restrict__ y, const float *__restrict__ x, float *__restrict__ v) {
  EACH(p, n) {
    int i = (int)x[p], j = (int)y[p];
    float a = x[p] - i, b = y[p] - j;
    const float *f = field + (long)j * nx + i;
    v[p] += dt * ((1 - b) * ((1 - a) * f[0] + a * f[1]) + b * ((1 - a) * f[nx] + a * f[nx + 1]));
  }
}

PEER peer_pic_push(long n, int nx, int ny, float dt, const float *field, const float *y, float *x, float *v) {
  Array<float> df(field, (long)nx * ny), dx(x, n), dy(y, n), dv(v, n);
  measure([&] { pic_push<<<blocks(n, 256), 256>>>(n, nx, dt, df, dy, dx, dv); }, [&] { dv.back(v); });
  least_bytes = 16.0 * n + 4.0 * nx * ny;
}

__global__ void cell_counts(long n, int nx, const float *__restrict__ x, const float *__restrict__ y, int *count) {
  EACH(p, n) atomicAdd(&count[(long)(int)y[p] * nx + (int)x[p]], 1);
}

PEER peer_cell_counts(long n, int nx, const float *x, const float *y, int *count) {
  Array<float> dx(x, n), dy(y, n);
  Array<int> dc(count, (long)nx * nx);
  measure([&] { cell_counts<<<blocks(n, 256), 256>>>(n, nx, dx, dy, dc); }, [&] { dc.back(count); });
  least_bytes = 8.0 * n + 8.0 * nx * nx;
}

__global__ void nearest_mean(int n, const int *__restrict__ nearest, const float *__restrict__ value, float *__restrict__ mean) {
  long t = blockIdx.x * (long)blockDim.x + threadIdx.x;
  float sum = group_sum<16>(t < 16l * n ? value[nearest[t]] : 0.0f);
  if (t < 16l * n && t % 16 == 0)
    mean[t / 16] = sum * (1.0f / 16);
}

PEER peer_nearest_mean(int n, const int *nearest, const float *value, float *mean) {
  Array<int> dn(nearest, 16l * n);
  Array<float> dv(value, n), dm(n);
  measure([&] { nearest_mean<<<blocks(16l * n, 256), 256>>>(n, dn, dv, dm); }, [&] { dm.back(mean); });
  least_bytes = 72.0 * n;
}
