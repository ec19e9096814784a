/* Pictures, signals and graphics in C. */
#include "data.h"

static int clamp(int v, int low, int high) { return v < low ? low : v > high ? high : v; }

LOOP void bilateral(int h, int w, const unsigned char *in, unsigned char *out, int radius, float sigma_s, float sigma_r) {
  for (int y = 0; y < h; y++) {
    for (int x = 0; x < w; x++) {
      float sum = 0, weights = 0;
      for (int dy = -radius; dy <= radius; dy++) {
        for (int dx = -radius; dx <= radius; dx++) {
          int v = in[clamp(y + dy, 0, h - 1) * w + clamp(x + dx, 0, w - 1)];
          float d = v - in[y * w + x];
          float g = expf(-(dx * dx + dy * dy) / (2 * sigma_s * sigma_s) - d * d / (2 * sigma_r * sigma_r));
          sum += g * v;
          weights += g;
        }
      }
      out[y * w + x] = (unsigned char)(sum / weights);
    }
  }
}

/* Magnitudes of gradients, and the largest of them. */
LOOP int sobel(int h, int w, const unsigned char *in, short *out) {
  int most = 0;
  for (int y = 1; y < h - 1; y++)
    for (int x = 1; x < w - 1; x++) {
      const unsigned char *p = in + y * w + x;
      int gx = p[-w + 1] + 2 * p[1] + p[w + 1] - p[-w - 1] - 2 * p[-1] - p[w - 1];
      int gy = p[w - 1] + 2 * p[w] + p[w + 1] - p[-w - 1] - 2 * p[-w] - p[-w + 1];
      int m = abs(gx) + abs(gy);
      out[y * w + x] = (short)m;
      most = m > most ? m : most;
    }
  return most;
}

/* Medians of nine, by an exchange sort. */
LOOP void median(int h, int w, const unsigned char *in, unsigned char *out) {
  for (int y = 1; y < h - 1; y++)
    for (int x = 1; x < w - 1; x++) {
      unsigned char v[9];
      int n = 0;
      for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
          v[n++] = in[(y + dy) * w + x + dx];
      for (int i = 0; i < 5; i++)
        for (int j = i + 1; j < 9; j++)
          if (v[j] < v[i]) {
            unsigned char t = v[i];
            v[i] = v[j];
            v[j] = t;
          }
      out[y * w + x] = v[4];
    }
}

/* Histograms of the channels of an interleaved picture, and the picture equalised in brightness. */
LOOP void equalize(int n, unsigned char *rgb, unsigned *histogram, unsigned char *map) {
  for (int i = 0; i < 256; i++)
    histogram[i] = 0;
  for (int i = 0; i < n; i++)
    histogram[(rgb[3 * i] * 77 + rgb[3 * i + 1] * 150 + rgb[3 * i + 2] * 29) >> 8]++;
  unsigned sum = 0;
  for (int i = 0; i < 256; i++) {
    sum += histogram[i];
    map[i] = (unsigned char)(255.0 * sum / n);
  }
  for (int i = 0; i < 3 * n; i++)
    rgb[i] = map[rgb[i]];
}

typedef struct {
  int width, height, stride;
  unsigned char *data;
} Picture;

/* Bilinear scaling of a picture with padded rows and four channels. */
LOOP void resize(const Picture *src, Picture *dst) {
  float sx = (float)src->width / dst->width, sy = (float)src->height / dst->height;
  for (int y = 0; y < dst->height; y++) {
    for (int x = 0; x < dst->width; x++) {
      float fx = x * sx, fy = y * sy;
      int x0 = (int)fx, y0 = (int)fy;
      int x1 = x0 + 1 < src->width ? x0 + 1 : x0, y1 = y0 + 1 < src->height ? y0 + 1 : y0;
      float ax = fx - x0, ay = fy - y0;
      for (int c = 0; c < 4; c++) {
        float top = src->data[y0 * src->stride + 4 * x0 + c] * (1 - ax) + src->data[y0 * src->stride + 4 * x1 + c] * ax;
        float bottom = src->data[y1 * src->stride + 4 * x0 + c] * (1 - ax) + src->data[y1 * src->stride + 4 * x1 + c] * ax;
        dst->data[y * dst->stride + 4 * x + c] = (unsigned char)(top * (1 - ay) + bottom * ay + 0.5f);
      }
    }
  }
}

/* One over the other, by the first one's alpha. */
LOOP void composite(unsigned *dst, const unsigned *src, int count) {
  for (int i = 0; i < count; i++) {
    unsigned s = src[i], d = dst[i], a = s >> 24, rest = 255 - a;
    unsigned rb = ((d & 0xff00ff) * rest + (s & 0xff00ff) * a) >> 8 & 0xff00ff;
    unsigned g = ((d & 0x00ff00) * rest + (s & 0x00ff00) * a) >> 8 & 0x00ff00;
    dst[i] = 0xff000000u | rb | g;
  }
}

LOOP void mandelbrot(int h, int w, int limit, int *iterations) {
  for (int py = 0; py < h; py++)
    for (int px = 0; px < w; px++) {
      double x0 = px * 3.5 / w - 2.5, y0 = py * 2.0 / h - 1, x = 0, y = 0;
      int i = 0;
      while (x * x + y * y <= 4 && i < limit) {
        double t = x * x - y * y + x0;
        y = 2 * x * y + y0;
        x = t;
        i++;
      }
      iterations[py * w + px] = i;
    }
}

typedef struct {
  float x, y, z;
} Vec;

static Vec sub(Vec a, Vec b) { return (Vec){a.x - b.x, a.y - b.y, a.z - b.z}; }
static float dot(Vec a, Vec b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

typedef struct {
  Vec centre;
  float radius;
  Vec colour;
} Sphere;

/* The nearest sphere that each ray of a camera meets, shaded. */
LOOP void trace(int h, int w, const Sphere *spheres, int n, Vec *image) {
  Vec light = {0.57735f, 0.57735f, -0.57735f};
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++) {
      Vec d = {(x - w / 2) / (float)w, (y - h / 2) / (float)h, 1};
      float l = sqrtf(dot(d, d));
      d = (Vec){d.x / l, d.y / l, d.z / l};
      float nearest = 1e9f;
      int hit = -1;
      for (int s = 0; s < n; s++) {
        float b = dot(d, spheres[s].centre), c = dot(spheres[s].centre, spheres[s].centre) - spheres[s].radius * spheres[s].radius;
        float disc = b * b - c;
        if (disc < 0)
          continue;
        float t = b - sqrtf(disc);
        if (t > 0.001f && t < nearest) {
          nearest = t;
          hit = s;
        }
      }
      Vec c = {0, 0, 0};
      if (hit >= 0) {
        Vec p = {d.x * nearest, d.y * nearest, d.z * nearest}, normal = sub(p, spheres[hit].centre);
        float shade = fmaxf(0.1f, dot(normal, light) / spheres[hit].radius);
        c = (Vec){spheres[hit].colour.x * shade, spheres[hit].colour.y * shade, spheres[hit].colour.z * shade};
      }
      image[y * w + x] = c;
    }
}

/* Triangles into a depth buffer. */
LOOP void rasterize(int w, int h, int triangles, const float (*v)[3][3], float *depth, int *id) {
  for (int t = 0; t < triangles; t++) {
    float x0 = v[t][0][0], y0 = v[t][0][1], x1 = v[t][1][0], y1 = v[t][1][1], x2 = v[t][2][0], y2 = v[t][2][1];
    float area = (x1 - x0) * (y2 - y0) - (x2 - x0) * (y1 - y0);
    if (area == 0)
      continue;
    for (int y = 0; y < h; y++)
      for (int x = 0; x < w; x++) {
        float a = ((x1 - x) * (y2 - y) - (x2 - x) * (y1 - y)) / area, b = ((x2 - x) * (y0 - y) - (x0 - x) * (y2 - y)) / area, c = 1 - a - b;
        if (a < 0 || b < 0 || c < 0)
          continue;
        float z = a * v[t][0][2] + b * v[t][1][2] + c * v[t][2][2];
        if (z < depth[y * w + x]) {
          depth[y * w + x] = z;
          id[y * w + x] = t;
        }
      }
  }
}

/* Conway's Life on a torus. */
LOOP void life(int h, int w, int turns, unsigned char *a, unsigned char *b) {
  for (int t = 0; t < turns; t++) {
    for (int y = 0; y < h; y++)
      for (int x = 0; x < w; x++) {
        int n = 0;
        for (int dy = -1; dy <= 1; dy++)
          for (int dx = -1; dx <= 1; dx++)
            if (dy || dx)
              n += a[(y + dy + h) % h * w + (x + dx + w) % w];
        b[y * w + x] = n == 3 || (n == 2 && a[y * w + x]);
      }
    memcpy(a, b, (size_t)h * w);
  }
}

/* A filter of finite response over several channels, with history before the first sample. */
LOOP void fir(int channels, int n, int taps, const float *in, const float *coefficients, float *out) {
  for (int c = 0; c < channels; c++) {
    const float *x = in + c * (n + taps - 1);
    float *y = out + c * n;
    for (int i = 0; i < n; i++) {
      float acc = 0;
      for (int k = 0; k < taps; k++)
        acc += coefficients[k] * x[i + taps - 1 - k];
      y[i] = acc;
    }
  }
}

/* Second-order sections, one after the other, on many channels. */
LOOP void biquads(int channels, int n, int sections, const double (*c)[5], double *x) {
  for (int ch = 0; ch < channels; ch++)
    for (int s = 0; s < sections; s++) {
      double z1 = 0, z2 = 0;
      for (int i = 0; i < n; i++) {
        double in = x[ch * n + i], out = c[s][0] * in + z1;
        z1 = c[s][1] * in - c[s][3] * out + z2;
        z2 = c[s][2] * in - c[s][4] * out;
        x[ch * n + i] = out;
      }
    }
}

/* Short-time spectra: windows, each by a plain transform. */
LOOP void spectrogram(int frames, int hop, int size, const float *signal, const float *window, float *power) {
  for (int f = 0; f < frames; f++)
    for (int k = 0; k <= size / 2; k++) {
      float re = 0, im = 0;
      for (int i = 0; i < size; i++) {
        float v = signal[f * hop + i] * window[i], angle = -2 * (float)M_PI * k * i / size;
        re += v * cosf(angle);
        im += v * sinf(angle);
      }
      power[f * (size / 2 + 1) + k] = 10 * log10f(re * re + im * im + 1e-9f);
    }
}

/* Stages of a fast transform in place, on complex numbers, after their order was reversed. */
LOOP void fft_stages(int n, double *re, double *im) {
  for (int len = 2; len <= n; len <<= 1) {
    double angle = -2 * M_PI / len;
    for (int i = 0; i < n; i += len)
      for (int k = 0; k < len / 2; k++) {
        double wr = cos(angle * k), wi = sin(angle * k);
        int a = i + k, b = i + k + len / 2;
        double tr = re[b] * wr - im[b] * wi, ti = re[b] * wi + im[b] * wr;
        re[b] = re[a] - tr;
        im[b] = im[a] - ti;
        re[a] += tr;
        im[a] += ti;
      }
  }
}

int main(void) {
  int h = 33, w = 42, n = h * w;
  unsigned char *a = bytes(4 * n), *b = bytes(4 * n);
  bilateral(h, w, a, b, 2, 1.5f, 40);
  SHOW(bilateral, b, n);
  short *s = (short *)bytes(2 * n);
  s[0] = (short)sobel(h, w, a, s);
  SHOW(sobel, s, n);
  median(h, w, a, b);
  SHOW(median, b, n);
  unsigned *histogram = (unsigned *)integers(256, 5);
  unsigned char *map = bytes(256);
  equalize(n, a, histogram, map);
  SHOW(equalize, a, 3 * n);
  Picture src = {w - 1, h, 4 * w, a}, dst = {55, 47, 4 * 60, bytes(240 * 47)};
  resize(&src, &dst);
  SHOW(resize, dst.data, 240 * 47);
  composite((unsigned *)a, (unsigned *)b, n);
  SHOW(composite, a, 4 * n);
  int *it = integers(n, 2);
  mandelbrot(h, w, 60, it);
  SHOW(mandelbrot, it, n);
  Sphere *spheres = (Sphere *)floats(7 * 9);
  for (int i = 0; i < 9; i++) {
    spheres[i].centre.z += 4;
    spheres[i].radius = fabsf(spheres[i].radius) + 0.2f;
  }
  Vec *image = (Vec *)floats(3 * n);
  trace(h, w, spheres, 9, image);
  SHOW(trace, image, n);
  float *triangles = floats(9 * 12), *depth = floats(n);
  for (int i = 0; i < 9 * 12; i++)
    triangles[i] = triangles[i] * 20 + 20;
  for (int i = 0; i < n; i++)
    depth[i] = 30;
  rasterize(w, h, 12, (void *)triangles, depth, it);
  SHOW(rasterize, it, n);
  for (int i = 0; i < n; i++)
    a[i] &= 1;
  life(h, w, 5, a, b);
  SHOW(life, a, n);
  float *x = floats(3000), *c = floats(32), *y = floats(3000);
  fir(3, 900, 21, x, c, y);
  SHOW(fir, y, 2700);
  double *samples = doubles(40 * 60), *sections = doubles(15);
  biquads(40, 60, 3, (void *)sections, samples);
  SHOW(biquads, samples, 2400);
  spectrogram(20, 16, 64, x, y, c = floats(20 * 33));
  SHOW(spectrogram, c, 660);
  fft_stages(256, samples, samples + 256);
  SHOW(fft_stages, samples, 512);
  return 0;
}
