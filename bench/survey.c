/* Loops of programs of many fields, written without a thought of how they would run: `survey SIZE [NAME]` runs each four times (or the one of that name)
 * and prints a hash of what it computed. SIZE 0 is small, to be compared with the plain program; 1 is what bench/notes/006-fifteen-loops-more.md has figures of. */
#define LOW 0.5
#define HIGH 1.5
#include "loops.h"

static double result;
static long place;

/* The longest common subsequence of two sequences. */
KERNEL void lcs(int n, const int *restrict a, const int *restrict b, int c[restrict n + 1][n + 1]) {
  for (int i = 1; i <= n; i++)
    for (int j = 1; j <= n; j++)
      if (a[i - 1] == b[j - 1])
        c[i][j] = c[i - 1][j - 1] + 1;
      else
        c[i][j] = c[i - 1][j] > c[i][j - 1] ? c[i - 1][j] : c[i][j - 1];
}

/* Discrete cosine transforms of the 8 x 8 blocks of an image. */
KERNEL void dct(int h, int w, const float in[h][w], const float c[8][8], float out[h][w]) {
  for (int y = 0; y < h; y += 8)
    for (int x = 0; x < w; x += 8) {
      float t[8][8];
      for (int u = 0; u < 8; u++)
        for (int j = 0; j < 8; j++) {
          float s = 0;
          for (int i = 0; i < 8; i++)
            s += c[u][i] * in[y + i][x + j];
          t[u][j] = s;
        }
      for (int u = 0; u < 8; u++)
        for (int v = 0; v < 8; v++) {
          float s = 0;
          for (int j = 0; j < 8; j++)
            s += t[u][j] * c[v][j];
          out[y + u][x + v] = s;
        }
    }
}

/* Scaled dot-product attention of one head for each batch, softmax included. */
KERNEL void attention(int b, int n, int d, const float Q[b][n][d], const float K[b][n][d], const float V[b][n][d], float S[b][n][n],
                      float O[b][n][d]) {
  for (int z = 0; z < b; z++)
    for (int i = 0; i < n; i++) {
      float most = -1e30f, sum = 0;
      for (int j = 0; j < n; j++) {
        float s = 0;
        for (int k = 0; k < d; k++)
          s += Q[z][i][k] * K[z][j][k];
        S[z][i][j] = s * 0.125f;
        if (S[z][i][j] > most)
          most = S[z][i][j];
      }
      for (int j = 0; j < n; j++) {
        S[z][i][j] = expf(S[z][i][j] - most);
        sum += S[z][i][j];
      }
      for (int k = 0; k < d; k++) {
        float o = 0;
        for (int j = 0; j < n; j++)
          o += S[z][i][j] * V[z][j][k];
        O[z][i][k] = o / sum;
      }
    }
}

/* Cholesky factors of many 16 x 16 matrices. */
KERNEL void batched_cholesky(int b, double A[b][16][16]) {
  for (int m = 0; m < b; m++)
    for (int j = 0; j < 16; j++) {
      for (int k = 0; k < j; k++)
        A[m][j][j] -= A[m][j][k] * A[m][j][k];
      A[m][j][j] = sqrt(fabs(A[m][j][j]));
      for (int i = j + 1; i < 16; i++) {
        for (int k = 0; k < j; k++)
          A[m][i][j] -= A[m][i][k] * A[m][j][k];
        A[m][i][j] /= A[m][j][j];
      }
    }
}

/* Lennard-Jones forces of all pairs within a cutoff. */
KERNEL void pairs(int n, const float *restrict x, const float *restrict y, const float *restrict z, float *restrict fx, float *restrict fy,
                  float *restrict fz) {
  for (int i = 0; i < n; i++) {
    float ax = 0, ay = 0, az = 0;
    for (int j = 0; j < n; j++) {
      float dx = x[i] - x[j], dy = y[i] - y[j], dz = z[i] - z[j];
      float r2 = dx * dx + dy * dy + dz * dz;
      if (r2 < 0.25f && r2 > 0) {
        float s = 0.01f / r2, s3 = s * s * s;
        float f = s3 * (s3 - 0.5f) / r2;
        ax += f * dx;
        ay += f * dy;
        az += f * dz;
      }
    }
    fx[i] = ax;
    fy[i] = ay;
    fz[i] = az;
  }
}

/* A tensor's dimensions in another order. */
KERNEL void permute(int a, int b, int c, int d, const float in[a][b][c][d], float out[d][b][a][c]) {
  for (int i = 0; i < a; i++)
    for (int j = 0; j < b; j++)
      for (int k = 0; k < c; k++)
        for (int l = 0; l < d; l++)
          out[l][j][i][k] = in[i][j][k][l];
}

/* Stiffness times displacement without a matrix: elements of eight nodes, three-dimensional, each with the same matrix. */
KERNEL void elements(int n, const double K[8][8], const double *restrict E, const double u[n + 1][n + 1][n + 1], double out[n][n][n][8]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++) {
        double at[8];
        for (int c = 0; c < 8; c++)
          at[c] = u[i + (c >> 2)][j + (c >> 1 & 1)][k + (c & 1)];
        for (int a = 0; a < 8; a++) {
          double s = 0;
          for (int c = 0; c < 8; c++)
            s += K[a][c] * at[c];
          out[i][j][k][a] = s * E[(i * n + j) * n + k];
        }
      }
}

/* American options by binomial trees, one an option. */
KERNEL void binomial(int n, int steps, const float *restrict strike, float v[restrict n][steps + 1]) {
  for (int o = 0; o < n; o++) {
    for (int i = 0; i <= steps; i++) {
      float s = 0.5f + 1.5f * i / steps - strike[o];
      v[o][i] = s > 0 ? s : 0;
    }
    for (int t = steps - 1; t >= 0; t--)
      for (int i = 0; i <= t; i++)
        v[o][i] = 0.998f * (0.51f * v[o][i + 1] + 0.49f * v[o][i]);
  }
}

/* Block matching: sums of absolute differences of 16 x 16 blocks for displacements up to eight points. */
KERNEL void block_matching(int h, int w, const unsigned char *restrict a, const unsigned char *restrict b, int *restrict sad) {
  int bh = h / 16, bw = (w - 16) / 16;
  for (int y = 0; y < bh - 1; y++)
    for (int x = 0; x < bw; x++)
      for (int dy = 0; dy < 16; dy++)
        for (int dx = 0; dx < 16; dx++) {
          int s = 0;
          for (int i = 0; i < 16; i++)
            for (int j = 0; j < 16; j++) {
              int d = a[(y * 16 + i) * w + x * 16 + j] - b[(y * 16 + i + dy) * w + x * 16 + j + dx];
              s += d < 0 ? -d : d;
            }
          sad[((y * bw + x) * 16 + dy) * 16 + dx] = s;
        }
}

/* The largest element and where it is. */
KERNEL void argmax(long n, const double *x) {
  double most = x[0];
  long at = 0;
  for (long i = 1; i < n; i++)
    if (x[i] > most) {
      most = x[i];
      at = i;
    }
  result = most;
  place = at;
}

/* Full weighting to a grid of half the size, and back. */
KERNEL void restrict_3d(int n, const double f[2 * n + 1][2 * n + 1][2 * n + 1], double c[n][n][n]) {
  for (int i = 1; i < n; i++)
    for (int j = 1; j < n; j++)
      for (int k = 1; k < n; k++) {
        double s = 0;
        for (int a = -1; a <= 1; a++)
          for (int b = -1; b <= 1; b++)
            for (int d = -1; d <= 1; d++)
              s += f[2 * i + a][2 * j + b][2 * k + d] / (double)(1 << (3 + abs(a) + abs(b) + abs(d)));
        c[i][j][k] = s;
      }
}

KERNEL void prolong_3d(int n, const double c[n][n][n], double f[2 * n][2 * n][2 * n]) {
  for (int i = 0; i < n - 1; i++)
    for (int j = 0; j < n - 1; j++)
      for (int k = 0; k < n - 1; k++)
        for (int a = 0; a < 2; a++)
          for (int b = 0; b < 2; b++)
            for (int d = 0; d < 2; d++)
              f[2 * i + a][2 * j + b][2 * k + d] =
                  0.125 * (c[i][j][k] + c[i + a][j][k] + c[i][j + b][k] + c[i][j][k + d] + c[i + a][j + b][k] + c[i + a][j][k + d] +
                           c[i][j + b][k + d] + c[i + a][j + b][k + d]);
}

/* A contraction over two indices. */
KERNEL void contract(int n, const double A[n][n][n], const double B[n][n][n], double C[n][n]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      double s = 0;
      for (int k = 0; k < n; k++)
        for (int l = 0; l < n; l++)
          s += A[i][k][l] * B[k][l][j];
      C[i][j] = s;
    }
}

/* A recursive filter along the rows of an image, forward and back. */
KERNEL void recursive(int h, int w, const float in[h][w], float a, float f[h][w], float out[h][w]) {
  for (int y = 0; y < h; y++) {
    f[y][0] = in[y][0];
    for (int x = 1; x < w; x++)
      f[y][x] = a * in[y][x] + (1 - a) * f[y][x - 1];
    out[y][w - 1] = f[y][w - 1];
    for (int x = w - 2; x >= 0; x--)
      out[y][x] = a * f[y][x] + (1 - a) * out[y][x + 1];
  }
}

/* Layers of a perceptron for a batch, with bias and rectifier. */
KERNEL void layer(int b, int n, int m, const float *restrict x, const float *restrict w, const float *restrict bias, float *restrict y) {
  for (int i = 0; i < b; i++)
    for (int j = 0; j < m; j++) {
      float s = bias[j];
      for (int k = 0; k < n; k++)
        s += x[i * n + k] * w[j * n + k];
      y[i * m + j] = s > 0 ? s : 0;
    }
}

/* Moments of distributions: density and momentum of nine populations, in structures. */
struct cell {
  float f[9];
};

KERNEL void moments(int n, const struct cell *restrict cells, float *restrict rho, float *restrict ux, float *restrict uy) {
  static const int cx[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, cy[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
  for (int i = 0; i < n; i++) {
    float r = 0, x = 0, y = 0;
    for (int q = 0; q < 9; q++) {
      r += cells[i].f[q];
      x += cx[q] * cells[i].f[q];
      y += cy[q] * cells[i].f[q];
    }
    rho[i] = r;
    ux[i] = x / r;
    uy[i] = y / r;
  }
}

int main(int argc, char **argv) {
  int large = argc > 1 && atoi(argv[1]) > 0;
#define PICK(s, l) (large ? (l) : (s))
  double *x = 0, *y = 0, *z = 0;
  float *f = 0, *g = 0, *h = 0, *o = 0, *p = 0;
  int *a = 0, *b = 0, *c = 0;
  unsigned char *s = 0, *t = 0;
  int n = PICK(61, 4096);
  size_t all = (size_t)n * n;
  RUN(lcs, (a = malloc(n * sizeof *a), b = malloc(n * sizeof *b), c = calloc((size_t)(n + 1) * (n + 1), sizeof *c)); for (int i = 0; i < n; i++) {
    a[i] = (int)(next() >> 62);
    b[i] = (int)(next() >> 62);
  }, (n, a, b, (void *)c), c, (size_t)(n + 1) * (n + 1) * sizeof *c)
  int e = PICK(64, 8192);
  RUN(dct, (f = floats((size_t)e * e), g = floats(64), o = floats((size_t)e * e)), (e, e, (void *)f, (void *)g, (void *)o), o,
      (size_t)e * e * sizeof *o)
  int q = PICK(3, 16), r = PICK(37, 1024), d = 64;
  RUN(attention,
      (f = floats((size_t)q * r * d), g = floats((size_t)q * r * d), h = floats((size_t)q * r * d), p = floats((size_t)q * r * r),
       o = floats((size_t)q * r * d)),
      (q, r, d, (void *)f, (void *)g, (void *)h, (void *)p, (void *)o), o, (size_t)q * r * d * sizeof *o)
  int many = PICK(50, 100000);
  RUN(batched_cholesky, x = doubles((size_t)many * 256), (many, (void *)x), x, (size_t)many * 256 * sizeof *x)
  int bodies = PICK(300, 32768);
  RUN(pairs, (f = floats(bodies), g = floats(bodies), h = floats(bodies), o = floats(3 * (size_t)bodies)),
      (bodies, f, g, h, o, o + bodies, o + 2 * bodies), o, 3 * bodies * sizeof *o)
  int u = PICK(7, 96);
  RUN(permute, (f = floats((size_t)u * u * u * u), o = floats((size_t)u * u * u * u)), (u, u, u, u, (void *)f, (void *)o), o,
      (size_t)u * u * u * u * sizeof *o)
  int v = PICK(9, 200);
  RUN(elements,
      (x = doubles(64), y = doubles((size_t)v * v * v), z = doubles((size_t)(v + 1) * (v + 1) * (v + 1) + (size_t)v * v * v * 8)),
      (v, (void *)x, y, (void *)z, (void *)(z + (size_t)(v + 1) * (v + 1) * (v + 1))), z + (size_t)(v + 1) * (v + 1) * (v + 1),
      (size_t)v * v * v * 8 * sizeof *z)
  int options = PICK(20, 4096), steps = PICK(33, 1000);
  RUN(binomial, (f = floats(options), o = floats((size_t)options * (steps + 1))), (options, steps, f, (void *)o), o,
      (size_t)options * (steps + 1) * sizeof *o)
  int hh = PICK(64, 1088), ww = PICK(80, 1920);
  RUN(block_matching, (s = malloc((size_t)hh * ww), t = malloc((size_t)hh * ww), c = malloc((size_t)hh * ww * sizeof *c)); for (int i = 0; i < hh * ww; i++) {
    s[i] = (unsigned char)(next() >> 56);
    t[i] = (unsigned char)(next() >> 56);
  }, (hh, ww, s, t, c), c, (size_t)(hh / 16 - 1) * ((ww - 16) / 16) * 256 * sizeof *c)
  long l = PICK(5000, 67108864);
  if (argc < 3 || !strcmp(argv[2], "argmax")) {
    x = doubles(l);
    for (int i = 0; i < 4; i++)
      argmax(l, x);
    printf("argmax %.17g %ld\n", result, place);
  }
  int w = PICK(9, 256);
  RUN(restrict_3d, (x = doubles((size_t)(2 * w + 1) * (2 * w + 1) * (2 * w + 1)), y = doubles((size_t)w * w * w)), (w, (void *)x, (void *)y), y,
      (size_t)w * w * w * sizeof *y)
  RUN(prolong_3d, (x = doubles((size_t)8 * w * w * w), y = doubles((size_t)w * w * w)), (w, (void *)y, (void *)x), x,
      (size_t)8 * w * w * w * sizeof *x)
  int k = PICK(19, 256);
  RUN(contract, (x = doubles((size_t)k * k * k), y = doubles((size_t)k * k * k), z = doubles((size_t)k * k)),
      (k, (void *)x, (void *)y, (void *)z), z, (size_t)k * k * sizeof *z)
  RUN(recursive, (f = floats(all), g = floats(all), o = floats(all)), (n, n, (void *)f, 0.3f, (void *)g, (void *)o), o, all * sizeof *o)
  int batch = PICK(33, 1024), in = PICK(70, 4096);
  RUN(layer, (f = floats((size_t)batch * in), g = floats((size_t)in * in), h = floats(in), o = floats((size_t)batch * in)),
      (batch, in, in, f, g, h, o), o, (size_t)batch * in * sizeof *o)
  RUN(moments, (f = floats(all * 9), o = floats(all * 3)), ((int)all, (void *)f, o, o + all, o + 2 * all), o, 3 * all * sizeof *o)
  return 0;
}
