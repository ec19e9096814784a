/* Particles, statistics, sequences and finance in C. */
#include "data.h"

typedef struct {
  float x, y, z, vx, vy, vz;
} Body;

/* Gravity of all bodies on each. */
LOOP void body_force(Body *p, float dt, int n) {
  for (int i = 0; i < n; i++) {
    float fx = 0.0f, fy = 0.0f, fz = 0.0f;
    for (int j = 0; j < n; j++) {
      float dx = p[j].x - p[i].x;
      float dy = p[j].y - p[i].y;
      float dz = p[j].z - p[i].z;
      float square = dx * dx + dy * dy + dz * dz + 1e-6f;
      float inverse = 1.0f / sqrtf(square);
      float cube = inverse * inverse * inverse;
      fx += dx * cube;
      fy += dy * cube;
      fz += dz * cube;
    }
    p[i].vx += dt * fx;
    p[i].vy += dt * fy;
    p[i].vz += dt * fz;
  }
  for (int i = 0; i < n; i++) {
    p[i].x += p[i].vx * dt;
    p[i].y += p[i].vy * dt;
    p[i].z += p[i].vz * dt;
  }
}

/* Forces from a list of neighbours, in a periodic box. */
LOOP double neighbour_forces(int n, int most, const int *count, const int *list, const double (*x)[3], double (*f)[3], double box, double cut2) {
  double energy = 0;
  for (int i = 0; i < n; i++) {
    double fi[3] = {0, 0, 0};
    for (int k = 0; k < count[i]; k++) {
      int j = list[i * most + k];
      double d[3], r2 = 0;
      for (int c = 0; c < 3; c++) {
        d[c] = x[i][c] - x[j][c];
        if (d[c] > 0.5 * box)
          d[c] -= box;
        if (d[c] < -0.5 * box)
          d[c] += box;
        r2 += d[c] * d[c];
      }
      if (r2 < cut2) {
        double i2 = 1 / r2, i6 = i2 * i2 * i2, w = 48 * i6 * (i6 - 0.5) * i2;
        for (int c = 0; c < 3; c++)
          fi[c] += w * d[c];
        energy += 2 * i6 * (i6 - 1);
      }
    }
    for (int c = 0; c < 3; c++)
      f[i][c] = fi[c];
  }
  return energy;
}

/* Densities of smoothed particles. */
LOOP void sph_density(int n, const float *x, const float *y, const float *mass, float h, float *rho, float *p) {
  const float h2 = h * h, poly = 4.0f / ((float)M_PI * powf(h, 8));
  for (int i = 0; i < n; i++) {
    rho[i] = 0;
    for (int j = 0; j < n; j++) {
      float dx = x[j] - x[i], dy = y[j] - y[i], r2 = dx * dx + dy * dy;
      if (r2 < h2)
        rho[i] += mass[j] * poly * (h2 - r2) * (h2 - r2) * (h2 - r2);
    }
    p[i] = 2000.0f * (rho[i] - 300.0f);
  }
}

/* Charges to the four corners of their cells. */
LOOP void deposit(int n, const double *px, const double *py, const double *q, int nx, double *grid) {
  for (int p = 0; p < n; p++) {
    int i = (int)px[p], j = (int)py[p];
    double fx = px[p] - i, fy = py[p] - j;
    grid[j * nx + i] += q[p] * (1 - fx) * (1 - fy);
    grid[j * nx + i + 1] += q[p] * fx * (1 - fy);
    grid[(j + 1) * nx + i] += q[p] * (1 - fx) * fy;
    grid[(j + 1) * nx + i + 1] += q[p] * fx * fy;
  }
}

/* Leapfrog with fields from a grid. */
LOOP void push(int n, double *px, double *vx, const double *e, int nx, double dt, double length) {
  for (int p = 0; p < n; p++) {
    double s = px[p] / length * nx;
    int i = (int)s;
    double w = s - i;
    double field = (1 - w) * e[i] + w * e[(i + 1) % nx];
    vx[p] -= field * dt;
    px[p] += vx[p] * dt;
    if (px[p] < 0)
      px[p] += length;
    if (px[p] >= length)
      px[p] -= length;
  }
}

/* One round of k-means: the nearest centre of each point, and new centres. */
LOOP int kmeans(int n, int d, int k, const float *points, float *centres, int *label, float *sums, int *counts) {
  int changed = 0;
  for (int i = 0; i < n; i++) {
    int best = 0;
    float least = INFINITY;
    for (int c = 0; c < k; c++) {
      float dist = 0;
      for (int j = 0; j < d; j++) {
        float t = points[i * d + j] - centres[c * d + j];
        dist += t * t;
      }
      if (dist < least) {
        least = dist;
        best = c;
      }
    }
    if (label[i] != best)
      changed++;
    label[i] = best;
  }
  for (int c = 0; c < k * d; c++)
    sums[c] = 0;
  for (int c = 0; c < k; c++)
    counts[c] = 0;
  for (int i = 0; i < n; i++) {
    counts[label[i]]++;
    for (int j = 0; j < d; j++)
      sums[label[i] * d + j] += points[i * d + j];
  }
  for (int c = 0; c < k; c++)
    for (int j = 0; j < d; j++)
      if (counts[c] > 0)
        centres[c * d + j] = sums[c * d + j] / counts[c];
  return changed;
}

/* Means and the covariances of all pairs of variables. */
LOOP void covariance(int n, int m, double **data, double **cov, double *mean) {
  for (int j = 0; j < m; j++) {
    mean[j] = 0.0;
    for (int i = 0; i < n; i++)
      mean[j] += data[i][j];
    mean[j] /= n;
  }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      data[i][j] -= mean[j];
  for (int i = 0; i < m; i++)
    for (int j = i; j < m; j++) {
      cov[i][j] = 0.0;
      for (int k = 0; k < n; k++)
        cov[i][j] += data[k][i] * data[k][j];
      cov[i][j] /= n - 1.0;
      cov[j][i] = cov[i][j];
    }
}

/* Gradient of logistic regression; labels are 0 or 1. */
LOOP void logistic_gradient(int n, int d, const double *x, const int *y, const double *w, double *p, double *g) {
  for (int i = 0; i < n; i++) {
    double z = 0;
    for (int j = 0; j < d; j++)
      z += x[i * d + j] * w[j];
    p[i] = 1 / (1 + exp(-z));
  }
  for (int j = 0; j < d; j++)
    g[j] = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < d; j++)
      g[j] += (p[i] - y[i]) * x[i * d + j];
}

/* Places of the k nearest of all points, by insertion. */
LOOP void nearest(int queries, int n, int d, const float *q, const float *x, int k, float *dist, int *place) {
  for (int i = 0; i < queries; i++) {
    for (int s = 0; s < k; s++) {
      dist[i * k + s] = INFINITY;
      place[i * k + s] = -1;
    }
    for (int j = 0; j < n; j++) {
      float r = 0;
      for (int c = 0; c < d; c++) {
        float t = q[i * d + c] - x[j * d + c];
        r += t * t;
      }
      if (r >= dist[i * k + k - 1])
        continue;
      int s = k - 1;
      while (s > 0 && dist[i * k + s - 1] > r) {
        dist[i * k + s] = dist[i * k + s - 1];
        place[i * k + s] = place[i * k + s - 1];
        s--;
      }
      dist[i * k + s] = r;
      place[i * k + s] = j;
    }
  }
}

/* Local alignment of two sequences, with the best score. */
LOOP int smith_waterman(int n, int m, const char *a, const char *b, int *h) {
  int best = 0;
  for (int i = 1; i <= n; i++) {
    for (int j = 1; j <= m; j++) {
      int s = h[(i - 1) * (m + 1) + j - 1] + (a[i - 1] == b[j - 1] ? 3 : -3);
      int up = h[(i - 1) * (m + 1) + j] - 2, left = h[i * (m + 1) + j - 1] - 2;
      if (up > s)
        s = up;
      if (left > s)
        s = left;
      if (s < 0)
        s = 0;
      h[i * (m + 1) + j] = s;
      if (s > best)
        best = s;
    }
  }
  return best;
}

/* Forward probabilities of a hidden Markov model. */
LOOP void hmm_forward(int states, int symbols, int t, const double *trans, const double *emit, const int *seen, double *alpha) {
  for (int k = 1; k < t; k++) {
    double norm = 0;
    for (int j = 0; j < states; j++) {
      double s = 0;
      for (int i = 0; i < states; i++)
        s += alpha[(k - 1) * states + i] * trans[i * states + j];
      alpha[k * states + j] = s * emit[j * symbols + seen[k]];
      norm += alpha[k * states + j];
    }
    for (int j = 0; j < states; j++)
      alpha[k * states + j] /= norm;
  }
}

/* Counts of all words of k letters. */
LOOP void kmers(long n, int k, const unsigned char *sequence, unsigned *counts) {
  for (long i = 0; i + k <= n; i++) {
    unsigned word = 0;
    for (int j = 0; j < k; j++)
      word = word << 2 | (sequence[i + j] & 3);
    counts[word]++;
  }
}

/* Differences between all pairs of sequences, up to a limit. */
LOOP void hamming(int n, int length, const char *s, int limit, int *d) {
  for (int i = 0; i < n; i++)
    for (int j = i + 1; j < n; j++) {
      int count = 0;
      for (int k = 0; k < length; k++) {
        if (s[i * length + k] != s[j * length + k])
          count++;
        if (count > limit)
          break;
      }
      d[i * n + j] = d[j * n + i] = count;
    }
}

static double cnd(double d) {
  double k = 1.0 / (1.0 + 0.2316419 * fabs(d));
  double c = 0.39894228040143267794 * exp(-0.5 * d * d) *
             (k * (0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429)))));
  return d > 0 ? 1.0 - c : c;
}

typedef struct {
  double price, strike, years, call, put;
} Option;

LOOP void black_scholes(Option *o, int n, double r, double v) {
  for (int i = 0; i < n; i++) {
    double root = sqrt(o[i].years);
    double d1 = (log(o[i].price / o[i].strike) + (r + 0.5 * v * v) * o[i].years) / (v * root);
    double d2 = d1 - v * root, e = exp(-r * o[i].years);
    o[i].call = o[i].price * cnd(d1) - o[i].strike * e * cnd(d2);
    o[i].put = o[i].strike * e * cnd(-d2) - o[i].price * cnd(-d1);
  }
}

/* Asian options by random paths, each with a generator of its own. */
LOOP double monte_carlo(int paths, int steps, double s0, double drift, double vol, double strike, double *payoff) {
  double total = 0;
  for (int p = 0; p < paths; p++) {
    unsigned long long seed = 1234567ull + 7919ull * p;
    double s = s0, sum = 0;
    for (int t = 0; t < steps; t++) {
      seed = seed * 6364136223846793005ull + 1442695040888963407ull;
      double u1 = ((seed >> 11) + 1) * 0x1p-53;
      seed = seed * 6364136223846793005ull + 1442695040888963407ull;
      double u2 = (seed >> 11) * 0x1p-53;
      s *= exp(drift + vol * sqrt(-2 * log(u1)) * cos(2 * M_PI * u2));
      sum += s;
    }
    double v = sum / steps - strike;
    payoff[p] = v > 0 ? v : 0;
    total += payoff[p];
  }
  return total / paths;
}

/* American puts on trees, many at once. */
LOOP void binomial_trees(int n, int steps, const double *spot, const double *strike, double u, double p, double disc, double *price) {
  for (int i = 0; i < n; i++) {
    double v[256];
    for (int j = 0; j <= steps; j++) {
      double s = spot[i] * pow(u, 2 * j - steps);
      v[j] = strike[i] > s ? strike[i] - s : 0;
    }
    for (int t = steps - 1; t >= 0; t--)
      for (int j = 0; j <= t; j++) {
        double s = spot[i] * pow(u, 2 * j - t), hold = disc * (p * v[j + 1] + (1 - p) * v[j]), now = strike[i] - s;
        v[j] = hold > now ? hold : now;
      }
    price[i] = v[0];
  }
}

/* Returns of a portfolio's scenarios and the worst of them. */
LOOP double value_at_risk(int scenarios, int assets, const double *shock, const double *holding, double *loss, int *worst) {
  double most = -INFINITY;
  int at = 0;
  for (int s = 0; s < scenarios; s++) {
    double v = 0;
    for (int a = 0; a < assets; a++)
      v += holding[a] * (exp(shock[s * assets + a]) - 1);
    loss[s] = -v;
    if (loss[s] > most) {
      most = loss[s];
      at = s;
    }
  }
  *worst = at;
  return most;
}

int main(void) {
  int n = 90;
  Body *bodies = (Body *)floats(6 * n);
  body_force(bodies, 0.01f, n);
  SHOW(body_force, bodies, n);
  double *x = doubles(3 * n), *f = doubles(3 * n);
  int *count = integers(n, 12), *list = integers(n * 12, n);
  for (int i = 0; i < n; i++)
    for (int k = 0; k < 12; k++)
      if (list[i * 12 + k] == i)
        list[i * 12 + k] = (i + 1) % n;
  f[0] += neighbour_forces(n, 12, count, list, (void *)x, (void *)f, 0.9, 0.5);
  SHOW(neighbour_forces, f, 3 * n);
  float *fx = floats(n), *fy = floats(n), *mass = floats(n), *rho = floats(n), *p = floats(n);
  sph_density(n, fx, fy, mass, 0.4f, rho, p);
  SHOW(sph_density, p, n);
  double *px = doubles(500), *py = doubles(500), *q = doubles(500), *grid = doubles(30 * 30);
  for (int i = 0; i < 500; i++) {
    px[i] *= 15;
    py[i] *= 15;
  }
  deposit(500, px, py, q, 30, grid);
  SHOW(deposit, grid, 900);
  push(500, px, py, grid, 30, 0.05, 30.0);
  SHOW(push, px, 500);
  int d = 6, k = 5;
  float *points = floats(n * d), *centres = floats(k * d), *sums = floats(k * d);
  int *label = integers(n, k), *counts = integers(k, 3);
  counts[0] = kmeans(n, d, k, points, centres, label, sums, counts);
  SHOW(kmeans, centres, k * d);
  int v = 24;
  double **data = malloc(n * sizeof *data), **cov = malloc(v * sizeof *cov), *mean = doubles(v), *rows = doubles(n * v), *square = doubles(v * v);
  for (int i = 0; i < n; i++)
    data[i] = rows + i * v;
  for (int i = 0; i < v; i++)
    cov[i] = square + i * v;
  covariance(n, v, data, cov, mean);
  SHOW(covariance, square, v * v);
  int *labels = integers(n, 2);
  logistic_gradient(n, v, rows, labels, mean, x, f);
  SHOW(logistic_gradient, f, v);
  float *queries = floats(40 * d), *dist = floats(40 * 4);
  int *place = integers(40 * 4, 3);
  nearest(40, n, d, queries, points, 4, dist, place);
  SHOW(nearest, place, 160);
  char *a = (char *)bytes(80), *b = (char *)bytes(100);
  for (int i = 0; i < 80; i++)
    a[i] &= 3;
  for (int i = 0; i < 100; i++)
    b[i] &= 3;
  int *h = calloc(81 * 101, sizeof *h);
  h[0] = smith_waterman(80, 100, a, b, h);
  SHOW(smith_waterman, h, 81 * 101);
  int states = 20;
  double *trans = doubles(states * states), *emit = doubles(states * 4), *alpha = doubles(30 * states);
  int *seen = integers(30, 4);
  hmm_forward(states, 4, 30, trans, emit, seen, alpha);
  SHOW(hmm_forward, alpha, 30 * states);
  unsigned *words = calloc(4096, sizeof *words);
  unsigned char *sequence = bytes(3000);
  kmers(3000, 6, sequence, words);
  SHOW(kmers, words, 4096);
  int *differences = integers(40 * 40, 9);
  for (int i = 0; i < 3000; i++)
    sequence[i] &= 3;
  hamming(40, 70, (char *)sequence, 50, differences);
  SHOW(hamming, differences, 1600);
  Option *options = (Option *)doubles(5 * 400);
  black_scholes(options, 400, 0.02, 0.3);
  SHOW(black_scholes, options, 400);
  double *payoff = doubles(301);
  payoff[300] = monte_carlo(300, 20, 100, 0.0001, 0.02, 99, payoff);
  SHOW(monte_carlo, payoff, 301);
  binomial_trees(60, 40, x, f, 1.01, 0.51, 0.9999, payoff);
  SHOW(binomial_trees, payoff, 60);
  int worst;
  payoff[80] = value_at_risk(80, 24, rows, mean, payoff, &worst);
  payoff[81] = worst;
  SHOW(value_at_risk, payoff, 82);
  return 0;
}
