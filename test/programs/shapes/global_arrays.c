// Global and static arrays of constant size, with sizes chosen at run time within.
// ARGS: 33 17
// ARGS: 0 0
// ARGS: 1 1
// ARGS: 70 90
// OFFLOAD: yes
#include "example.h"


#define ROWS 70
#define COLUMNS 90

double A[ROWS][COLUMNS];
static double B[ROWS][COLUMNS];
double weights[3] = {0.25, 0.5, 0.75};

__attribute__((noinline)) static void kernel(int n, int m) {
  static double row[COLUMNS];
  for (int i = 1; i < n; ++i)
    for (int j = 1; j < m - 1; ++j)
      A[i][j] = B[i][j - 1] * weights[0] + B[i][j] * weights[1] + B[i - 1][j + 1] * weights[2];
  for (int j = 0; j < m; ++j)
    row[j] = A[n > 0 ? n - 1 : 0][j];
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j)
      B[i][j] += row[j];
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 33), m = (int)example_arg(argc, argv, 2, 17);
  example_fill(&A[0][0], ROWS * COLUMNS);
  example_fill(&B[0][0], ROWS * COLUMNS);
  kernel(n, m);
  kernel(n, m);
  example_print("A", &A[0][0], ROWS * COLUMNS);
  example_print("B", &B[0][0], ROWS * COLUMNS);
  return 0;
}
