// Functions that work with their callers' holds and do all that is dangerous there: they read and write on the host, print, throw, take the
// same array twice, parts that overlap, arrays of their own and globals, call each other and themselves, and unknown functions.
// ARGS: 40 7
// ARGS: 300 4
// ARGS: 2 3
// ARGS: 1 1
// OFFLOAD: yes
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#define OWN __attribute__((noinline)) static

static double global[400];
static double *escaped;
static int calls;

// Not known to the compiler: it may touch whatever escaped.
OWN void poke_impl() {
  if (escaped)
    escaped[0] += 0.5;
  ++calls;
}
static void (*volatile poke)() = poke_impl;

OWN double value(int i) { return i * 7919 % 1013 * 0.25 - 100; }
OWN double mix(double sum, double x) { return sum * 0.75 + x; }

OWN void print(const char *name, const double *p, int n) {
  double sum = 0;
  for (int i = 0; i < n; ++i)
    sum = mix(sum, p[i]);
  std::printf("%s %.17g %.17g %.17g\n", name, sum, p[0], p[n - 1]);
}

// SCoPs only.
OWN void scale(int n, double *A, double f) {
  for (int i = 0; i < n; ++i)
    A[i] = A[i] * f + i;
}

// One array may be both, or they overlap: then the loop runs on the host, after all came back.
OWN void add(int n, double *A, const double *B) {
  for (int i = 0; i < n; ++i)
    A[i] += B[i] * 0.5;
}

// Reads an element that the caller may have on the device only, before and after its own loop nest.
OWN double peeks(int n, double *A, const double *B) {
  double before = B[n / 2] + A[0];
  for (int i = 0; i < n; ++i)
    A[i] = A[i] * 0.25 + before;
  return before + A[n / 2];
}

// Writes to what it has no loop nest over.
OWN void pokes(int n, double *A, double *B) {
  B[n / 3] = value(n);
  for (int i = 0; i < n; ++i)
    A[i] += 1.5;
  B[0] -= 2;
}

// An array of its own, from which nothing may stay.
OWN void own(int n, double *A) {
  double *T = static_cast<double *>(std::malloc(n * sizeof(double)));
  if (!T)
    return;
  for (int i = 0; i < n; ++i)
    T[i] = A[i] * 2;
  for (int i = 0; i < n; ++i)
    A[i] -= T[i] * 0.25;
  std::free(T);
}

// New memory, which the caller knows only afterwards.
OWN double *make(int n, const double *A) {
  double *T = static_cast<double *>(std::malloc(n * sizeof(double)));
  if (!T)
    std::abort();
  for (int i = 0; i < n; ++i)
    T[i] = A[i] * 3;
  return T;
}

OWN void globals(int n, double *A) {
  for (int i = 0; i < n; ++i)
    global[i] = A[i] * 0.5 + global[i];
}

OWN void says(int n, double *A) noexcept {
  for (int i = 0; i < n; ++i)
    A[i] *= 0.5;
  poke();
  for (int i = 0; i < n; ++i)
    A[i] += 0.25;
}

OWN void throws(int n, double *A, bool now) {
  for (int i = 0; i < n; ++i)
    A[i] += 3;
  if (now)
    throw std::runtime_error("thrown");
  for (int i = 0; i < n; ++i)
    A[i] *= 0.5;
}

// Lends what it was lent.
OWN void both(int n, double *A, double *B) {
  scale(n, A, 0.5);
  add(n, B, A);
  scale(n, B, 0.75);
}

OWN void itself(int n, double *A, int depth) noexcept {
  for (int i = 0; i < n; ++i)
    A[i] += depth;
  if (depth > 0)
    itself(n, A, depth - 1);
  for (int i = 0; i < n; ++i)
    A[i] *= 0.875;
}

OWN void round(int n, int r, double *A, double *B) {
  scale(n, A, 0.5);
  add(n, B, A);
  double seen = peeks(n, A, B);
  pokes(n, A, B);
  if (r % 3 == 1)
    std::printf("%d %.17g %.17g\n", r, seen, B[n / 2]);
  own(n, B);
  double *T = make(n, A);
  scale(n, B, T[n / 2] * 0.001);
  std::free(T);
  globals(n, B);
  both(n, A, B);
  says(n, B);
  add(n, A, A);
  if (n > 2)
    add(n - 1, A, A + 1);
  itself(n, B, 2);
  try {
    throws(n, A, r % 2 == 1);
    scale(n, A, 0.25);
  } catch (const std::exception &e) {
    std::printf("%s %.17g\n", e.what(), A[n - 1]);
  }
  add(n, A, global);
}

int main(int argc, char **argv) {
  int n = argc > 1 ? std::atoi(argv[1]) : 40, rounds = argc > 2 ? std::atoi(argv[2]) : 7;
  double *A = static_cast<double *>(std::malloc(n * sizeof(double))), *B = static_cast<double *>(std::malloc(n * sizeof(double)));
  if (!A || !B)
    return 1;
  for (int i = 0; i < n; ++i)
    A[i] = value(i), B[i] = value(3 * i + 1);
  escaped = B;
  for (int r = 0; r < rounds; ++r)
    round(n, r, A, B);
  print("A", A, n);
  print("B", B, n);
  print("global", global, n);
  std::printf("%d calls\n", calls);
  std::free(A);
  std::free(B);
  return 0;
}
