// Rows that are searched until a value is found, whose last elements are then written: of another array, and of the one that was searched, where no row sees what another one stores.
// ARGS: 0
// ARGS: 1
// ARGS: 33
// OFFLOAD: yes
#include "example.h"

__attribute__((noinline)) static void search(int n, int *a, int *b) {
  for (int i = 0; i < n; i++) {
    unsigned last = 625;
    for (int j = 0; j < n; j++) {
      last = 500u * (unsigned)a[i * n + j];
      if (b[i * n + j] == 11)
        break;
    }
    b[i * n + n - 1] = (int)last;
  }
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 33);
  size_t count = (size_t)n * (size_t)n + 1;
  int *a = malloc(count * sizeof *a), *b = malloc(count * sizeof *b);
  for (size_t k = 0; k < count; k++) {
    a[k] = (int)(1000 * example_uniform());
    b[k] = (int)(30 * example_uniform());
  }
  search(n, a, b);
  printf("%016llx\n", (unsigned long long)example_hash(b, count * sizeof *b));
  search(n, b, b);
  printf("%016llx\n", (unsigned long long)example_hash(b, count * sizeof *b));
  search(n, b, a);
  search(n, a, a);
  printf("%016llx %016llx\n", (unsigned long long)example_hash(a, count * sizeof *a), (unsigned long long)example_hash(b, count * sizeof *b));
  return 0;
}
