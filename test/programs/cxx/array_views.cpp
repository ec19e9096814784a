// Views of any number of dimensions in the manner of std::mdspan (extents and indices in arrays on the stack, both layouts, parts of a matrix),
// expression templates in the manner of Eigen and uBLAS, and extremes of lists.
// ARGS: 13 17 11
// ARGS: 0 3 2
// ARGS: 3 3 3
// ARGS: 33 5 40
// OFFLOAD: yes
// KERNELS: heat
// KERNELS: columns
// KERNELS: window
// KERNELS: _ZN6VectoraS\w*
// KERNELS: product
// KERNELS: extremes
// KERNELS: alignment
#include <algorithm>
#include <array>
#include <cstddef>

#include "values.hpp"

template <std::size_t R> struct Right {
  std::array<std::size_t, R> extents;
  std::size_t operator()(const std::array<std::size_t, R> &index) const {
    std::size_t at = 0;
    for (std::size_t r = 0; r < R; r++)
      at = at * extents[r] + index[r];
    return at;
  }
};

template <std::size_t R> struct Left {
  std::array<std::size_t, R> extents;
  std::size_t operator()(const std::array<std::size_t, R> &index) const {
    std::size_t at = 0;
    for (std::size_t r = R; r-- > 0;)
      at = at * extents[r] + index[r];
    return at;
  }
};

template <std::size_t R> struct Strided {
  std::array<std::size_t, R> extents, strides;
  std::size_t operator()(const std::array<std::size_t, R> &index) const {
    std::size_t at = 0;
    for (std::size_t r = 0; r < R; r++)
      at += strides[r] * index[r];
    return at;
  }
};

template <class T, class Layout> struct View {
  T *data;
  Layout layout;
  template <class... I> T &operator()(I... i) const { return data[layout({static_cast<std::size_t>(i)...})]; }
  std::size_t extent(std::size_t r) const { return layout.extents[r]; }
};

extern "C" [[gnu::noinline]] void heat(View<const double, Right<3>> a, View<double, Right<3>> b) {
  for (std::size_t i = 1; i + 1 < a.extent(0); i++)
    for (std::size_t j = 1; j + 1 < a.extent(1); j++)
      for (std::size_t k = 1; k + 1 < a.extent(2); k++)
        b(i, j, k) = 0.125 * (a(i - 1, j, k) + a(i + 1, j, k) + a(i, j - 1, k) + a(i, j + 1, k) + a(i, j, k - 1) + a(i, j, k + 1)) - 0.5 * a(i, j, k);
}

extern "C" [[gnu::noinline]] void columns(View<double, Left<2>> a, View<const double, Left<2>> b) {
  for (std::size_t j = 0; j < a.extent(1); j++)
    for (std::size_t i = 0; i < a.extent(0); i++)
      a(i, j) += 2 * b(i, j);
}

extern "C" [[gnu::noinline]] void window(View<double, Strided<2>> a) {
  for (std::size_t i = 0; i < a.extent(0); i++)
    for (std::size_t j = 0; j < a.extent(1); j++)
      a(i, j) = a(i, j) * 3 + 1;
}

template <class E> struct Expression {
  const E &self() const { return static_cast<const E &>(*this); }
};

struct Vector : Expression<Vector> {
  std::vector<double> elements;
  explicit Vector(std::size_t n) : elements(n) {}
  double operator[](std::size_t i) const { return elements[i]; }
  std::size_t size() const { return elements.size(); }
  template <class E> Vector &operator=(const Expression<E> &e) {
    for (std::size_t i = 0; i < size(); i++)
      elements[i] = e.self()[i];
    return *this;
  }
};

template <class A, class B> struct Sum : Expression<Sum<A, B>> {
  const A &a;
  const B &b;
  Sum(const A &a, const B &b) : a(a), b(b) {}
  double operator[](std::size_t i) const { return a[i] + b[i]; }
};

template <class A> struct Scaled : Expression<Scaled<A>> {
  double factor;
  const A &a;
  Scaled(double factor, const A &a) : factor(factor), a(a) {}
  double operator[](std::size_t i) const { return factor * a[i]; }
};

template <class A, class B> Sum<A, B> operator+(const Expression<A> &a, const Expression<B> &b) { return {a.self(), b.self()}; }
template <class A> Scaled<A> operator*(double factor, const Expression<A> &a) { return {factor, a.self()}; }

struct Matrix {
  std::size_t rows, columns;
  std::vector<double> elements;
  Matrix(std::size_t rows, std::size_t columns) : rows(rows), columns(columns), elements(rows * columns) {}
  double operator()(std::size_t i, std::size_t j) const { return elements[i * columns + j]; }
  double &operator()(std::size_t i, std::size_t j) { return elements[i * columns + j]; }
};

// The element of a product is computed when it is asked for.
struct Product {
  const Matrix &a, &b;
  double operator()(std::size_t i, std::size_t j) const {
    double sum = 0;
    for (std::size_t k = 0; k < a.columns; k++)
      sum += a(i, k) * b(k, j);
    return sum;
  }
};

extern "C" [[gnu::noinline]] void triad(Vector &a, const Vector &b, const Vector &c, double s) { a = b + s * c + 2.0 * (b + c); }

extern "C" [[gnu::noinline]] void product(Matrix &c, const Matrix &a, const Matrix &b) {
  Product p{a, b};
  for (std::size_t i = 0; i < c.rows; i++)
    for (std::size_t j = 0; j < c.columns; j++)
      c(i, j) = p(i, j);
}

extern "C" [[gnu::noinline]] void extremes(std::size_t n, const double *a, const double *b, const double *c, double *out) {
  for (std::size_t i = 0; i < n; i++)
    out[i] = std::max({a[i], b[i], c[i], 0.1}) - std::min({a[i], 0.5, c[i]});
}

extern "C" [[gnu::noinline]] void alignment(int n, int m, const int *score, int *h, int gap) {
  for (int i = 1; i <= n; i++)
    for (int j = 1; j <= m; j++)
      h[i * (m + 1) + j] = std::max({0, h[(i - 1) * (m + 1) + j - 1] + score[(i - 1) * m + j - 1], h[(i - 1) * (m + 1) + j] - gap, h[i * (m + 1) + j - 1] - gap});
}

int main(int argc, char **argv) {
  auto argument = [&](int i) { return static_cast<std::size_t>(i < argc ? std::atoi(argv[i]) : 8); };
  std::size_t n = argument(1), m = argument(2), l = argument(3);
  std::vector<double> a(n * m * l), b(n * m * l);
  for (double &x : a)
    x = uniform();
  for (double &x : b)
    x = uniform();
  heat({a.data(), {{n, m, l}}}, {b.data(), {{n, m, l}}});
  columns({a.data(), {{n, m * l}}}, {b.data(), {{n, m * l}}});
  if (n > 1 && m > 1)
    window({a.data() + l + 1, {{n - 1, l - 1}, {m * l, 1}}});
  Vector u(n * m), v(n * m), w(n * m);
  for (std::size_t i = 0; i < n * m; i++) {
    v.elements[i] = uniform();
    w.elements[i] = uniform();
  }
  triad(u, v, w, 1.5);
  triad(v, v, u, 0.5);
  Matrix p(n, m), q(m, l), r(n, l);
  for (double &x : p.elements)
    x = uniform();
  for (double &x : q.elements)
    x = uniform();
  product(r, p, q);
  std::vector<double> extreme(n * m);
  extremes(n * m, u.elements.data(), v.elements.data(), w.elements.data(), extreme.data());
  std::vector<int> score(n * m), h((n + 1) * (m + 1));
  for (int &x : score)
    x = static_cast<int>(uniform() * 9);
  alignment(static_cast<int>(n), static_cast<int>(m), score.data(), h.data(), 2);
  for (const auto *all : {&a, &b, &u.elements, &v.elements, &r.elements, &extreme})
    for (double x : *all)
      std::printf("%a\n", x);
  for (int x : h)
    std::printf("%d\n", x);
}
