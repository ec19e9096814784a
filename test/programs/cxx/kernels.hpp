// The ten kernels on any matrix with `a(i, j)`, `a.rows()`, `a.cols()` and any vector with `x[i]`, and a main for them: `run<M, V>`, with `M(rows,
// cols, seed)` and `V(size, seed)` filled with random numbers.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

using Index = std::ptrdiff_t;

struct Random {
  std::uint64_t state;
  explicit Random(std::uint64_t seed) : state(seed * 0x9e3779b97f4a7c15u | 1) {}
  double operator()() {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return static_cast<double>(state >> 11) * 0x1p-53;
  }
};

template <class M>
[[gnu::noinline]] void gemm(double alpha, double beta, M &C, const M &A, const M &B) {
  for (Index i = 0; i < C.rows(); ++i) {
    for (Index j = 0; j < C.cols(); ++j)
      C(i, j) *= beta;
    for (Index k = 0; k < A.cols(); ++k)
      for (Index j = 0; j < C.cols(); ++j)
        C(i, j) += alpha * A(i, k) * B(k, j);
  }
}

template <class M>
[[gnu::noinline]] void jacobi_2d(int steps, M &A, M &B) {
  for (int t = 0; t < steps; ++t) {
    for (Index i = 1; i < A.rows() - 1; ++i)
      for (Index j = 1; j < A.cols() - 1; ++j)
        B(i, j) = 0.2 * (A(i, j) + A(i, j - 1) + A(i, j + 1) + A(i + 1, j) + A(i - 1, j));
    for (Index i = 1; i < A.rows() - 1; ++i)
      for (Index j = 1; j < A.cols() - 1; ++j)
        A(i, j) = 0.2 * (B(i, j) + B(i, j - 1) + B(i, j + 1) + B(i + 1, j) + B(i - 1, j));
  }
}

// A cube is a matrix of n * n rows.
template <class M>
[[gnu::noinline]] void heat_3d(int steps, M &A, M &B) {
  const Index n = A.cols();
  auto sweep = [n](M &to, const M &from) {
    for (Index i = 1; i < n - 1; ++i)
      for (Index j = 1; j < n - 1; ++j)
        for (Index k = 1; k < n - 1; ++k)
          to(i * n + j, k) =
              0.125 * (from((i + 1) * n + j, k) - 2.0 * from(i * n + j, k) + from((i - 1) * n + j, k)) +
              0.125 * (from(i * n + j + 1, k) - 2.0 * from(i * n + j, k) + from(i * n + j - 1, k)) +
              0.125 * (from(i * n + j, k + 1) - 2.0 * from(i * n + j, k) + from(i * n + j, k - 1)) + from(i * n + j, k);
  };
  for (int t = 0; t < steps; ++t) {
    sweep(B, A);
    sweep(A, B);
  }
}

template <class M, class V>
[[gnu::noinline]] void fdtd_2d(int steps, M &ex, M &ey, M &hz, const V &source) {
  const Index nx = hz.rows(), ny = hz.cols();
  for (int t = 0; t < steps; ++t) {
    for (Index j = 0; j < ny; ++j)
      ey(0, j) = source[t];
    for (Index i = 1; i < nx; ++i)
      for (Index j = 0; j < ny; ++j)
        ey(i, j) -= 0.5 * (hz(i, j) - hz(i - 1, j));
    for (Index i = 0; i < nx; ++i)
      for (Index j = 1; j < ny; ++j)
        ex(i, j) -= 0.5 * (hz(i, j) - hz(i, j - 1));
    for (Index i = 0; i < nx - 1; ++i)
      for (Index j = 0; j < ny - 1; ++j)
        hz(i, j) -= 0.7 * (ex(i, j + 1) - ex(i, j) + ey(i + 1, j) - ey(i, j));
  }
}

template <class M, class V>
[[gnu::noinline]] void covariance(M &data, M &cov, V &mean) {
  const Index n = data.rows(), m = data.cols();
  for (Index j = 0; j < m; ++j) {
    mean[j] = 0;
    for (Index i = 0; i < n; ++i)
      mean[j] += data(i, j);
    mean[j] /= static_cast<double>(n);
  }
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < m; ++j)
      data(i, j) -= mean[j];
  for (Index i = 0; i < m; ++i)
    for (Index j = i; j < m; ++j) {
      double sum = 0;
      for (Index k = 0; k < n; ++k)
        sum += data(k, i) * data(k, j);
      cov(i, j) = cov(j, i) = sum / (static_cast<double>(n) - 1);
    }
}

template <class M>
[[gnu::noinline]] void conv2d(M &out, const M &image, const M &filter) {
  for (Index y = 0; y < out.rows(); ++y)
    for (Index x = 0; x < out.cols(); ++x) {
      double sum = 0;
      for (Index dy = 0; dy < filter.rows(); ++dy)
        for (Index dx = 0; dx < filter.cols(); ++dx)
          sum += filter(dy, dx) * image(y + dy, x + dx);
      out(y, x) = sum;
    }
}

template <class M, class V>
[[gnu::noinline]] void atax(const M &A, const V &x, V &y, V &tmp) {
  for (Index j = 0; j < A.cols(); ++j)
    y[j] = 0;
  for (Index i = 0; i < A.rows(); ++i) {
    tmp[i] = 0;
    for (Index j = 0; j < A.cols(); ++j)
      tmp[i] += A(i, j) * x[j];
    for (Index j = 0; j < A.cols(); ++j)
      y[j] += A(i, j) * tmp[i];
  }
}

template <class M>
[[gnu::noinline]] void floyd_warshall(M &path) {
  for (Index k = 0; k < path.rows(); ++k)
    for (Index i = 0; i < path.rows(); ++i)
      for (Index j = 0; j < path.rows(); ++j) {
        const double through = path(i, k) + path(k, j);
        path(i, j) = path(i, j) < through ? path(i, j) : through;
      }
}

template <class M>
[[gnu::noinline]] void lu(M &A) {
  for (Index i = 0; i < A.rows(); ++i) {
    for (Index j = 0; j < i; ++j) {
      for (Index k = 0; k < j; ++k)
        A(i, j) -= A(i, k) * A(k, j);
      A(i, j) /= A(j, j);
    }
    for (Index j = i; j < A.rows(); ++j)
      for (Index k = 0; k < i; ++k)
        A(i, j) -= A(i, k) * A(k, j);
  }
}

template <class M, class V>
[[gnu::noinline]] void gemver(double alpha, double beta, M &A, const V &u1, const V &v1, const V &u2, const V &v2, V &w, V &x, const V &y,
                              const V &z) {
  const Index n = A.rows();
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < n; ++j)
      A(i, j) += u1[i] * v1[j] + u2[i] * v2[j];
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < n; ++j)
      x[i] += beta * A(j, i) * y[j];
  for (Index i = 0; i < n; ++i)
    x[i] += z[i];
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < n; ++j)
      w[i] += alpha * A(i, j) * x[j];
}

[[gnu::noinline]] inline void mix(std::uint64_t &hash, double x) {
  std::uint64_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  hash = (hash ^ bits) * 0x100000001b3u;
  hash = hash << 7 | hash >> 57;
}

inline void print(const char *name, std::uint64_t hash) { std::printf("%s %016llx\n", name, static_cast<unsigned long long>(hash)); }

template <class M>
void report(const char *name, const M &A) {
  std::uint64_t hash = 7;
  for (Index i = 0; i < A.rows(); ++i)
    for (Index j = 0; j < A.cols(); ++j)
      mix(hash, A(i, j));
  print(name, hash);
}

template <class V>
void report(const char *name, const V &x, Index n) {
  std::uint64_t hash = 7;
  for (Index i = 0; i < n; ++i)
    mix(hash, x[i]);
  print(name, hash);
}

template <class M, class V>
int run(int argc, char **argv) {
  const Index n = argc > 1 ? std::atoi(argv[1]) : 24, m = argc > 2 ? std::atoi(argv[2]) : 17;
  M A(n, m, 1), B(m, n, 2), C(n, n, 3);
  gemm(1.5, 1.25, C, A, B);
  report("gemm", C);
  M P(n, m, 4), Q(n, m, 5);
  jacobi_2d(3, P, Q);
  report("jacobi-2d", P);
  M G(m * m, m, 6), H(m * m, m, 7);
  heat_3d(2, G, H);
  report("heat-3d", G);
  M ex(n, m, 8), ey(n, m, 9), hz(n, m, 10);
  fdtd_2d(4, ex, ey, hz, V(4, 11));
  report("fdtd-2d", hz);
  M data(n, m, 12), cov(m, m, 13);
  V mean(m, 14);
  covariance(data, cov, mean);
  report("covariance", cov);
  if (n > 2 && m > 2) {
    M out(n - 2, m - 2, 15), image(n, m, 16), filter(3, 3, 17);
    conv2d(out, image, filter);
    report("conv2d", out);
  }
  V x(m, 18), y(m, 19), tmp(n, 20);
  atax(A, x, y, tmp);
  report("atax", y, m);
  M path(n, n, 21);
  floyd_warshall(path);
  report("floyd-warshall", path);
  M L(n, n, 22);
  for (Index i = 0; i < n; ++i)
    L(i, i) += static_cast<double>(n);
  lu(L);
  report("lu", L);
  M S(n, n, 23);
  V u1(n, 24), v1(n, 25), u2(n, 26), v2(n, 27), w(n, 28), s(n, 29), q(n, 30), z(n, 31);
  gemver(1.5, 1.25, S, u1, v1, u2, v2, w, s, q, z);
  report("gemver", w, n);
  return 0;
}
