// The ten kernels on views of raw pointers.
// ARGS: 24 17
// ARGS: 1 1
// ARGS: 5 3
// ARGS: 33 40
// OFFLOAD: yes
// TURNS: 3
// KERNELS: gemm jacobi_2d heat_3d fdtd_2d covariance conv2d atax floyd_warshall lu gemver
#include "kernels.hpp"
#include <memory>

template <class T>
struct View {
  T *data;
  int height, width;
  View(Index rows, Index cols, int seed) : data(new T[rows * cols]), height(static_cast<int>(rows)), width(static_cast<int>(cols)) {
    Random random(seed);
    for (Index i = 0; i < rows * cols; ++i)
      data[i] = random();
  }
  ~View() { delete[] data; }
  View(const View &) = delete;
  View &operator=(const View &) = delete;
  Index rows() const { return height; }
  Index cols() const { return width; }
  T &operator()(Index i, Index j) const { return data[i * width + j]; }
};

template <class T>
struct Vector {
  T *data;
  Vector(Index n, int seed) : data(new T[n]) {
    Random random(seed);
    for (Index i = 0; i < n; ++i)
      data[i] = random();
  }
  ~Vector() { delete[] data; }
  Vector(const Vector &) = delete;
  Vector &operator=(const Vector &) = delete;
  T &operator[](Index i) const { return data[i]; }
};

int main(int argc, char **argv) { return run<View<double>, Vector<double>>(argc, argv); }
