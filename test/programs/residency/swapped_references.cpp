// Vectors that are passed by reference and swapped in each time step: two of them, one passed twice, parts of one object, tables of rows.
// ARGS: 5 33 17
// ARGS: 0 9 9
// ARGS: 4 3 50
// OFFLOAD: yes
// KERNELS: smooth
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

using Field = std::vector<double>;

extern "C" [[gnu::noinline]] void smooth(int steps, int n, int m, Field &from, Field &to) {
  for (int t = 0; t < steps; ++t) {
    for (int i = 1; i < n - 1; ++i)
      for (int j = 1; j < m - 1; ++j)
        to[i * m + j] = 0.4 * from[i * m + j] + 0.15 * (from[(i - 1) * m + j] + from[(i + 1) * m + j]) +
                        0.15 * (from[i * m + j - 1] + from[i * m + j + 1]);
    std::swap(from, to);
  }
}

// May be called for one field.
extern "C" [[gnu::noinline]] void relax(int steps, int m, Field &from, Field &to) {
  for (int t = 0; t < steps; ++t) {
    for (int j = 1; j < m - 1; ++j)
      to[j] = 0.5 * from[j] + 0.25 * (from[j - 1] + from[j + 1]);
    from.swap(to);
  }
}

struct Three {
  Field before, now, next;
};

[[gnu::noinline]] static void wave(int steps, int m, Three &w) {
  for (int t = 0; t < steps; ++t) {
    for (int j = 1; j < m - 1; ++j)
      w.next[j] = 2.0 * w.now[j] - w.before[j] + 0.1 * (w.now[j - 1] - 2.0 * w.now[j] + w.now[j + 1]);
    w.before.swap(w.now);
    w.now.swap(w.next);
  }
}

[[gnu::noinline]] static void rows(int steps, int n, int m, std::vector<Field> &from, std::vector<Field> &to) {
  for (int t = 0; t < steps; ++t) {
    for (int i = 1; i < n - 1; ++i)
      for (int j = 1; j < m - 1; ++j)
        to[i][j] = 0.25 * (from[i - 1][j] + from[i + 1][j] + from[i][j - 1] + from[i][j + 1]);
    std::swap(from, to);
  }
}

static unsigned state = 1;

static Field random_field(int size) {
  Field f(static_cast<std::size_t>(size));
  for (double &x : f) {
    state = state * 1664525u + 1013904223u;
    x = static_cast<double>(state) * 0x1p-31 - 1.0;
  }
  return f;
}

static void print(const char *name, const Field &f) {
  std::printf("%s\n", name);
  for (double x : f)
    std::printf("%a\n", x);
}

int main(int argc, char **argv) {
  int steps = argc > 1 ? std::atoi(argv[1]) : 5;
  int n = argc > 2 ? std::atoi(argv[2]) : 33, m = argc > 3 ? std::atoi(argv[3]) : 17;
  Field A = random_field(n * m), B = random_field(n * m);
  smooth(steps, n, m, A, B);
  print("A", A);
  print("B", B);
  relax(steps, n * m, A, B);
  relax(steps, n * m, A, A);
  print("relaxed", A);
  Three w{random_field(n * m), random_field(n * m), random_field(n * m)};
  wave(steps, n * m, w);
  print("now", w.now);
  std::vector<Field> R, S;
  for (int i = 0; i < n; ++i) {
    R.push_back(random_field(m));
    S.push_back(random_field(m));
  }
  rows(steps, n, m, R, S);
  rows(steps, n, m, R, R);
  for (const Field &row : R)
    print("row", row);
  return 0;
}
