/* Rows of matrices: what neural networks and statistics do with them. */
#include "everyday2.h"

KERNEL softmax(int n, int m, const float x[n][m], float y[n][m]) {
  for (int i = 0; i < n; i++) {
    float largest = x[i][0];
    for (int j = 1; j < m; j++)
      largest = x[i][j] > largest ? x[i][j] : largest;
    float sum = 0;
    for (int j = 0; j < m; j++) {
      y[i][j] = expf(x[i][j] - largest);
      sum += y[i][j];
    }
    for (int j = 0; j < m; j++)
      y[i][j] /= sum;
  }
}

KERNEL layer_norm(int n, int m, const float x[n][m], const float *gain, const float *bias, float y[n][m]) {
  for (int i = 0; i < n; i++) {
    float mean = 0, variance = 0;
    for (int j = 0; j < m; j++)
      mean += x[i][j];
    mean /= m;
    for (int j = 0; j < m; j++)
      variance += (x[i][j] - mean) * (x[i][j] - mean);
    float scale = 1 / sqrtf(variance / m + 1e-5f);
    for (int j = 0; j < m; j++)
      y[i][j] = (x[i][j] - mean) * scale * gain[j] + bias[j];
  }
}

KERNEL rms_norm(int n, int m, const float x[n][m], const float *gain, float y[n][m]) {
  for (int i = 0; i < n; i++) {
    float squares = 0;
    for (int j = 0; j < m; j++)
      squares += x[i][j] * x[i][j];
    float scale = 1 / sqrtf(squares / m + 1e-6f);
    for (int j = 0; j < m; j++)
      y[i][j] = x[i][j] * scale * gain[j];
  }
}

KERNEL batch_norm(int images, int channels, int pixels, const float x[images][channels][pixels], const float *gain, const float *bias,
                  float y[images][channels][pixels]) {
  for (int c = 0; c < channels; c++) {
    float mean = 0, squares = 0;
    for (int i = 0; i < images; i++)
      for (int p = 0; p < pixels; p++) {
        mean += x[i][c][p];
        squares += x[i][c][p] * x[i][c][p];
      }
    mean /= images * pixels;
    float variance = squares / (images * pixels) - mean * mean;
    float scale = gain[c] / sqrtf(variance + 1e-5f);
    for (int i = 0; i < images; i++)
      for (int p = 0; p < pixels; p++)
        y[i][c][p] = (x[i][c][p] - mean) * scale + bias[c];
  }
}

KERNEL gelu(int n, int m, const float x[n][m], const float *bias, float y[n][m]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      float v = x[i][j] + bias[j];
      y[i][j] = 0.5f * v * (1 + erff(v * 0.70710678f));
    }
}

KERNEL gate(long n, const float *a, const float *b, float *y) {
  for (long i = 0; i < n; i++)
    y[i] = a[i] / (1 + expf(-a[i])) * b[i];
}

KERNEL gelu_tanh(long n, const float *x, float *y) {
  for (long i = 0; i < n; i++)
    y[i] = 0.5f * x[i] * (1 + tanhf(0.7978846f * (x[i] + 0.044715f * x[i] * x[i] * x[i])));
}

KERNEL attention_one(int tokens, int d, const float *q, const float K[tokens][d], const float V[tokens][d], float *p, float *out) {
  float largest = -FLT_MAX, sum = 0;
  for (int t = 0; t < tokens; t++) {
    float dot = 0;
    for (int k = 0; k < d; k++)
      dot += q[k] * K[t][k];
    p[t] = dot;
    if (dot > largest)
      largest = dot;
  }
  for (int t = 0; t < tokens; t++) {
    p[t] = expf(p[t] - largest);
    sum += p[t];
  }
  for (int k = 0; k < d; k++)
    out[k] = 0;
  for (int t = 0; t < tokens; t++)
    for (int k = 0; k < d; k++)
      out[k] += p[t] / sum * V[t][k];
}

KERNEL attention(int heads, int tokens, int d, const float Q[heads][tokens][d], const float K[heads][tokens][d], const float V[heads][tokens][d],
                 float S[heads][tokens][tokens], float O[heads][tokens][d]) {
  for (int h = 0; h < heads; h++)
    for (int i = 0; i < tokens; i++) {
      float largest = -FLT_MAX, sum = 0;
      for (int j = 0; j < tokens; j++) {
        float dot = 0;
        for (int k = 0; k < d; k++)
          dot += Q[h][i][k] * K[h][j][k];
        S[h][i][j] = dot * 0.125f;
        if (S[h][i][j] > largest)
          largest = S[h][i][j];
      }
      for (int j = 0; j < tokens; j++) {
        S[h][i][j] = expf(S[h][i][j] - largest);
        sum += S[h][i][j];
      }
      for (int k = 0; k < d; k++) {
        float o = 0;
        for (int j = 0; j < tokens; j++)
          o += S[h][i][j] * V[h][j][k];
        O[h][i][k] = o / sum;
      }
    }
}

KERNEL row_sums(int n, int m, const float x[n][m], float *y) {
  for (int i = 0; i < n; i++) {
    float sum = 0;
    for (int j = 0; j < m; j++)
      sum += x[i][j];
    y[i] = sum;
  }
}

KERNEL short_rows(int n, int m, const float x[n][m], float *y) {
  for (int i = 0; i < n; i++) {
    y[i] = 0;
    for (int j = 0; j < m; j++)
      y[i] += x[i][j];
  }
}

KERNEL column_means(int n, int m, const float x[n][m], float *y) {
  for (int j = 0; j < m; j++)
    y[j] = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      y[j] += x[i][j];
  for (int j = 0; j < m; j++)
    y[j] /= n;
}

KERNEL row_norms(int n, int m, const float x[n][m], float y[n][m]) {
  for (int i = 0; i < n; i++) {
    float squares = 0;
    for (int j = 0; j < m; j++)
      squares += x[i][j] * x[i][j];
    float norm = sqrtf(squares);
    for (int j = 0; j < m; j++)
      y[i][j] = x[i][j] / norm;
  }
}

KERNEL argmax_rows(int n, int m, const float x[n][m], int *y) {
  for (int i = 0; i < n; i++) {
    int best = 0;
    for (int j = 1; j < m; j++)
      if (x[i][j] > x[i][best])
        best = j;
    y[i] = best;
  }
}

KERNEL above(int n, int m, const float x[n][m], const float *threshold, int *y) {
  for (int i = 0; i < n; i++) {
    int count = 0;
    for (int j = 0; j < m; j++)
      if (x[i][j] > threshold[i])
        count++;
    y[i] = count;
  }
}

KERNEL cross_entropy(int n, int m, const float x[n][m], const int *label, float *loss) {
  for (int i = 0; i < n; i++) {
    float largest = x[i][0], sum = 0;
    for (int j = 1; j < m; j++)
      largest = fmaxf(largest, x[i][j]);
    for (int j = 0; j < m; j++)
      sum += expf(x[i][j] - largest);
    loss[i] = logf(sum) + largest - x[i][label[i]];
  }
}

KERNEL prefix_rows(int n, int m, const float x[n][m], float y[n][m]) {
  for (int i = 0; i < n; i++) {
    float sum = 0;
    for (int j = 0; j < m; j++) {
      sum += x[i][j];
      y[i][j] = sum;
    }
  }
}

KERNEL cosines(int n, int m, const float a[n][m], const float b[n][m], float *y) {
  for (int i = 0; i < n; i++) {
    float ab = 0, aa = 0, bb = 0;
    for (int j = 0; j < m; j++) {
      ab += a[i][j] * b[i][j];
      aa += a[i][j] * a[i][j];
      bb += b[i][j] * b[i][j];
    }
    y[i] = ab / sqrtf(aa * bb);
  }
}

KERNEL column_minima(int n, long m, const int x[n][m], int *y) {
  for (long j = 0; j < m; j++)
    y[j] = x[0][j];
  for (int i = 1; i < n; i++)
    for (long j = 0; j < m; j++)
      if (x[i][j] < y[j])
        y[j] = x[i][j];
}

HOST int main(int argc, char **argv) {
  begin(argc, argv);
  int n = SIZE(16384, 70), m = SIZE(1024, 65);
  long nm = (long)n * m, N = SIZE(1l << 26, 10007);
  float *x, *y, *a, *b, *c;
#define ROWS(name, high, call)                                                                                                             \
  CASE(name) {                                                                                                                             \
    x = floats(nm, -4, high), a = floats(m, 0.5, 1.5), b = floats(m, -1, 1), y = floats(nm, 0, 1);                                         \
    RUN(name, y, nm, call);                                                                                                                \
  }
  ROWS(softmax, 4, (n, m, (void *)x, (void *)y))
  ROWS(layer_norm, 4, (n, m, (void *)x, a, b, (void *)y))
  ROWS(rms_norm, 4, (n, m, (void *)x, a, (void *)y))
  ROWS(row_norms, 4, (n, m, (void *)x, (void *)y))
  ROWS(gelu, 4, (n, m, (void *)x, a, (void *)y))
  ROWS(prefix_rows, 4, (n, m, (void *)x, (void *)y))
  CASE(batch_norm) {
    int images = SIZE(32, 3), channels = SIZE(128, 5), pixels = SIZE(64 * 64, 49);
    long all = (long)images * channels * pixels;
    x = floats(all, -1, 2), a = floats(channels, 0.5, 1.5), b = floats(channels, -1, 1), y = floats(all, 0, 1);
    RUN(batch_norm, y, all, (images, channels, pixels, (void *)x, a, b, (void *)y));
  }
  CASE(gate) {
    a = floats(N, -6, 6), b = floats(N, -1, 1), y = floats(N, 0, 1);
    RUN(gate, y, N, (N, a, b, y));
  }
  CASE(gelu_tanh) {
    x = floats(N, -6, 6), y = floats(N, 0, 1);
    RUN(gelu_tanh, y, N, (N, x, y));
  }
  CASE(attention_one) {
    int tokens = SIZE(65536, 77), d = SIZE(256, 33);
    a = floats(d, -0.3, 0.3), x = floats((long)tokens * d, -1, 1), b = floats((long)tokens * d, -1, 1), c = floats(tokens, 0, 1), y = floats(d, 0, 1);
    RUN(attention_one, y, d, (tokens, d, a, (void *)x, (void *)b, c, y));
  }
  CASE(attention) {
    int heads = SIZE(128, 3), tokens = SIZE(256, 37), d = SIZE(64, 19);
    long all = (long)heads * tokens * d;
    a = floats(all, -1, 1), b = floats(all, -1, 1), c = floats(all, -1, 1), x = floats((long)heads * tokens * tokens, 0, 1), y = floats(all, 0, 1);
    RUN(attention, y, all, (heads, tokens, d, (void *)a, (void *)b, (void *)c, (void *)x, (void *)y));
  }
#define SUMS(name, rows, columns, call)                                                                                                    \
  CASE(name) {                                                                                                                             \
    int n = rows, m = columns;                                                                                                             \
    x = floats((long)n * m, -1, 2), a = floats(n, 0.5, 1.5), b = floats((long)n * m, -1, 1), y = floats(n > m ? n : m, 0, 1);              \
    RUN(name, y, n > m ? n : m, call);                                                                                                     \
  }
  SUMS(row_sums, SIZE(16384, 65), SIZE(4096, 33), (n, m, (void *)x, y))
  SUMS(short_rows, SIZE(1 << 21, 301), SIZE(32, 7), (n, m, (void *)x, y))
  SUMS(column_means, SIZE(16384, 65), SIZE(4096, 33), (n, m, (void *)x, y))
  SUMS(cosines, SIZE(16384, 65), SIZE(1024, 33), (n, m, (void *)x, (void *)b, y))
  CASE(argmax_rows) {
    x = floats(nm, -1, 1);
    int *best = ints(n, 9);
    RUN(argmax_rows, best, n, (n, m, (void *)x, best));
  }
  CASE(above) {
    x = floats(nm, -1, 1), a = floats(n, -1, 1);
    int *count = ints(n, 9);
    RUN(above, count, n, (n, m, (void *)x, a, count));
  }
  CASE(cross_entropy) {
    x = floats(nm, -4, 4), y = floats(n, 0, 1);
    int *label = ints(n, m);
    RUN(cross_entropy, y, n, (n, m, (void *)x, label, y));
  }
  CASE(column_minima) {
    int rows = SIZE(200, 7);
    long columns = SIZE(500000, 333);
    int *values = ints(rows * columns, 1 << 30), *least = ints(columns, 9);
    RUN(column_minima, least, columns, (rows, columns, (void *)values, least));
  }
  return 0;
}
