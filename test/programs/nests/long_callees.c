// What is done with one element of a mesh is a long function, with loops over corners and sides: each thread runs it for its element.
// ARGS: 40
// ARGS: 0
// ARGS: 1
// ARGS: 257
// OFFLOAD: yes
// KERNELS: strains forces
#include "example.h"
#include <math.h>
/* Derivatives of the shape functions of a hexahedron at its centre, and its Jacobian, written out as finite-element programs do. */
static void derivatives(const double x[8], const double y[8], const double z[8], double b[3][8], double *jacobian) {
  const double xr = 0.125 * ((x[6] - x[0]) + (x[5] - x[3]) - (x[7] - x[1]) - (x[4] - x[2]));
  const double xs = 0.125 * ((x[6] - x[0]) - (x[5] - x[3]) + (x[7] - x[1]) - (x[4] - x[2]));
  const double xt = 0.125 * ((x[6] - x[0]) + (x[5] - x[3]) + (x[7] - x[1]) + (x[4] - x[2]));
  const double yr = 0.125 * ((y[6] - y[0]) + (y[5] - y[3]) - (y[7] - y[1]) - (y[4] - y[2]));
  const double ys = 0.125 * ((y[6] - y[0]) - (y[5] - y[3]) + (y[7] - y[1]) - (y[4] - y[2]));
  const double yt = 0.125 * ((y[6] - y[0]) + (y[5] - y[3]) + (y[7] - y[1]) + (y[4] - y[2]));
  const double zr = 0.125 * ((z[6] - z[0]) + (z[5] - z[3]) - (z[7] - z[1]) - (z[4] - z[2]));
  const double zs = 0.125 * ((z[6] - z[0]) - (z[5] - z[3]) + (z[7] - z[1]) - (z[4] - z[2]));
  const double zt = 0.125 * ((z[6] - z[0]) + (z[5] - z[3]) + (z[7] - z[1]) + (z[4] - z[2]));
  const double cxr = ys * zt - zs * yt, cxs = -(yr * zt) + zr * yt, cxt = yr * zs - zr * ys;
  const double cyr = -(xs * zt) + zs * xt, cys = xr * zt - zr * xt, cyt = -(xr * zs) + zr * xs;
  const double czr = xs * yt - ys * xt, czs = -(xr * yt) + yr * xt, czt = xr * ys - yr * xs;
  const double r[3] = {cxr, cyr, czr}, s[3] = {cxs, cys, czs}, t[3] = {cxt, cyt, czt};
  for (int d = 0; d < 3; d++) {
    b[d][0] = -r[d] - s[d] - t[d];
    b[d][1] = r[d] - s[d] - t[d];
    b[d][2] = r[d] + s[d] - t[d];
    b[d][3] = -r[d] + s[d] - t[d];
    for (int c = 4; c < 8; c++)
      b[d][c] = -b[d][(c + 2) % 4];
  }
  *jacobian = 8 * (xt * cxt + yt * cyt + zt * czt);
}
static void gather(const int *corners, const double *from, double to[8]) {
  for (int c = 0; c < 8; c++)
    to[c] = from[corners[c]];
}
__attribute__((noinline)) static void strains(int elements, const int *restrict corners, const double *restrict x, const double *restrict y,
                                              const double *restrict z, const double *restrict v, double *restrict volume, double *restrict rate) {
  for (int e = 0; e < elements; e++) {
    double px[8], py[8], pz[8], pv[8], b[3][8], jacobian;
    gather(corners + 8 * e, x, px);
    gather(corners + 8 * e, y, py);
    gather(corners + 8 * e, z, pz);
    gather(corners + 8 * e, v, pv);
    derivatives(px, py, pz, b, &jacobian);
    volume[e] = jacobian;
    for (int d = 0; d < 3; d++) {
      double sum = 0;
      for (int c = 0; c < 8; c++)
        sum += b[d][c] * pv[c];
      rate[3 * e + d] = sum / (fabs(jacobian) + 1);
    }
  }
}
__attribute__((noinline)) static void forces(int elements, const double *restrict x, const double *restrict y, const double *restrict z,
                                             const double *restrict stress, double *restrict force) {
  for (int e = 0; e < elements; e++) {
    double b[3][8], jacobian;
    derivatives(x + 8 * e, y + 8 * e, z + 8 * e, b, &jacobian);
    for (int d = 0; d < 3; d++)
      for (int c = 0; c < 8; c++)
        force[24 * e + 8 * d + c] = -stress[e] * b[d][c] * jacobian;
  }
}
int main(int argc, char **argv) {
  int elements = (int)example_arg(argc, argv, 1, 40);
  size_t nodes = 8 * (size_t)elements + 8;
  double *X = example_array(nodes), *Y = example_array(nodes), *Z = example_array(nodes), *V = example_array(nodes);
  double *volume = example_array(elements + 1), *rate = example_array(3 * (size_t)elements + 1), *force = example_array(24 * (size_t)elements + 1);
  int *corners = malloc(nodes * sizeof *corners);
  example_fill(X, nodes);
  example_fill(Y, nodes);
  example_fill(Z, nodes);
  example_fill(V, nodes);
  for (size_t k = 0; k < nodes; k++)
    corners[k] = (int)(k * 7 % nodes), X[k] += k % 5, Y[k] += k % 3, Z[k] += k % 7;
  strains(elements, corners, X, Y, Z, V, volume, rate);
  example_print("volume", volume, elements);
  example_print("rate", rate, 3 * (size_t)elements);
  forces(elements, X, Y, Z, volume, force);
  example_print("force", force, 24 * (size_t)elements);
  free(X), free(Y), free(Z), free(V), free(volume), free(rate), free(force), free(corners);
  return 0;
}
