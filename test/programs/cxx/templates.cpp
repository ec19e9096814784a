// A matrix class template with an inlined operator(), and lambdas.
// ARGS: 33 17
// ARGS: 0 0
// ARGS: 1 1
// ARGS: 2 3
// ARGS: 31 65
// OFFLOAD: yes
// KERNELS: product each
#include "values.hpp"

template <typename T> class Matrix {
  std::vector<T> data_;
  int rows_, columns_;

public:
  Matrix(int rows, int columns) : data_(static_cast<std::size_t>(rows) * columns), rows_(rows), columns_(columns) {}
  int rows() const { return rows_; }
  int columns() const { return columns_; }
  T &operator()(int i, int j) { return data_[static_cast<std::size_t>(i) * columns_ + j]; }
  T operator()(int i, int j) const { return data_[static_cast<std::size_t>(i) * columns_ + j]; }
};

template <typename F> static void each(int n, int m, F f) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j)
      f(i, j);
}

[[gnu::noinline]] static void product(Matrix<double> &C, const Matrix<double> &A, const Matrix<double> &B) {
  for (int i = 0; i < C.rows(); ++i)
    for (int j = 0; j < C.columns(); ++j) {
      double sum = 0;
      for (int k = 0; k < A.columns(); ++k)
        sum += A(i, k) * B(k, j);
      C(i, j) = sum;
    }
}

int main(int argc, char **argv) {
  int n = argc > 1 ? std::atoi(argv[1]) : 33, m = argc > 2 ? std::atoi(argv[2]) : 17;
  Matrix<double> A(n, m), B(m, n), C(n, n);
  each(n, m, [&](int i, int j) {
    A(i, j) = uniform();
    B(j, i) = uniform();
  });
  product(C, A, B);
  double scale = 0.75;
  each(n, n, [&, scale](int i, int j) { C(i, j) = C(i, j) * scale + 1.0; });
  std::uint64_t hash = 7;
  each(n, n, [&](int i, int j) { mix(hash, C(i, j)); });
  std::printf("%016llx\n", static_cast<unsigned long long>(hash));
}
