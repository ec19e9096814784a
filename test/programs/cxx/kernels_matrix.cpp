// The ten kernels on a class of matrices that holds a std::vector and its sizes, and checks its subscripts; vectors are checked by at().
// ARGS: 24 17
// ARGS: 1 1
// ARGS: 5 3
// ARGS: 33 40
// OFFLOAD: yes
// TURNS: 3
// KERNELS: gemm jacobi_2d heat_3d fdtd_2d covariance conv2d atax floyd_warshall lu gemver
#include "kernels.hpp"
#include <cassert>
#include <vector>

class Matrix {
  std::vector<double> values;
  std::size_t height, width;

public:
  Matrix(Index rows, Index cols, int seed) : values(rows * cols), height(rows), width(cols) {
    Random random(seed);
    for (auto &x : values)
      x = random();
  }
  Index rows() const { return static_cast<Index>(height); }
  Index cols() const { return static_cast<Index>(width); }
  double &operator()(std::size_t i, std::size_t j) {
    assert(i < height && j < width);
    return values[i * width + j];
  }
  double operator()(std::size_t i, std::size_t j) const {
    assert(i < height && j < width);
    return values[i * width + j];
  }
};

class Vector {
  std::vector<double> values;

public:
  Vector(Index n, int seed) : values(n) {
    Random random(seed);
    for (auto &x : values)
      x = random();
  }
  double &operator[](Index i) { return values.at(i); }
  double operator[](Index i) const { return values.at(i); }
};

int main(int argc, char **argv) { return run<Matrix, Vector>(argc, argv); }
