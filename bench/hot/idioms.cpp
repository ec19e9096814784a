// Hot loops in the words of the standard library: algorithms, iterators, ranges of vectors.
#include "data.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

using Rows = std::vector<std::vector<double>>;

// Price ratios of neighbouring days.
LOOP void log_returns(const std::vector<double> &price, std::vector<double> &out) {
  std::transform(price.begin() + 1, price.end(), price.begin(), out.begin(), [](double now, double before) { return std::log(now / before); });
}

LOOP void row_sums(const Rows &a, std::vector<double> &sums) {
  for (std::size_t i = 0; i < a.size(); i++)
    sums[i] = std::accumulate(a[i].begin(), a[i].end(), 0.0);
}

LOOP void matvec(const Rows &a, const std::vector<double> &x, std::vector<double> &y) {
  std::transform(a.begin(), a.end(), y.begin(), [&](const std::vector<double> &row) { return std::inner_product(row.begin(), row.end(), x.begin(), 0.0); });
}

LOOP Rows multiply(const Rows &a, const Rows &b) {
  Rows c(a.size(), std::vector<double>(b[0].size(), 0.0));
  for (std::size_t i = 0; i < a.size(); i++)
    for (std::size_t j = 0; j < b[0].size(); j++)
      for (std::size_t k = 0; k < b.size(); k++)
        c[i][j] += a[i][k] * b[k][j];
  return c;
}

LOOP void differences(const std::vector<double> &x, std::vector<double> &d) { std::adjacent_difference(x.begin(), x.end(), d.begin()); }

LOOP void waveform(std::vector<float> &wave, float step) {
  int n = 0;
  std::generate(wave.begin(), wave.end(), [&n, step] { return std::sin(step * n++); });
}

// Features to mean zero and variance one.
LOOP void standardize(Rows &columns) {
  for (auto &c : columns) {
    double mean = std::accumulate(c.begin(), c.end(), 0.0) / c.size();
    double square = 0;
    for (double v : c)
      square += (v - mean) * (v - mean);
    double deviation = std::sqrt(square / (c.size() - 1));
    for (double &v : c)
      v = (v - mean) / deviation;
  }
}

// The nearest centre of each point.
struct Point {
  double x, y, z;
};

LOOP void nearest_centre(const std::vector<Point> &points, const std::vector<Point> &centres, std::vector<int> &label) {
  auto out = label.begin();
  for (const auto &p : points) {
    auto distance = [&p](const Point &c) { return (p.x - c.x) * (p.x - c.x) + (p.y - c.y) * (p.y - c.y) + (p.z - c.z) * (p.z - c.z); };
    auto best = std::min_element(centres.begin(), centres.end(), [&](const Point &a, const Point &b) { return distance(a) < distance(b); });
    *out++ = static_cast<int>(best - centres.begin());
  }
}

LOOP void relu_backward(std::span<const float> activation, std::span<const float> gradient, std::span<float> out) {
  std::transform(activation.begin(), activation.end(), gradient.begin(), out.begin(), [](float a, float g) { return a > 0 ? g : 0.0f; });
}

// A grid of vectors, two of them that change places.
LOOP void heat(Rows &now, Rows &next, int steps) {
  for (int t = 0; t < steps; t++) {
    for (std::size_t i = 1; i + 1 < now.size(); i++)
      for (std::size_t j = 1; j + 1 < now[i].size(); j++)
        next[i][j] = now[i][j] + 0.1 * (now[i - 1][j] + now[i + 1][j] + now[i][j - 1] + now[i][j + 1] - 4 * now[i][j]);
    std::swap(now, next);
  }
}

LOOP void heat_flat(std::vector<float> &now, std::vector<float> &next, std::size_t n, int steps) {
  for (int t = 0; t < steps; t++) {
    for (std::size_t i = 1; i < n - 1; i++)
      for (std::size_t j = 1; j < n - 1; j++)
        next[i * n + j] = 0.25f * (now[(i - 1) * n + j] + now[(i + 1) * n + j] + now[i * n + j - 1] + now[i * n + j + 1]);
    now.swap(next);
  }
}

LOOP void checked(const std::vector<double> &a, const std::vector<double> &b, std::vector<double> &c) {
  for (std::size_t i = 0; i < c.size(); ++i)
    c.at(i) = a.at(i) * 2 + std::sqrt(b.at(i));
}

// Values outside of what is allowed are errors.
LOOP void logarithms(const std::vector<double> &in, std::vector<double> &out) {
  for (std::size_t i = 0; i < in.size(); i++) {
    if (in[i] <= 0)
      throw std::domain_error("no logarithm");
    out[i] = std::log(in[i]);
  }
}

LOOP void mandel(std::vector<int> &out, int w, int h) {
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++) {
      std::complex<double> c(-2.5 + 3.5 * x / w, -1 + 2.0 * y / h), z = 0;
      int n = 0;
      for (; n < 50 && std::norm(z) <= 4; n++)
        z = z * z + c;
      out[y * w + x] = n;
    }
}

LOOP void merge_blend(std::vector<float> &dst, const std::vector<float> &src, float alpha) {
  auto d = dst.begin();
  auto s = src.cbegin();
  for (; d != dst.end() && s != src.cend(); ++d, ++s)
    *d = alpha * *s + (1 - alpha) * *d;
}

// One line of text each, its bytes counted by kind.
LOOP void letters(const std::vector<std::array<char, 32>> &lines, std::vector<std::array<int, 4>> &counts) {
  for (std::size_t i = 0; i < lines.size(); i++) {
    counts[i].fill(0);
    for (char c : lines[i])
      counts[i][c & 3]++;
  }
}

LOOP float furthest(const std::vector<float> &x, const std::vector<float> &y, std::size_t &where) {
  float most = std::numeric_limits<float>::lowest();
  for (std::size_t i = 0; i < x.size(); i++) {
    float d = std::hypot(x[i], y[i]);
    if (d > most) {
      most = d;
      where = i;
    }
  }
  return most;
}

int main() {
  auto price = randoms<double>(800, 1, 2);
  std::vector<double> out(800, 0.25);
  log_returns(price, out);
  SHOW(log_returns, out);
  auto a = random_rows<double>(37, 41), b = random_rows<double>(41, 29);
  auto sums = randoms<double>(37, 0, 1), x = randoms<double>(41, 0, 1);
  row_sums(a, sums);
  SHOW(row_sums, sums);
  matvec(a, x, sums);
  SHOW(matvec, sums);
  SHOW(multiply, multiply(a, b));
  differences(price, out);
  SHOW(differences, out);
  std::vector<float> wave(900, 0.5f);
  waveform(wave, 0.01f);
  SHOW(waveform, wave);
  standardize(a);
  SHOW(standardize, a);
  std::vector<Point> points(300), centres(7);
  for (auto *v : {&points, &centres})
    for (auto &p : *v) {
      auto r = randoms<double>(3, 0, 1);
      p = {r[0], r[1], r[2]};
    }
  std::vector<int> label(300, -1);
  nearest_centre(points, centres, label);
  SHOW(nearest_centre, label);
  auto f = randoms<float>(900, -1, 1), g = randoms<float>(900, -1, 1);
  relu_backward(f, g, wave);
  SHOW(relu_backward, wave);
  auto c = random_rows<double>(37, 41);
  heat(a, c, 5);
  SHOW(heat, a);
  heat_flat(f, g, 30, 7);
  SHOW(heat_flat, f);
  checked(price, price, out);
  SHOW(checked, out);
  logarithms(price, out);
  SHOW(logarithms, out);
  std::vector<int> pixels(40 * 30, -1);
  mandel(pixels, 40, 30);
  SHOW(mandel, pixels);
  merge_blend(wave, f, 0.3f);
  SHOW(merge_blend, wave);
  std::vector<std::array<char, 32>> lines(60);
  for (auto &l : lines)
    for (char &ch : l)
      ch = static_cast<char>(engine());
  std::vector<std::array<int, 4>> counts(60);
  letters(lines, counts);
  SHOW(letters, counts);
  std::size_t where = 0;
  double most = furthest(f, g, where);
  SHOW(furthest, std::vector<double>({most, double(where)}));
  return 0;
}
