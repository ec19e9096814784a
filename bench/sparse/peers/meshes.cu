// Peers of bench/sparse/meshes.c: a thread for an edge, cell or element, atomic sums.
#include "sparse.cuh"

__global__ void edge_flux(long edges, const int *__restrict__ left, const int *__restrict__ right, const double *__restrict__ area, const double *__restrict__ u,
                          double *residual) {
  EACH(e, edges) {
    int a = left[e], b = right[e];
    double ua = u[a], ub = u[b], mean = 0.5 * (ua + ub);
    double flux = area[e] * (mean * mean - 0.5 * fabs(mean) * (ub - ua));
    atomicAdd(&residual[a], -flux);
    atomicAdd(&residual[b], flux);
  }
}

static int most(const int *index, long n) { return n ? *std::max_element(index, index + n) + 1 : 0; }

PEER peer_edge_flux(long edges, const int *left, const int *right, const double *area, const double *u, double *residual) {
  int cells = std::max(most(left, edges), most(right, edges));
  Array<int> da(left, edges), db(right, edges);
  Array<double> dw(area, edges), du(u, cells), dr(residual, cells);
  measure([&] { edge_flux<<<blocks(edges, 256), 256>>>(edges, da, db, dw, du, dr); }, [&] { dr.back(residual); });
  least_bytes = 16.0 * edges + 24.0 * cells;
}

__global__ void face_flux(long edges, const int2 *__restrict__ cells, const double *__restrict__ area, const double *__restrict__ u, double *__restrict__ flux) {
  EACH(e, edges) {
    int2 c = cells[e];
    double a = u[c.x], b = u[c.y], mean = 0.5 * (a + b);
    flux[e] = area[e] * (mean * mean - 0.5 * fabs(mean) * (b - a));
  }
}

PEER peer_face_flux(long edges, const int *cells, const double *area, const double *u, double *flux) {
  int n = most(cells, 2 * edges);
  Array<int> dc(cells, 2 * edges);
  Array<double> dw(area, edges), du(u, n), df(edges);
  measure([&] { face_flux<<<blocks(edges, 256), 256>>>(edges, (const int2 *)dc.data, dw, du, df); }, [&] { df.back(flux); });
  least_bytes = 24.0 * edges + 8.0 * n;
}

__global__ void cell_gradient(int cells, const int *__restrict__ start, const int *__restrict__ edge, const int *__restrict__ other, const double2 *__restrict__ normal,
                              const double *__restrict__ volume, const double *__restrict__ u, double2 *__restrict__ gradient) {
  int c = (blockIdx.x * blockDim.x + threadIdx.x) / 4, lane = threadIdx.x % 4;
  double x = 0, y = 0;
  if (c < cells)
    for (int k = start[c] + lane; k < start[c + 1]; k += 4) {
      double mean = 0.5 * (u[c] + u[other[k]]);
      double2 n = normal[edge[k]];
      x += mean * n.x, y += mean * n.y;
    }
  x = group_sum<4>(x), y = group_sum<4>(y);
  if (c < cells && lane == 0)
    gradient[c] = make_double2(x / volume[c], y / volume[c]);
}

PEER peer_cell_gradient(int cells, const int *start, const int *edge, const int *other, const double *normal, const double *volume, const double *u, double *gradient) {
  int entries = start[cells], edges = most(edge, entries);
  Array<int> ds(start, cells + 1), de(edge, entries), dn(other, entries);
  Array<double> normals(normal, 2l * edges), dv(volume, cells), du(u, cells), dg(2l * cells);
  measure([&] { cell_gradient<<<blocks(4l * cells, 256), 256>>>(cells, ds, de, dn, (const double2 *)normals.data, dv, du, (double2 *)dg.data); }, [&] { dg.back(gradient); });
  least_bytes = 8.0 * entries + 16.0 * edges + 36.0 * cells;
}

__global__ void corners(long elements, const int4 *__restrict__ node, const double *__restrict__ x, double *__restrict__ mean) {
  EACH(e, elements) {
    int4 a = node[2 * e], b = node[2 * e + 1];
    mean[e] = (x[a.x] + x[a.y] + x[a.z] + x[a.w] + x[b.x] + x[b.y] + x[b.z] + x[b.w]) / 8;
  }
}

PEER peer_corners(long elements, const int *node, const double *x, double *mean) {
  int n = most(node, 8 * elements);
  Array<int> dn(node, 8 * elements);
  Array<double> dx(x, n), dm(elements);
  measure([&] { corners<<<blocks(elements, 256), 256>>>(elements, (const int4 *)dn.data, dx, dm); }, [&] { dm.back(mean); });
  least_bytes = 40.0 * elements + 8.0 * n;
}

__global__ void assemble_load(long elements, const int4 *__restrict__ node, const double *__restrict__ volume, const double *__restrict__ source, double *load) {
  EACH(e, elements) {
    double part = source[e] * volume[e] / 4;
    int4 n = node[e];
    atomicAdd(&load[n.x], part), atomicAdd(&load[n.y], part), atomicAdd(&load[n.z], part), atomicAdd(&load[n.w], part);
  }
}

PEER peer_assemble_load(long elements, const int *node, const double *volume, const double *source, double *load) {
  int n = most(node, 4 * elements);
  Array<int> dn(node, 4 * elements);
  Array<double> dv(volume, elements), ds(source, elements), dl(load, n);
  measure([&] { assemble_load<<<blocks(elements, 256), 256>>>(elements, (const int4 *)dn.data, dv, ds, dl); }, [&] { dl.back(load); });
  least_bytes = 32.0 * elements + 16.0 * n;
}

// Four lanes for an element: each has a row.
__global__ void apply_stiffness(long elements, const int *__restrict__ node, const double2 *__restrict__ stiffness, const double *__restrict__ u, double *f) {
  EACH(t, 4 * elements) {
    int n = node[t];
    double own = u[n];
    double2 a = stiffness[2 * t], b = stiffness[2 * t + 1];
    double sum = a.x * __shfl_sync(~0u, own, 0, 4) + a.y * __shfl_sync(~0u, own, 1, 4) + b.x * __shfl_sync(~0u, own, 2, 4) + b.y * __shfl_sync(~0u, own, 3, 4);
    atomicAdd(&f[n], sum);
  }
}

PEER peer_apply_stiffness(long elements, const int *node, const double *stiffness, const double *u, double *f) {
  int n = most(node, 4 * elements);
  elements = elements / 8 * 8;
  Array<int> dn(node, 4 * elements);
  Array<double> dk(stiffness, 16 * elements), du(u, n), df(f, n);
  measure([&] { apply_stiffness<<<blocks(4 * elements, 256), 256>>>(elements, dn, (const double2 *)dk.data, du, df); }, [&] { df.back(f); });
  least_bytes = 144.0 * elements + 24.0 * n;
}

__global__ void assemble_matrix(long entries, const int *__restrict__ place, const double *__restrict__ stiffness, double *value) {
  EACH(k, entries) atomicAdd(&value[place[k]], stiffness[k]);
}

PEER peer_assemble_matrix(long elements, const int *place, const double *stiffness, double *value) {
  long entries = 16 * elements;
  int n = most(place, entries);
  Array<int> dp(place, entries);
  Array<double> dk(stiffness, entries), dv(value, n);
  measure([&] { assemble_matrix<<<blocks(entries, 256), 256>>>(entries, dp, dk, dv); }, [&] { dv.back(value); });
  least_bytes = 12.0 * entries + 16.0 * n;
}

__global__ void smooth(int nodes, const int *__restrict__ start, const int *__restrict__ neighbour, const float *__restrict__ x, float *__restrict__ y) {
  int i = (blockIdx.x * blockDim.x + threadIdx.x) / 8, lane = threadIdx.x % 8;
  float a = 0, b = 0, c = 0;
  int first = i < nodes ? start[i] : 0, end = i < nodes ? start[i + 1] : 0;
  for (int k = first + lane; k < end; k += 8) {
    const float *p = x + 3l * neighbour[k];
    a += p[0], b += p[1], c += p[2];
  }
  a = group_sum<8>(a), b = group_sum<8>(b), c = group_sum<8>(c);
  if (i < nodes && lane == 0) {
    int count = end - first;
    y[3l * i] = count > 0 ? a / count : x[3l * i];
    y[3l * i + 1] = count > 0 ? b / count : x[3l * i + 1];
    y[3l * i + 2] = count > 0 ? c / count : x[3l * i + 2];
  }
}

PEER peer_smooth(int nodes, const int *start, const int *neighbour, const float *x, float *y) {
  int entries = start[nodes];
  Array<int> ds(start, nodes + 1), dn(neighbour, entries);
  Array<float> dx(x, 3l * nodes), dy(3l * nodes);
  measure([&] { smooth<<<blocks(8l * nodes, 256), 256>>>(nodes, ds, dn, dx, dy); }, [&] { dy.back(y); });
  least_bytes = 4.0 * entries + 28.0 * nodes;
}
