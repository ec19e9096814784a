// A separable blur of an image, several times: a class with a std::vector, loops in a template.
// blur [STEPS ROWS COLUMNS [SEED]]
#include "example.h"

#include <vector>

template <typename T> class Image {
  int rows_, columns_;
  std::vector<T> pixels_;

public:
  Image(int rows, int columns) : rows_(rows), columns_(columns), pixels_(static_cast<size_t>(rows) * columns) {}
  int rows() const { return rows_; }
  int columns() const { return columns_; }
  T &operator()(int i, int j) { return pixels_[static_cast<size_t>(i) * columns_ + j]; }
  T operator()(int i, int j) const { return pixels_[static_cast<size_t>(i) * columns_ + j]; }
  T *data() { return pixels_.data(); }
  size_t size() const { return pixels_.size(); }
};

template <typename T>
__attribute__((noinline)) static void blur(int steps, int n, int m, Image<T> &image, Image<T> &between) {
  for (int t = 0; t < steps; ++t) {
    for (int i = 0; i < n; ++i)
      for (int j = 2; j < m - 2; ++j)
        between(i, j) = T(0.07) * image(i, j - 2) + T(0.23) * image(i, j - 1) + T(0.39) * image(i, j) + T(0.22) * image(i, j + 1) +
                        T(0.06) * image(i, j + 2);
    for (int i = 2; i < n - 2; ++i)
      for (int j = 2; j < m - 2; ++j)
        image(i, j) = T(0.06) * between(i - 2, j) + T(0.22) * between(i - 1, j) + T(0.41) * between(i, j) +
                      T(0.21) * between(i + 1, j) + T(0.08) * between(i + 2, j);
  }
}

int main(int argc, char **argv) {
  int steps = static_cast<int>(example_arg(argc, argv, 1, 10));
  int n = static_cast<int>(example_arg(argc, argv, 2, 400)), m = static_cast<int>(example_arg(argc, argv, 3, 500));
  long seed = example_arg(argc, argv, 4, 1);
  Image<TYPE> image(n, m), between(n, m);
  for (long r = example_repeat(); r > 0; --r) {
    example_seed(seed);
    example_fill(image.data(), image.size());
    blur(steps, n, m, image, between);
  }
  example_print("image", image.data(), image.size());
}
