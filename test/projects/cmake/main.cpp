#include <cstdio>
#include <vector>

static void scale(std::vector<double> &y, const std::vector<double> &x) {
  for (std::size_t i = 0; i < x.size(); i++)
    y[i] = 2 * x[i] + 1;
}

int main() {
  std::vector<double> x(4000), y(4000);
  for (int i = 0; i < 4000; i++)
    x[i] = i % 17 * 0.25;
  scale(y, x);
  double sum = 0;
  for (double v : y)
    sum = sum * 0.5 + v;
  std::printf("%.17g\n", sum);
}
