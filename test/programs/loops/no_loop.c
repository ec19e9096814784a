// No loop worth the name.
// ARGS: 33
// OFFLOAD: no
#include "example.h"


int main(int argc, char **argv) {
  long n = example_arg(argc, argv, 1, 33);
  printf("%ld %016llx\n", n * n + 1, (unsigned long long)example_bits());
  return 0;
}
