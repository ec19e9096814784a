// A virtual call in the loop.
// ARGS: 333
// ARGS: 0
// OFFLOAD: any
#include "values.hpp"

struct Operation {
  virtual ~Operation() = default;
  virtual double apply(double) const = 0;
};

struct Half : Operation {
  double apply(double x) const override { return x * 0.5; }
};

struct Next : Operation {
  double apply(double x) const override { return x + 1.0; }
};

[[gnu::noinline]] static void kernel(int n, double *a, const Operation *const *operations) {
  for (int i = 0; i < n; ++i)
    a[i] = operations[i & 1]->apply(a[i]);
}

int main(int argc, char **argv) {
  int n = argc > 1 ? std::atoi(argv[1]) : 33;
  std::vector<double> A(n);
  for (auto &x : A)
    x = uniform();
  Half half;
  Next next;
  const Operation *operations[2] = {&half, &next};
  kernel(n, A.data(), operations);
  std::uint64_t hash = 7;
  for (double x : A)
    mix(hash, x);
  std::printf("%016llx\n", static_cast<unsigned long long>(hash));
}
