// Exceptions and longjmp leave a function between two of its SCoPs; who catches reads the arrays.
// ARGS: 30 8
// ARGS: 129 11
// ARGS: 1 4
// OFFLOAD: yes
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>

__attribute__((noinline)) static double value(int i) { return (i * 7919 % 1013) * 0.25 - 100; }
__attribute__((noinline)) static void print(const char *name, const double *p, int n) {
  for (int i = 0; i < n; ++i)
    std::printf("%s %d %.17g\n", name, i, p[i]);
}

static void __attribute__((noinline)) may_throw(int r, int at) {
  if (r == at)
    throw r;
}
static volatile std::sig_atomic_t signals;
static void on_signal(int) { signals = signals + 1; }
static jmp_buf back;
static void __attribute__((noinline)) may_jump(int r, int at) {
  if (r == at)
    longjmp(back, 1);
}

static void __attribute__((noinline)) leaves(int n, double *A, double *B, int rounds, int at) {
  for (int r = 0; r < rounds; ++r) {
    for (int i = 0; i < n; ++i)
      A[i] = A[i] * 0.5 + B[i];
    may_throw(r, at);
    for (int i = 0; i < n; ++i)
      B[i] += A[i] * 0.25;
  }
}

static void __attribute__((noinline)) jumps(int n, double *A, double *B, int rounds) {
  for (int r = 0; r < rounds; ++r) {
    for (int i = 0; i < n; ++i)
      A[i] += B[i] * 0.125;
    may_jump(r, rounds / 2);
    for (int i = 0; i < n; ++i)
      B[i] -= A[i] * 0.125;
  }
}

int main(int argc, char **argv) {
  int n = argc > 1 ? std::atoi(argv[1]) : 30, rounds = argc > 2 ? std::atoi(argv[2]) : 8;
  double *A = new double[n], *B = new double[n];
  std::signal(SIGUSR1, on_signal);
  for (int i = 0; i < n; ++i) {
    A[i] = value(i);
    B[i] = value(i + n);
  }
  const int places[] = {rounds / 2, rounds, 0};
  for (int at : places) {
    try {
      leaves(n, A, B, rounds, at);
    } catch (int r) {
      raise(SIGUSR1);
      std::printf("caught %d %.17g\n", r, A[0]);
    }
  }
  if (!setjmp(back))
    jumps(n, A, B, rounds);
  std::printf("%d\n", (int)signals);
  print("A", A, n);
  print("B", B, n);
  delete[] A;
  delete[] B;
  return 0;
}
