/* Particles: neighbour lists, and fields that they leave on a grid. */
#include "sparse.h"

/* Lennard-Jones forces by full lists of neighbours. */
KERNEL md_forces(int n, const int *start, const int *neighbour, const double (*x)[3], double cutoff, double (*f)[3]) {
  for (int i = 0; i < n; i++) {
    double fx = 0, fy = 0, fz = 0;
    for (int k = start[i]; k < start[i + 1]; k++) {
      int j = neighbour[k];
      double dx = x[i][0] - x[j][0], dy = x[i][1] - x[j][1], dz = x[i][2] - x[j][2];
      double r2 = dx * dx + dy * dy + dz * dz;
      if (r2 < cutoff && r2 > 0) {
        double s = 1 / r2, s6 = s * s * s;
        double force = 48 * s6 * (s6 - 0.5) * s;
        fx += dx * force;
        fy += dy * force;
        fz += dz * force;
      }
    }
    f[i][0] = fx, f[i][1] = fy, f[i][2] = fz;
  }
}

/* By lists of fixed length, with a count for each particle. */
KERNEL md_table(int n, int most, const int *count, const int *neighbour, const float *x, const float *y, const float *z, float *energy) {
  for (int i = 0; i < n; i++) {
    float e = 0;
    for (int k = 0; k < count[i]; k++) {
      int j = neighbour[(long)i * most + k];
      float dx = x[i] - x[j], dy = y[i] - y[j], dz = z[i] - z[j];
      float s = 1.0f / (dx * dx + dy * dy + dz * dz + 0.01f);
      e += s * s * s;
    }
    energy[i] = e;
  }
}

/* Each pair once: both get their part. */
KERNEL md_pairs(int n, const int *start, const int *neighbour, const float *x, float *f) {
  for (int i = 0; i < n; i++)
    for (int k = start[i]; k < start[i + 1]; k++) {
      int j = neighbour[k];
      float d = x[i] - x[j], force = d / (d * d + 0.1f);
      f[i] += force;
      f[j] -= force;
    }
}

/* Charges to the four nearest points of a grid. */
KERNEL pic_deposit(long n, int nx, int ny, const float *x, const float *y, const float *charge, float *density) {
  for (long p = 0; p < n; p++) {
    int i = (int)x[p], j = (int)y[p];
    float a = x[p] - i, b = y[p] - j;
    density[j * nx + i] += charge[p] * (1 - a) * (1 - b);
    density[j * nx + i + 1] += charge[p] * a * (1 - b);
    density[(j + 1) * nx + i] += charge[p] * (1 - a) * b;
    density[(j + 1) * nx + i + 1] += charge[p] * a * b;
  }
}

/* And the field at a particle, which moves. */
KERNEL pic_push(long n, int nx, int ny, float dt, const float *field, const float *y, float *x, float *v) {
  for (long p = 0; p < n; p++) {
    int i = (int)x[p], j = (int)y[p];
    float a = x[p] - i, b = y[p] - j;
    float e = (1 - b) * ((1 - a) * field[j * nx + i] + a * field[j * nx + i + 1]) + b * ((1 - a) * field[(j + 1) * nx + i] + a * field[(j + 1) * nx + i + 1]);
    v[p] += dt * e;
  }
}

/* How many particles are in each cell. */
KERNEL cell_counts(long n, int nx, const float *x, const float *y, int *count) {
  for (long p = 0; p < n; p++)
    count[(int)y[p] * nx + (int)x[p]]++;
}

/* Means over the sixteen nearest of each point. */
KERNEL nearest_mean(int n, const int (*nearest)[16], const float *value, float *mean) {
  for (int i = 0; i < n; i++) {
    float sum = 0;
    for (int k = 0; k < 16; k++)
      sum += value[nearest[i][k]];
    mean[i] = sum * (1.0f / 16);
  }
}

int main(int argc, char **argv) {
  begin(argc, argv);
  int n = SIZE(500000, 300), nx = SIZE(2000, 30);
  long many = SIZE(1 << 24, 2000);
  CASE(md_forces) {
    int *s = starts(n, SIZE(60, 10), 0), *c = near(n, s, SIZE(4000, 40));
    double *x = doubles(3l * n, 0, 10), *f = doubles(3l * n, 0, 0);
    RUN(md_forces, f, 3l * n, (n, s, c, (void *)x, 6.25, (void *)f));
  }
  CASE(md_table) {
    int most = SIZE(64, 12), *c = nearby(n, most, SIZE(2000, 20), n), *count = ints(n, most + 1);
    float *x = floats(n, 0, 10), *y = floats(n, 0, 10), *z = floats(n, 0, 10), *e = floats(n, 0, 0);
    RUN(md_table, e, n, (n, most, count, c, x, y, z, e));
  }
  CASE(md_pairs) {
    int *s = starts(n, SIZE(30, 5), 0), *c = near(n, s, SIZE(4000, 40));
    float *x = floats(n, 0, 10), *f = floats(n, 0, 0);
    RUN(md_pairs, f, n, (n, s, c, x, f));
  }
  CASE(pic_deposit) {
    float *x = floats(many, 0, nx - 1.01), *y = floats(many, 0, nx - 1.01), *q = floats(many, 0, 1), *d = floats((long)nx * nx, 0, 0);
    RUN(pic_deposit, d, (long)nx * nx, (many, nx, nx, x, y, q, d));
  }
  CASE(pic_push) {
    float *x = floats(many, 0, nx - 1.01), *y = floats(many, 0, nx - 1.01), *v = floats(many, 0, 1), *e = floats((long)nx * nx, -1, 1);
    RUN(pic_push, v, many, (many, nx, nx, 0.1f, e, y, x, v));
  }
  CASE(cell_counts) {
    float *x = floats(many, 0, nx - 1.01), *y = floats(many, 0, nx - 1.01);
    int *count = ints((long)nx * nx, 1);
    RUN(cell_counts, count, (long)nx * nx, (many, nx, x, y, count));
  }
  CASE(nearest_mean) {
    int m = 4 * n, *c = nearby(m, 16, SIZE(20000, 20), m);
    float *v = floats(m, 0, 1), *mean = floats(m, 0, 0);
    RUN(nearest_mean, mean, m, (m, (void *)c, v, mean));
  }
  return 0;
}
