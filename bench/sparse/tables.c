/* Tables, histograms, permutations. */
#include "sparse.h"

KERNEL byte_histogram(long n, const unsigned char *data, int *count) {
  for (long i = 0; i < n; i++)
    count[data[i]]++;
}

KERNEL large_histogram(long n, const int *key, int *count) {
  for (long i = 0; i < n; i++)
    count[key[i]]++;
}

KERNEL weighted_histogram(long n, const int *bin, const float *weight, float *sum) {
  for (long i = 0; i < n; i++)
    sum[bin[i]] += weight[i];
}

/* How often two bytes come together. */
KERNEL joint_histogram(long n, const unsigned char *a, const unsigned char *b, int count[256][256]) {
  for (long i = 0; i < n; i++)
    count[a[i]][b[i]]++;
}

KERNEL value_histogram(long n, const float *x, float low, float width, int bins, int *count) {
  for (long i = 0; i < n; i++) {
    int b = (int)((x[i] - low) / width);
    if (b >= 0 && b < bins)
      count[b]++;
  }
}

KERNEL lookup(long n, const unsigned char *table, const unsigned char *in, unsigned char *out) {
  for (long i = 0; i < n; i++)
    out[i] = table[in[i]];
}

/* A function by its table, with interpolation. */
KERNEL interpolate(long n, int size, const float *table, const float *x, float *y) {
  for (long i = 0; i < n; i++) {
    float p = x[i] * (size - 1);
    int k = (int)p;
    if (k > size - 2)
      k = size - 2;
    float t = p - k;
    y[i] = table[k] * (1 - t) + table[k + 1] * t;
  }
}

/* An image seen through a lens, by a table of places. */
KERNEL warp(int h, int w, const float *mapx, const float *mapy, const unsigned char *in, unsigned char *out) {
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++) {
      float u = mapx[y * w + x], v = mapy[y * w + x];
      int i = (int)u, j = (int)v;
      if (u < 0 || v < 0 || i >= w - 1 || j >= h - 1) {
        out[y * w + x] = 0;
        continue;
      }
      float a = u - i, b = v - j;
      float value = (1 - b) * ((1 - a) * in[j * w + i] + a * in[j * w + i + 1]) + b * ((1 - a) * in[(j + 1) * w + i] + a * in[(j + 1) * w + i + 1]);
      out[y * w + x] = (unsigned char)(value + 0.5f);
    }
}

KERNEL embedding(int tokens, int width, const int *token, const float *table, float *out) {
  for (int t = 0; t < tokens; t++)
    for (int c = 0; c < width; c++)
      out[t * width + c] = table[token[t] * width + c];
}

/* Sums of rows of a table, by bags. */
KERNEL embedding_bag(int bags, const int *start, const int *index, const float (*table)[64], float (*out)[64]) {
  for (int b = 0; b < bags; b++) {
    float sum[64] = {0};
    for (int k = start[b]; k < start[b + 1]; k++)
      for (int c = 0; c < 64; c++)
        sum[c] += table[index[k]][c];
    for (int c = 0; c < 64; c++)
      out[b][c] = sum[c];
  }
}

KERNEL embedding_gradient(int tokens, const int *token, const float (*gradient)[64], float (*table)[64]) {
  for (int t = 0; t < tokens; t++)
    for (int c = 0; c < 64; c++)
      table[token[t]][c] += gradient[t][c];
}

KERNEL permute(long n, const int *from, const double *in, double *out) {
  for (long i = 0; i < n; i++)
    out[i] = in[from[i]];
}

KERNEL scatter(long n, const int *to, const double *in, double *out) {
  for (long i = 0; i < n; i++)
    out[to[i]] = in[i];
}

/* Values with one key one after the other, in their order. */
KERNEL group(long n, int keys, const int *key, const float *value, int *place, float *out) {
  for (int k = 0; k <= keys; k++)
    place[k] = 0;
  for (long i = 0; i < n; i++)
    place[key[i] + 1]++;
  for (int k = 0; k < keys; k++)
    place[k + 1] += place[k];
  for (long i = 0; i < n; i++)
    out[place[key[i]]++] = value[i];
}

KERNEL compact(long n, const float *x, float limit, int *count, float *out) {
  int found = 0;
  for (long i = 0; i < n; i++)
    if (x[i] > limit)
      out[found++] = x[i];
  *count = found;
}

KERNEL group_least(long n, const int *key, const int *value, int *least) {
  for (long i = 0; i < n; i++)
    if (value[i] < least[key[i]])
      least[key[i]] = value[i];
}

/* Where of sorted borders a value lies. */
KERNEL bucket(long n, int borders, const float *border, const float *x, int *out) {
  for (long i = 0; i < n; i++) {
    int low = 0, high = borders;
    while (low < high) {
      int middle = (low + high) / 2;
      if (border[middle] <= x[i])
        low = middle + 1;
      else
        high = middle;
    }
    out[i] = low;
  }
}

int main(int argc, char **argv) {
  begin(argc, argv);
  long n = SIZE(1 << 25, 3000);
  CASE(byte_histogram) {
    unsigned char *data = bytes(4 * n, 256);
    int *count = ints(256, 1);
    RUN(byte_histogram, count, 256, (4 * n, data, count));
  }
  CASE(large_histogram) {
    int bins = SIZE(1000000, 300), *key = ints(n, bins), *count = ints(bins, 1);
    RUN(large_histogram, count, bins, (n, key, count));
  }
  CASE(weighted_histogram) {
    int *key = ints(n, 1024);
    float *weight = floats(n, 0, 1), *sum = floats(1024, 0, 0);
    RUN(weighted_histogram, sum, 1024, (n, key, weight, sum));
  }
  CASE(joint_histogram) {
    unsigned char *a = bytes(n, 256), *b = bytes(n, 256);
    int *count = ints(65536, 1);
    RUN(joint_histogram, count, 65536, (n, a, b, (void *)count));
  }
  CASE(value_histogram) {
    float *x = floats(n, -0.1, 1.1);
    int *count = ints(500, 1);
    RUN(value_histogram, count, 500, (n, x, 0.0f, 0.002f, 500, count));
  }
  CASE(lookup) {
    unsigned char *table = bytes(256, 256), *in = bytes(4 * n, 256), *out = bytes(4 * n, 1);
    RUN(lookup, out, 4 * n, (4 * n, table, in, out));
  }
  CASE(interpolate) {
    float *table = floats(4096, 0, 1), *x = floats(n, 0, 1), *y = floats(n, 0, 0);
    RUN(interpolate, y, n, (n, 4096, table, x, y));
  }
  CASE(warp) {
    int h = SIZE(4000, 50), w = SIZE(6000, 70);
    unsigned char *in = bytes((long)h * w, 256), *out = bytes((long)h * w, 1);
    float *mx = memory((long)h * w * sizeof *mx), *my = memory((long)h * w * sizeof *my);
    for (int y = 0; y < h; y++)
      for (int x = 0; x < w; x++) {
        float r = 1 + 0.1f * (((float)x / w - 0.5f) * ((float)x / w - 0.5f) + ((float)y / h - 0.5f) * ((float)y / h - 0.5f));
        mx[y * w + x] = (x - w / 2) * r + w / 2, my[y * w + x] = (y - h / 2) * r + h / 2;
      }
    RUN(warp, out, (long)h * w, (h, w, mx, my, in, out));
  }
  CASE(embedding) {
    int tokens = SIZE(500000, 50), width = SIZE(128, 8), words = SIZE(50000, 40), *token = ints(tokens, words);
    float *table = floats((long)words * width, -1, 1), *out = floats((long)tokens * width, 0, 0);
    RUN(embedding, out, (long)tokens * width, (tokens, width, token, table, out));
  }
  CASE(embedding_bag) {
    int bags = SIZE(200000, 30), words = SIZE(100000, 40), *s = starts(bags, SIZE(20, 4), 0), *index = ints(s[bags], words);
    float *table = floats(64l * words, -1, 1), *out = floats(64l * bags, 0, 0);
    RUN(embedding_bag, out, 64l * bags, (bags, s, index, (void *)table, (void *)out));
  }
  CASE(embedding_gradient) {
    int tokens = SIZE(500000, 50), words = SIZE(50000, 40), *token = ints(tokens, words);
    float *g = floats(64l * tokens, -1, 1), *table = floats(64l * words, 0, 0);
    RUN(embedding_gradient, table, 64l * words, (tokens, token, (void *)g, (void *)table));
  }
  CASE(permute) {
    int *from = permutation(n);
    double *in = doubles(n, 0, 1), *out = doubles(n, 0, 0);
    RUN(permute, out, n, (n, from, in, out));
  }
  CASE(scatter) {
    int *to = permutation(n);
    double *in = doubles(n, 0, 1), *out = doubles(n, 0, 0);
    RUN(scatter, out, n, (n, to, in, out));
  }
  CASE(group) {
    int keys = SIZE(10000, 40), *key = ints(n, keys), *place = ints(keys + 1, 1);
    float *value = floats(n, 0, 1), *out = floats(n, 0, 0);
    RUN(group, out, n, (n, keys, key, value, place, out));
  }
  CASE(compact) {
    int *count = ints(1, 1);
    float *x = floats(n, 0, 1), *out = floats(n, 0, 0);
    RUN(compact, out, n, (n, x, 0.5f, count, out));
  }
  CASE(group_least) {
    int keys = SIZE(100000, 40), *key = ints(n, keys), *value = ints(n, 1 << 30), *least = ints(keys, 1 << 30);
    RUN(group_least, least, keys, (n, key, value, least));
  }
  CASE(bucket) {
    int borders = SIZE(1000, 20), *out = ints(n, 1);
    float *border = floats(borders, 0, 1), *x = floats(n, 0, 1);
    for (int k = 0; k < borders; k++)
      border[k] = (float)k / borders;
    RUN(bucket, out, n, (n, borders, border, x, out));
  }
  return 0;
}
