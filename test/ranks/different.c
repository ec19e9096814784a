// Ranks that go different ways. The argument says how: a value, a size, data, one loop more, an early end, or a death.
#include "example.h"
#include <signal.h>
#include <string.h>
#include <unistd.h>

__attribute__((noinline)) static void scale(int n, double f, double *restrict a, const double *restrict b) {
  for (int i = 0; i < n; i++)
    a[i] = f * b[i] + b[n - 1 - i];
}

__attribute__((noinline)) static void again(int n, double *restrict a, const double *restrict b) {
  for (int i = 0; i < n; i++)
    a[i] = a[i] * b[i];
}

// Whether this rank goes its own way, as by a clock or a process number.
__attribute__((noinline)) static int is(const char *how, const char *word) {
  const char *rank = getenv("PMI_RANK");
  return rank && atoi(rank) == 1 && !strcmp(how, word);
}

int main(int argc, char **argv) {
  const char *how = argc > 1 ? argv[1] : "";
  int size = is(how, "size"), data = is(how, "data"), value = is(how, "value"), death = is(how, "death"), end = is(how, "end"), more = is(how, "more");
  int n = 3000 + size;
  double *a = example_array(n), *b = example_array(n);
  example_fill(a, n), example_fill(b, n);
  if (data)
    b[7] += 1;
  scale(n, value ? 0.5 : 0.25, a, b);
  if (death)
    raise(SIGKILL);
  if (end)
    return 0;
  if (more)
    again(n, a, b);
  scale(n, 0.75, b, a);
  example_print("b", b, n);
  return 0;
}
