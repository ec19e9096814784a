/* Unstructured meshes: cells, their edges, nodes of elements. */
#include "sparse.h"

/* The flux through each edge goes out of one cell and into the other. */
KERNEL edge_flux(long edges, const int *left, const int *right, const double *area, const double *u, double *residual) {
  for (long e = 0; e < edges; e++) {
    int a = left[e], b = right[e];
    double mean = 0.5 * (u[a] + u[b]);
    double flux = area[e] * (mean * mean - 0.5 * fabs(mean) * (u[b] - u[a]));
    residual[a] -= flux;
    residual[b] += flux;
  }
}

/* The same, kept by edges. */
KERNEL face_flux(long edges, const int (*cells)[2], const double *area, const double *u, double *flux) {
  for (long e = 0; e < edges; e++) {
    double a = u[cells[e][0]], b = u[cells[e][1]];
    double mean = 0.5 * (a + b);
    flux[e] = area[e] * (mean * mean - 0.5 * fabs(mean) * (b - a));
  }
}

/* Gradients by Green and Gauss: a cell goes through its edges. */
KERNEL cell_gradient(int cells, const int *start, const int *edge, const int *other, const double (*normal)[2], const double *volume, const double *u,
                     double (*gradient)[2]) {
  for (int c = 0; c < cells; c++) {
    double x = 0, y = 0;
    for (int k = start[c]; k < start[c + 1]; k++) {
      double mean = 0.5 * (u[c] + u[other[k]]);
      x += mean * normal[edge[k]][0];
      y += mean * normal[edge[k]][1];
    }
    gradient[c][0] = x / volume[c];
    gradient[c][1] = y / volume[c];
  }
}

/* Nodes' values to the elements they are corners of. */
KERNEL corners(long elements, const int *node, const double *x, double *mean) {
  for (long e = 0; e < elements; e++) {
    double sum = 0;
    for (int k = 0; k < 8; k++)
      sum += x[node[8 * e + k]];
    mean[e] = sum / 8;
  }
}

/* Elements' loads to their nodes. */
KERNEL assemble_load(long elements, const int (*node)[4], const double *volume, const double *source, double *load) {
  for (long e = 0; e < elements; e++) {
    double part = source[e] * volume[e] / 4;
    for (int k = 0; k < 4; k++)
      load[node[e][k]] += part;
  }
}

/* A stiffness matrix without a matrix: gather, multiply by the element's own one, scatter. */
KERNEL apply_stiffness(long elements, const int (*node)[4], const double (*stiffness)[4][4], const double *u, double *f) {
  for (long e = 0; e < elements; e++) {
    double local[4];
    for (int i = 0; i < 4; i++)
      local[i] = u[node[e][i]];
    for (int i = 0; i < 4; i++) {
      double sum = 0;
      for (int j = 0; j < 4; j++)
        sum += stiffness[e][i][j] * local[j];
      f[node[e][i]] += sum;
    }
  }
}

/* Entries of the global matrix, whose places are known. */
KERNEL assemble_matrix(long elements, const int (*place)[16], const double (*stiffness)[16], double *value) {
  for (long e = 0; e < elements; e++)
    for (int k = 0; k < 16; k++)
      value[place[e][k]] += stiffness[e][k];
}

/* Nodes move to the mean of their neighbours. */
KERNEL smooth(int nodes, const int *start, const int *neighbour, const float (*x)[3], float (*y)[3]) {
  for (int i = 0; i < nodes; i++) {
    float sum[3] = {0, 0, 0};
    int count = start[i + 1] - start[i];
    for (int k = start[i]; k < start[i + 1]; k++)
      for (int d = 0; d < 3; d++)
        sum[d] += x[neighbour[k]][d];
    for (int d = 0; d < 3; d++)
      y[i][d] = count > 0 ? sum[d] / count : x[i][d];
  }
}

int main(int argc, char **argv) {
  begin(argc, argv);
  int cells = SIZE(2000000, 400);
  long edges = SIZE(6000000, 1100), elements = SIZE(2000000, 300);
  CASE(edge_flux) {
    int *a = nearby(edges, 1, SIZE(2000, 20), cells), *b = nearby(edges, 1, SIZE(2000, 20), cells);
    double *area = doubles(edges, 0, 1), *u = doubles(cells, -1, 1), *r = doubles(cells, 0, 0);
    RUN(edge_flux, r, cells, (edges, a, b, area, u, r));
  }
  CASE(face_flux) {
    int *pairs = nearby(edges, 2, SIZE(2000, 20), cells);
    double *area = doubles(edges, 0, 1), *u = doubles(cells, -1, 1), *flux = doubles(edges, 0, 0);
    RUN(face_flux, flux, edges, (edges, (void *)pairs, area, u, flux));
  }
  CASE(cell_gradient) {
    int *s = starts(cells, 6, 0), *edge = memory(s[cells] * sizeof *edge), *other = near(cells, s, SIZE(2000, 20));
    for (long k = 0; k < s[cells]; k++)
      edge[k] = (int)((double)k * edges / s[cells]);
    double *normal = doubles(2 * edges, -1, 1), *volume = doubles(cells, 1, 2), *u = doubles(cells, -1, 1), *g = doubles(2l * cells, 0, 0);
    RUN(cell_gradient, g, 2l * cells, (cells, s, edge, other, (void *)normal, volume, u, (void *)g));
  }
  CASE(corners) {
    int *node = nearby(elements, 8, SIZE(5000, 20), cells);
    double *x = doubles(cells, -1, 1), *mean = doubles(elements, 0, 0);
    RUN(corners, mean, elements, (elements, node, x, mean));
  }
  CASE(assemble_load) {
    int *node = nearby(elements, 4, SIZE(5000, 20), cells / 4);
    double *volume = doubles(elements, 0, 1), *source = doubles(elements, -1, 1), *load = doubles(cells / 4, 0, 0);
    RUN(assemble_load, load, cells / 4, (elements, (void *)node, volume, source, load));
  }
  CASE(apply_stiffness) {
    int *node = nearby(elements, 4, SIZE(5000, 20), cells / 4);
    double *k = doubles(16 * elements, -1, 1), *u = doubles(cells / 4, -1, 1), *f = doubles(cells / 4, 0, 0);
    RUN(apply_stiffness, f, cells / 4, (elements, (void *)node, (void *)k, u, f));
  }
  CASE(assemble_matrix) {
    int *place = nearby(elements, 16, SIZE(50000, 100), 4 * cells);
    double *k = doubles(16 * elements, -1, 1), *v = doubles(4l * cells, 0, 0);
    RUN(assemble_matrix, v, 4l * cells, (elements, (void *)place, (void *)k, v));
  }
  CASE(smooth) {
    int *s = starts(cells, 14, 0), *c = near(cells, s, SIZE(5000, 30));
    float *x = floats(3l * cells, -1, 1), *y = floats(3l * cells, 0, 0);
    RUN(smooth, y, 3l * cells, (cells, s, c, (void *)x, (void *)y));
  }
  return 0;
}
