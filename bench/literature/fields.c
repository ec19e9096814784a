/* Reactions, diffusion, images, automata, rows of dynamic programming: conditions, functions of the C library, integers. */
#include "literature.h"

/* Gray and Scott's reaction on a torus. */
KERNEL void gray_scott(int steps, int n, float f, float k, float u[2][n][n], float v[2][n][n]) {
  for (int t = 0; t < steps; t++) {
    int p = t % 2, q = 1 - p;
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) {
        int up = (i + n - 1) % n, down = (i + 1) % n, left = (j + n - 1) % n, right = (j + 1) % n;
        float lu = u[p][up][j] + u[p][down][j] + u[p][i][left] + u[p][i][right] - 4 * u[p][i][j];
        float lv = v[p][up][j] + v[p][down][j] + v[p][i][left] + v[p][i][right] - 4 * v[p][i][j];
        float r = u[p][i][j] * v[p][i][j] * v[p][i][j];
        u[q][i][j] = u[p][i][j] + 0.16f * lu - r + f * (1 - u[p][i][j]);
        v[q][i][j] = v[p][i][j] + 0.08f * lv + r - (f + k) * v[p][i][j];
      }
  }
}

/* FitzHugh and Nagumo's model of a nerve. */
struct nerve {
  int n;
  double *v, *w, *next;
};
KERNEL void fitzhugh(struct nerve *s, int steps, double dt) {
  int n = s->n;
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++) {
        double v = s->v[i * n + j];
        double lap = s->v[(i - 1) * n + j] + s->v[(i + 1) * n + j] + s->v[i * n + j - 1] + s->v[i * n + j + 1] - 4 * v;
        s->next[i * n + j] = v + dt * (lap + v * (1 - v) * (v - 0.1) - s->w[i * n + j]);
        s->w[i * n + j] += dt * 0.01 * (v - 2.5 * s->w[i * n + j]);
      }
    double *swap = s->v;
    s->v = s->next;
    s->next = swap;
  }
}

/* Allen and Cahn's phases, in three dimensions. */
KERNEL void allen_cahn(int steps, int n, float a[n][n][n], float b[n][n][n]) {
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        for (int k = 1; k < n - 1; k++)
          b[i][j][k] = a[i][j][k] + 0.1f * (a[i - 1][j][k] + a[i + 1][j][k] + a[i][j - 1][k] + a[i][j + 1][k] + a[i][j][k - 1] + a[i][j][k + 1] - 6 * a[i][j][k] +
                                            a[i][j][k] - powf(a[i][j][k], 3));
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        for (int k = 1; k < n - 1; k++)
          a[i][j][k] = b[i][j][k];
  }
}

/* Perona and Malik's diffusion: edges stay. */
KERNEL void perona_malik(int steps, int h, int w, float kappa, float *a, float *b) {
  for (int t = 0; t < steps; t++) {
    for (int y = 1; y < h - 1; y++)
      for (int x = 1; x < w - 1; x++) {
        float c = a[y * w + x];
        float n = a[(y - 1) * w + x] - c, s = a[(y + 1) * w + x] - c, e = a[y * w + x + 1] - c, o = a[y * w + x - 1] - c;
        b[y * w + x] = c + 0.25f * (n * expf(-(n / kappa) * (n / kappa)) + s * expf(-(s / kappa) * (s / kappa)) + e * expf(-(e / kappa) * (e / kappa)) +
                                    o * expf(-(o / kappa) * (o / kappa)));
      }
    float *swap = a;
    a = b;
    b = swap;
  }
}

/* The same with the rational function, and mirrored borders. */
KERNEL void perona_rational(int steps, int h, int w, float a[2][h][w]) {
  for (int t = 0; t < steps; t++)
    for (int y = 0; y < h; y++)
      for (int x = 0; x < w; x++) {
        float(*from)[w] = a[t % 2], c = from[y][x];
        float n = from[y > 0 ? y - 1 : y][x] - c, s = from[y < h - 1 ? y + 1 : y][x] - c;
        float o = from[y][x > 0 ? x - 1 : x] - c, e = from[y][x < w - 1 ? x + 1 : x] - c;
        a[(t + 1) % 2][y][x] = c + 0.2f * (n / (1 + n * n) + s / (1 + s * s) + o / (1 + o * o) + e / (1 + e * e));
      }
}

/* The flow of total variation: a gradient's length by sqrt. */
KERNEL void total_variation(int steps, int n, float u[n][n], float f[n][n], float g[n][n]) {
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++) {
        float dx = (u[i][j + 1] - u[i][j - 1]) / 2, dy = (u[i + 1][j] - u[i - 1][j]) / 2;
        g[i][j] = 1 / sqrtf(0.01f + dx * dx + dy * dy);
      }
    for (int i = 2; i < n - 2; i++)
      for (int j = 2; j < n - 2; j++)
        u[i][j] = (f[i][j] + 0.5f * (g[i - 1][j] + g[i + 1][j] + g[i][j - 1] + g[i][j + 1])) / (1 + 2 * g[i][j]);
  }
}

/* The gradient's length in double, as C's sqrt is. */
KERNEL void gradient2d(int steps, int n, float a[2][n][n]) {
  for (int t = 0; t < steps; t++)
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++) {
        float c = a[t % 2][i][j], x = c - a[t % 2][i - 1][j], y = c - a[t % 2][i + 1][j], z = c - a[t % 2][i][j - 1], w = c - a[t % 2][i][j + 1];
        a[(t + 1) % 2][i][j] = c + 1.0f / sqrt(0.0001f + x * x + y * y + z * z + w * w);
      }
}

/* Temperatures of a chip: each side has its own formula. */
KERNEL void hotspot(int steps, int n, float rx, float ry, float rz, float cap, float *temp, const float *power, float *next) {
  for (int t = 0; t < steps; t++) {
    for (int r = 0; r < n; r++)
      for (int c = 0; c < n; c++) {
        float here = temp[r * n + c], delta;
        if (r == 0)
          delta = (temp[(r + 1) * n + c] - here) / ry;
        else if (r == n - 1)
          delta = (temp[(r - 1) * n + c] - here) / ry;
        else
          delta = (temp[(r + 1) * n + c] + temp[(r - 1) * n + c] - 2 * here) / ry;
        if (c == 0)
          delta += (temp[r * n + c + 1] - here) / rx;
        else if (c == n - 1)
          delta += (temp[r * n + c - 1] - here) / rx;
        else
          delta += (temp[r * n + c + 1] + temp[r * n + c - 1] - 2 * here) / rx;
        next[r * n + c] = here + cap * (power[r * n + c] + delta + (0.5f - here) / rz);
      }
    for (int i = 0; i < n * n; i++)
      temp[i] = next[i];
  }
}

/* The same for a stack of layers, where what lies outside is the point itself. */
KERNEL void hotspot3d(int steps, int n, float *in, float *out, const float *power, float cc, float cw, float ct) {
  for (int t = 0; t < steps; t++) {
    for (int z = 0; z < n; z++)
      for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++) {
          int c = x + y * n + z * n * n;
          int w = x == 0 ? c : c - 1, e = x == n - 1 ? c : c + 1, no = y == 0 ? c : c - n, s = y == n - 1 ? c : c + n, b = z == 0 ? c : c - n * n, a = z == n - 1 ? c : c + n * n;
          out[c] = cc * in[c] + cw * (in[w] + in[e] + in[no] + in[s]) + ct * (in[b] + in[a]) + 0.01f * power[c];
        }
    float *swap = in;
    in = out;
    out = swap;
  }
}

/* A border that is held, an inside that flows: one condition in three dimensions. */
KERNEL void held3d(int steps, int n, double a[2][n][n][n]) {
  for (int t = 0; t < steps; t++)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++)
        for (int k = 0; k < n; k++)
          if (i == 0 || j == 0 || k == 0 || i == n - 1 || j == n - 1 || k == n - 1)
            a[(t + 1) % 2][i][j][k] = a[t % 2][i][j][k];
          else
            a[(t + 1) % 2][i][j][k] = (a[t % 2][i - 1][j][k] + a[t % 2][i + 1][j][k] + a[t % 2][i][j - 1][k] + a[t % 2][i][j + 1][k] + a[t % 2][i][j][k - 1] +
                                       a[t % 2][i][j][k + 1]) / 6;
}

/* Life, with its neighbours by loops. */
KERNEL void life(int steps, int n, unsigned char *now, unsigned char *next) {
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++) {
        int alive = 0;
        for (int di = -1; di <= 1; di++)
          for (int dj = -1; dj <= 1; dj++)
            if (di != 0 || dj != 0)
              alive += now[(i + di) * n + j + dj];
        if (now[i * n + j])
          next[i * n + j] = alive == 2 || alive == 3;
        else
          next[i * n + j] = alive == 3;
      }
    unsigned char *swap = now;
    now = next;
    next = swap;
  }
}

/* The same on a torus of integers. */
KERNEL void life_torus(int steps, int n, int a[n][n], int b[n][n]) {
  for (int t = 0; t < steps; t++) {
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) {
        int s = 0;
        for (int y = -1; y <= 1; y++)
          for (int x = -1; x <= 1; x++)
            s += a[(i + y + n) % n][(j + x + n) % n];
        b[i][j] = s == 3 || (s == 4 && a[i][j]);
      }
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++)
        a[i][j] = b[i][j];
  }
}

/* Spins that follow the majority of their couplings, all at once, as in a network of Hopfield's. */
KERNEL void spins(int steps, int n, int s[2][n][n], int right[n][n], int down[n][n]) {
  for (int t = 0; t < steps; t++)
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++) {
        int field = right[i][j] * s[t % 2][i][j + 1] + right[i][j - 1] * s[t % 2][i][j - 1] + down[i][j] * s[t % 2][i + 1][j] + down[i - 1][j] * s[t % 2][i - 1][j];
        s[(t + 1) % 2][i][j] = field > 2 ? 1 : field < 1 ? -1 : s[t % 2][i][j];
      }
}

/* Ising's model at temperature zero: one colour after the other, in place. */
KERNEL void ising(int steps, int n, int s[n][n]) {
  for (int t = 0; t < steps; t++)
    for (int color = 0; color < 2; color++)
      for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++)
          if ((i + j) % 2 == color) {
            int sum = s[i - 1][j] + s[i + 1][j] + s[i][j - 1] + s[i][j + 1];
            s[i][j] = sum > 2 ? 1 : sum < 2 ? 0 : s[i][j];
          }
}

/* The least of nine, again and again: erosion. */
KERNEL void erosion(int steps, int n, unsigned char *a, unsigned char *b) {
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++) {
        unsigned char least = 255;
        for (int y = -1; y <= 1; y++)
          for (int x = -1; x <= 1; x++)
            if (a[(i + y) * n + j + x] < least)
              least = a[(i + y) * n + j + x];
        b[i * n + j] = least;
      }
    unsigned char *c = a;
    a = b;
    b = c;
  }
}

/* Half the rows and columns a level, by the binomial filter. */
KERNEL void pyramid(int levels, int n, float *image) {
  float *from = image;
  for (int l = 0; l < levels; l++) {
    int m = n / 2;
    float *to = from + (size_t)n * n;
    for (int i = 0; i < m; i++)
      for (int j = 0; j < m; j++) {
        static const float w[3] = {0.25f, 0.5f, 0.25f};
        float s = 0;
        for (int y = -1; y <= 1; y++)
          for (int x = -1; x <= 1; x++) {
            int r = 2 * i + y < 0 ? 0 : 2 * i + y, c = 2 * j + x < 0 ? 0 : 2 * j + x;
            s += w[y + 1] * w[x + 1] * from[r * n + c];
          }
        to[i * m + j] = s;
      }
    from = to;
    n = m;
  }
}

/* The cheapest path through a grid, row by row. */
KERNEL void paths(int rows, int cols, int *wall, int *src, int *dst) {
  for (int t = 0; t < rows - 1; t++) {
    for (int j = 0; j < cols; j++) {
      int least = src[j];
      if (j > 0 && src[j - 1] < least)
        least = src[j - 1];
      if (j < cols - 1 && src[j + 1] < least)
        least = src[j + 1];
      dst[j] = wall[(t + 1) * cols + j] + least;
    }
    int *swap = src;
    src = dst;
    dst = swap;
  }
}

/* Energies of seams: all rows stay. */
KERNEL void seams(int h, int w, const float *energy, float *m) {
  for (int x = 0; x < w; x++)
    m[x] = energy[x];
  for (int y = 1; y < h; y++)
    for (int x = 0; x < w; x++) {
      float best = m[(y - 1) * w + x];
      if (x > 0)
        best = fminf(best, m[(y - 1) * w + x - 1]);
      if (x < w - 1)
        best = fminf(best, m[(y - 1) * w + x + 1]);
      m[y * w + x] = energy[y * w + x] + best;
    }
}

int main(int argc, char **argv) {
  begin(argc, argv);
  int steps = SIZE(100, 13), few = SIZE(40, 7), n = SIZE(4096, 90), m = SIZE(320, 30);
  size_t nn = (size_t)n * n, mmm = (size_t)m * m * m;
#define TWO float *a = floats(nn, 0, 1); float *b = floats(nn, 0, 1)
  RUN(gray_scott, nn, steps, 16, float *u = floats(2 * nn, 0, 1); float *v = floats(2 * nn, 0, 0.5), (steps, n, 0.06f, 0.062f, (void *)u, (void *)v))
  RUN(fitzhugh, nn, steps, 32, struct nerve s = {.n = n}; s.v = doubles(nn, 0, 1); s.w = doubles(nn, 0, 0.1); s.next = doubles(nn, 0, 1); struct nerve one, ((one = s, &one), steps, 0.1))
  RUN(allen_cahn, mmm, few, 8, float *a = floats(mmm, -1, 1); float *b = floats(mmm, -1, 1), (few, m, (void *)a, (void *)b))
  RUN(perona_malik, nn, steps, 8, TWO, (steps, n, n, 0.1f, a, b))
  RUN(perona_rational, nn, steps, 8, float *a = floats(2 * nn, 0, 1), (steps, n, n, (void *)a))
  RUN(total_variation, nn, steps, 12, TWO; float *g = floats(nn, 0, 1), (steps, n, (void *)a, (void *)b, (void *)g))
  RUN(gradient2d, nn, steps, 8, float *a = floats(2 * nn, 0, 1), (steps, n, (void *)a))
  RUN(hotspot, nn, steps, 12, TWO; float *p = floats(nn, 0, 1), (steps, n, 10, 11, 12, 0.5f, a, p, b))
  RUN(hotspot3d, mmm, few, 12, float *a = floats(mmm, 0, 1); float *b = floats(mmm, 0, 1); float *p = floats(mmm, 0, 1), (few, m, a, b, p, 0.4f, 0.1f, 0.09f))
  RUN(held3d, mmm, few, 16, double *a = doubles(2 * mmm, 0, 1), (few, m, (void *)a))
  RUN(life, nn, steps, 2, unsigned char *a = bytes(nn, 2); unsigned char *b = bytes(nn, 2), (steps, n, a, b))
  RUN(life_torus, nn, steps, 8, int *a = ints(nn, 2); int *b = ints(nn, 2), (steps, n, (void *)a, (void *)b))
  RUN(spins, nn, steps, 16, int *s = ints(2 * nn, 2); int *r = ints(nn, 3); int *d = ints(nn, 3), (steps, n, (void *)s, (void *)r, (void *)d))
  RUN(ising, nn, steps, 8, int *s = ints(nn, 2), (steps, n, (void *)s))
  RUN(erosion, nn, few, 2, unsigned char *a = bytes(nn, 256); unsigned char *b = bytes(nn, 256), (few, n, a, b))
  RUN(pyramid, nn / 3.0, 1, 20, float *a = floats(2 * nn, 0, 1), (SIZE(6, 3), n, a))
  RUN(paths, SIZE(1 << 20, 3000), SIZE(200, 40), 12, size_t c = SIZE(1 << 20, 3000); int *w = ints(SIZE(200, 40) * c, 10); int *a = ints(c, 10); int *b = ints(c, 10),
      (SIZE(200, 40), (int)c, w, a, b))
  RUN(seams, n, n, 12, TWO, (n, n, a, b))
  return 0;
}
