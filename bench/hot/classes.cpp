// Hot loops of programs with classes of their own: matrices, fields with ghost cells, expression templates, views, vectors of space.
#include "data.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <memory>

// Arrays whose arithmetic makes expressions, evaluated on assignment.
template <class E> struct Expr {
  const E &self() const { return static_cast<const E &>(*this); }
};

class Array : public Expr<Array> {
  std::vector<double> data_;

public:
  explicit Array(std::vector<double> v) : data_(std::move(v)) {}
  double operator[](std::size_t i) const { return data_[i]; }
  double &operator[](std::size_t i) { return data_[i]; }
  std::size_t size() const { return data_.size(); }
  const std::vector<double> &values() const { return data_; }
  template <class E> Array &operator=(const Expr<E> &e) {
    const E &x = e.self();
    for (std::size_t i = 0; i < size(); i++)
      data_[i] = x[i];
    return *this;
  }
};

template <class L, class R, class Op> struct Binary : Expr<Binary<L, R, Op>> {
  const L &l;
  const R &r;
  Binary(const L &a, const R &b) : l(a), r(b) {}
  double operator[](std::size_t i) const { return Op::apply(l[i], r[i]); }
};
struct Plus {
  static double apply(double a, double b) { return a + b; }
};
struct Times {
  static double apply(double a, double b) { return a * b; }
};
template <class L, class R> Binary<L, R, Plus> operator+(const Expr<L> &a, const Expr<R> &b) { return {a.self(), b.self()}; }
template <class L, class R> Binary<L, R, Times> operator*(const Expr<L> &a, const Expr<R> &b) { return {a.self(), b.self()}; }

LOOP void expression(Array &out, const Array &a, const Array &b, const Array &c) { out = a * b + c * c; }

// A dense matrix by columns, its blocks, and a product that is evaluated where it is assigned.
class Matrix {
  std::size_t rows_, cols_;
  std::vector<double> data_;

public:
  Matrix(std::size_t rows, std::size_t cols, std::vector<double> v) : rows_(rows), cols_(cols), data_(std::move(v)) {}
  std::size_t rows() const { return rows_; }
  std::size_t cols() const { return cols_; }
  double operator()(std::size_t i, std::size_t j) const { return data_[i + j * rows_]; }
  double &operator()(std::size_t i, std::size_t j) { return data_[i + j * rows_]; }
  const std::vector<double> &values() const { return data_; }
};

struct Block {
  Matrix &m;
  std::size_t row, col, rows, cols;
  double &operator()(std::size_t i, std::size_t j) const { return m(row + i, col + j); }
};

LOOP void gemm(const Matrix &a, const Matrix &b, Matrix &c) {
  assert(a.cols() == b.rows());
  for (std::size_t i = 0; i < a.rows(); ++i)
    for (std::size_t j = 0; j < b.cols(); ++j) {
      double sum = 0;
      for (std::size_t k = 0; k < a.cols(); ++k)
        sum += a(i, k) * b(k, j);
      c(i, j) = sum;
    }
}

LOOP void rank_one(Block m, const std::vector<double> &u, const std::vector<double> &v, double alpha) {
  for (std::size_t i = 0; i < m.rows; i++)
    for (std::size_t j = 0; j < m.cols; j++)
      m(i, j) += alpha * u[i] * v[j];
}

// LU without pivoting, in place.
LOOP void lu(Matrix &a) {
  const std::size_t n = a.rows();
  for (std::size_t k = 0; k < n; k++)
    for (std::size_t i = k + 1; i < n; i++) {
      a(i, k) /= a(k, k);
      for (std::size_t j = k + 1; j < n; j++)
        a(i, j) -= a(i, k) * a(k, j);
    }
}

// A field with ghost cells around it.
template <class T> class Field {
  int nx_, ny_, ghost_;
  std::unique_ptr<T[]> data_;

public:
  Field(int nx, int ny, int ghost) : nx_(nx), ny_(ny), ghost_(ghost), data_(new T[(nx + 2 * ghost) * (ny + 2 * ghost)]) {}
  T &operator()(int i, int j) { return data_[(j + ghost_) * (nx_ + 2 * ghost_) + i + ghost_]; }
  const T &operator()(int i, int j) const { return data_[(j + ghost_) * (nx_ + 2 * ghost_) + i + ghost_]; }
  int nx() const { return nx_; }
  int ny() const { return ny_; }
  int size() const { return (nx_ + 2 * ghost_) * (ny_ + 2 * ghost_); }
  T *raw() { return data_.get(); }
};

LOOP void advect(const Field<double> &q, const Field<double> &u, const Field<double> &v, Field<double> &out, double dt) {
  for (int j = 0; j < q.ny(); j++)
    for (int i = 0; i < q.nx(); i++) {
      double fx = u(i, j) > 0 ? u(i, j) * (q(i, j) - q(i - 1, j)) : u(i, j) * (q(i + 1, j) - q(i, j));
      double fy = v(i, j) > 0 ? v(i, j) * (q(i, j) - q(i, j - 1)) : v(i, j) * (q(i, j + 1) - q(i, j));
      out(i, j) = q(i, j) - dt * (fx + fy);
    }
}

LOOP void periodic_ghosts(Field<double> &f, int depth) {
  for (int g = 1; g <= depth; g++) {
    for (int j = 0; j < f.ny(); j++) {
      f(-g, j) = f(f.nx() - g, j);
      f(f.nx() + g - 1, j) = f(g - 1, j);
    }
    for (int i = 0; i < f.nx(); i++) {
      f(i, -g) = f(i, f.ny() - g);
      f(i, f.ny() + g - 1) = f(i, g - 1);
    }
  }
}

// Particles in space.
struct Vec3 {
  double x, y, z;
  Vec3 operator+(const Vec3 &o) const { return {x + o.x, y + o.y, z + o.z}; }
  Vec3 operator-(const Vec3 &o) const { return {x - o.x, y - o.y, z - o.z}; }
  Vec3 operator*(double s) const { return {x * s, y * s, z * s}; }
  Vec3 &operator+=(const Vec3 &o) { return *this = *this + o; }
  double dot(const Vec3 &o) const { return x * o.x + y * o.y + z * o.z; }
};

struct Particle {
  Vec3 position, velocity, force;
  double mass;
};

class System {
public:
  std::vector<Particle> particles;
  LOOP void forces() {
    for (auto &p : particles) {
      Vec3 f{0, 0, 0};
      for (const auto &q : particles) {
        if (&p == &q)
          continue;
        Vec3 d = q.position - p.position;
        double r2 = d.dot(d) + 0.01;
        f += d * (p.mass * q.mass / (r2 * std::sqrt(r2)));
      }
      p.force = f;
    }
  }
  LOOP void step(double dt) {
    for (auto &p : particles) {
      p.velocity += p.force * (dt / p.mass);
      p.position += p.velocity * dt;
    }
  }
};

// A layer of a network, by samples.
class Dense {
public:
  std::size_t in, out;
  std::vector<float> w, b, dw, db;
  Dense(std::size_t i, std::size_t o) : in(i), out(o), w(randoms<float>(i * o, -1, 1)), b(randoms<float>(o, -1, 1)), dw(i * o, 0.5f), db(o, 0.5f) {}
  LOOP void forward(const std::vector<std::vector<float>> &x, std::vector<std::vector<float>> &y) const {
    for (std::size_t s = 0; s < x.size(); s++)
      for (std::size_t o = 0; o < out; o++) {
        float z = b[o];
        for (std::size_t i = 0; i < in; i++)
          z += w[o * in + i] * x[s][i];
        y[s][o] = std::max(z, 0.0f);
      }
  }
  LOOP void backward(const std::vector<std::vector<float>> &x, const std::vector<std::vector<float>> &dy) {
    for (std::size_t o = 0; o < out; o++) {
      for (std::size_t s = 0; s < x.size(); s++) {
        db[o] += dy[s][o];
        for (std::size_t i = 0; i < in; i++)
          dw[o * in + i] += dy[s][o] * x[s][i];
      }
    }
  }
};

int main() {
  Array a(randoms<double>(500, 1, 2)), b(randoms<double>(500, 1, 2)), c(randoms<double>(500, 1, 2)), d(randoms<double>(500, 1, 2));
  expression(d, a, b, c);
  SHOW(expression, d.values());
  Matrix m(33, 27, randoms<double>(33 * 27, 0, 1)), n(27, 35, randoms<double>(27 * 35, 0, 1)), p(33, 35, randoms<double>(33 * 35, 0, 1));
  gemm(m, n, p);
  SHOW(gemm, p.values());
  rank_one({p, 3, 5, 25, 20}, randoms<double>(25, 0, 1), randoms<double>(20, 0, 1), 0.7);
  SHOW(rank_one, p.values());
  Matrix square(30, 30, randoms<double>(900, 1, 2));
  for (int i = 0; i < 30; i++)
    square(i, i) += 40;
  lu(square);
  SHOW(lu, square.values());
  Field<double> q(35, 28, 2), u(35, 28, 2), v(35, 28, 2), out(35, 28, 2);
  for (auto *f : {&q, &u, &v, &out}) {
    auto r = randoms<double>(f->size(), -1, 1);
    std::copy(r.begin(), r.end(), f->raw());
  }
  advect(q, u, v, out, 0.1);
  Hash().add(out.raw(), out.size()).show("advect");
  periodic_ghosts(out, 2);
  Hash().add(out.raw(), out.size()).show("periodic_ghosts");
  System s;
  for (int i = 0; i < 80; i++) {
    auto r = randoms<double>(10, 0.5, 1.5);
    s.particles.push_back({{r[0], r[1], r[2]}, {r[3], r[4], r[5]}, {r[6], r[7], r[8]}, r[9]});
  }
  s.forces();
  SHOW(forces, s.particles);
  s.step(0.01);
  SHOW(step, s.particles);
  Dense layer(24, 31);
  std::vector<std::vector<float>> x, y;
  for (int i = 0; i < 20; i++) {
    x.push_back(randoms<float>(24, -1, 1));
    y.push_back(randoms<float>(31, -1, 1));
  }
  layer.forward(x, y);
  SHOW(forward, y);
  layer.backward(x, y);
  SHOW(backward, layer.dw);
  return 0;
}
