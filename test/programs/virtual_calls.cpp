// A virtual call in the loop.
// ARGS: 333
// ARGS: 0
// OFFLOAD: any
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

static std::uint64_t state = 1;

[[gnu::noinline]] static double uniform() {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return static_cast<double>(static_cast<std::int64_t>(state * 0x2545f4914f6cdd1du)) * 0x1p-63;
}

[[gnu::noinline]] static void mix(std::uint64_t &hash, double value) {
  union {
    double value;
    std::uint64_t bits;
  } both = {value};
  hash = (hash ^ both.bits) * 0x100000001b3u;
}

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
