// Rows between two pointers, in a table of records of 24 bytes that iterators walk along: sums over rows, rows that are written, one row with a vector; rows of
// one length, none, one, empty ones, and one that is shorter than the others; with a vector that a pointer or a lambda leads to, which may be what is written, or nothing.
// ARGS: 33 17
// ARGS: 0 5
// ARGS: 1 8
// ARGS: 4 0
// ARGS: 40 65 7
// OFFLOAD: partial
// KERNELS: _ZL6totals\w*
// KERNELS: _ZL7centred\w*
// KERNELS: _ZL8products\w*
// KERNELS: _ZSt9transform\S*
#include <algorithm>
#include <numeric>

#include "values.hpp"

struct Row {
  double *first, *last;
  const char *name;
  double *begin() const { return first; }
  double *end() const { return last; }
};
using Table = std::vector<Row>;

[[gnu::noinline]] static void totals(const Table &rows, std::vector<double> &out) {
  for (std::size_t i = 0; i < rows.size(); i++)
    out[i] = std::accumulate(rows[i].begin(), rows[i].end(), 0.5);
}

[[gnu::noinline]] static void centred(Table &rows) {
  for (auto &row : rows) {
    double sum = 0;
    for (double v : row)
      sum += v;
    for (double &v : row)
      v -= sum;
  }
}

[[gnu::noinline]] static void products(const Row *row, const Row *end, const std::vector<double> &x, double *out) {
  for (; row != end; ++row, ++out)
    *out = std::inner_product(row->begin(), row->end(), x.begin(), 0.0);
}

struct Weights {
  const double *first;
};

// Of no row that is empty the weights are read.
[[gnu::noinline]] static void weighted(const Table &rows, const Weights *weights, double *out) {
  for (const auto &row : rows) {
    double sum = 0;
    for (std::size_t k = 0; row.first + k != row.last; k++)
      sum += row.first[k] * weights->first[k];
    *out++ = sum;
  }
}

[[gnu::noinline]] static void captured(const Table &rows, const std::vector<double> &x, std::vector<double> &out) {
  std::transform(rows.begin(), rows.end(), out.begin(),
                 [&](const Row &row) { return std::inner_product(row.begin(), row.end(), x.begin(), 0.0); });
}

int main(int argc, char **argv) {
  std::size_t n = std::atoi(argv[1]), m = std::atoi(argv[2]), shorter = argc > 3 ? std::atoi(argv[3]) : 0;
  std::vector<double> cells(n * (m + 3)), out(n), x(m);
  for (double &v : cells)
    v = uniform();
  for (double &v : x)
    v = uniform();
  Table rows(n);
  for (std::size_t i = 0; i < n; i++)
    rows[i] = {&cells[i * (m + 3)], &cells[i * (m + 3)] + m, "row"};
  std::uint64_t hash = 1;
  auto print = [&](const char *name) {
    for (const auto &all : {cells, out, x})
      for (double v : all)
        mix(hash, v);
    std::printf("%s %016llx\n", name, static_cast<unsigned long long>(hash));
  };
  for (int round = 0; round < 2; round++) {
    totals(rows, out);
    print("totals");
    centred(rows);
    print("centred");
    products(rows.data(), rows.data() + n, x, out.data());
    print("products");
    const Weights weights = {x.data()};
    weighted(rows, m ? &weights : nullptr, out.data());
    print("weighted");
    captured(rows, x, out);
    print("captured");
    if (n <= m)
      weighted(rows, &weights, x.data());
    print("overlap");
    if (shorter)
      rows[n / 2].last -= shorter;
  }
  return 0;
}
