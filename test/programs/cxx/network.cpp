// Layers of a network as functions of tensors that are local variables: each is modelled where it is, not where it is called. A convolution
// with a border by conditions, seven loops deep.
// ARGS: 3 9
// ARGS: 1 1
// ARGS: 2 16
// ARGS: 4 13
// OFFLOAD: yes
// TURNS: 3
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

class Tensor {
public:
  int n, c, h, w;
  std::unique_ptr<float[]> p;
  Tensor(int n, int c, int h, int w) : n(n), c(c), h(h), w(w), p(new float[n * c * h * w]()) {}
  float &at(int a, int b, int y, int x) { return p[((a * c + b) * h + y) * w + x]; }
  float at(int a, int b, int y, int x) const { return p[((a * c + b) * h + y) * w + x]; }
  int size() const { return n * c * h * w; }
};

static void convolve(const Tensor &in, const Tensor &k, const std::vector<float> &bias, Tensor &out) {
  for (int b = 0; b < out.n; b++)
    for (int o = 0; o < out.c; o++)
      for (int y = 0; y < out.h; y++)
        for (int x = 0; x < out.w; x++) {
          float s = bias[o];
          for (int i = 0; i < in.c; i++)
            for (int ky = 0; ky < k.h; ky++)
              for (int kx = 0; kx < k.w; kx++) {
                int iy = y + ky - 1, ix = x + kx - 1;
                if (iy >= 0 && iy < in.h && ix >= 0 && ix < in.w)
                  s += in.at(b, i, iy, ix) * k.at(o, i, ky, kx);
              }
          out.at(b, o, y, x) = s;
        }
}

static void pool(const Tensor &in, Tensor &out) {
  for (int b = 0; b < out.n; b++)
    for (int c = 0; c < out.c; c++)
      for (int y = 0; y < out.h; y++)
        for (int x = 0; x < out.w; x++) {
          float m = -1e30f;
          for (int j = 0; j < 2; j++)
            for (int i = 0; i < 2; i++)
              m = std::max(m, in.at(b, c, 2 * y + j, 2 * x + i));
          out.at(b, c, y, x) = m;
        }
}

static void rectify(Tensor &t) {
  for (int i = 0; i < t.size(); i++)
    t.p[i] = std::max(0.0f, t.p[i]);
}

static void dense(const std::vector<float> &W, const float *x, std::vector<float> &y, int in, int out, int batch) {
  for (int b = 0; b < batch; b++)
    for (int o = 0; o < out; o++) {
      float s = 0;
      for (int i = 0; i < in; i++)
        s += W[o * in + i] * x[b * in + i];
      y[b * out + o] = s;
    }
}

static void backward(const std::vector<float> &dy, const float *x, std::vector<float> &dW, int in, int out, int batch) {
  for (int o = 0; o < out; o++)
    for (int i = 0; i < in; i++) {
      float s = 0;
      for (int b = 0; b < batch; b++)
        s += dy[b * out + o] * x[b * in + i];
      dW[o * in + i] += s;
    }
}

static void fill(float *p, int n) {
  static std::uint64_t state = 12345;
  for (int i = 0; i < n; i++) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    p[i] = float(std::int32_t(state >> 32)) * 0x1p-31f;
  }
}

static void show(const char *name, const float *p, int n) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (int i = 0; i < n; i++) {
    std::uint32_t bits;
    std::memcpy(&bits, &p[i], sizeof bits);
    hash = (hash ^ bits) * 0x100000001b3u;
  }
  std::printf("%s %016llx\n", name, (unsigned long long)hash);
}

int main(int argc, char **argv) {
  int batch = argc > 1 ? std::atoi(argv[1]) : 3, size = argc > 2 ? std::atoi(argv[2]) : 9;
  Tensor in(batch, 3, size, size), k(5, 3, 3, 3), out(batch, 5, size, size), half(batch, 5, size / 2, size / 2);
  std::vector<float> bias(5, 0.125f);
  fill(in.p.get(), in.size());
  fill(k.p.get(), k.size());
  convolve(in, k, bias, out);
  show("convolved", out.p.get(), out.size());
  rectify(out);
  pool(out, half);
  show("pooled", half.p.get(), half.size());
  int inputs = out.size() / batch, outputs = 11;
  std::vector<float> W(inputs * outputs), y(batch * outputs), dW(inputs * outputs);
  fill(W.data(), inputs * outputs);
  dense(W, out.p.get(), y, inputs, outputs, batch);
  show("dense", y.data(), batch * outputs);
  backward(y, out.p.get(), dW, inputs, outputs, batch);
  show("gradient", dW.data(), inputs * outputs);
}
