// The ten kernels on spans of vectors, with sizes beside them.
// ARGS: 24 17
// ARGS: 1 1
// ARGS: 5 3
// ARGS: 33 40
// OFFLOAD: yes
// TURNS: 3
// KERNELS: gemm jacobi_2d heat_3d fdtd_2d covariance conv2d atax floyd_warshall lu gemver
// FLAGS: -std=c++20
#include "kernels.hpp"
#include <span>
#include <vector>

struct Grid {
  std::vector<double> owner;
  std::span<double> values;
  Index height, width;
  Grid(Index rows, Index cols, int seed) : owner(rows * cols), values(owner), height(rows), width(cols) {
    Random random(seed);
    for (double &x : values)
      x = random();
  }
  Grid(const Grid &) = delete;
  Grid &operator=(const Grid &) = delete;
  Index rows() const { return height; }
  Index cols() const { return width; }
  double &operator()(Index i, Index j) const { return values[i * width + j]; }
};

struct Line : std::vector<double> {
  Line(Index n, int seed) : std::vector<double>(n) {
    Random random(seed);
    for (double &x : *this)
      x = random();
  }
};

int main(int argc, char **argv) { return run<Grid, Line>(argc, argv); }
