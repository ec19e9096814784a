// A program that divides its work itself: its ranks have different data, and are left alone.
#include "example.h"
#include <mpi.h>

__attribute__((noinline)) static void scale(int n, double f, double *restrict a, const double *restrict b) {
  for (int i = 0; i < n; i++)
    a[i] = f * b[i] + b[n - 1 - i];
}

int main(int argc, char **argv) {
  int rank, n = 3000;
  double *a = example_array(n), *b = example_array(n), sum = 0, all = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  example_fill(b, n);
  scale(n, 0.25 * (rank + 1), a, b);
  for (int i = 0; i < n; i++)
    sum += a[i];
  MPI_Reduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0)
    printf("%.17g\n", all);
  // Nobody's standard output is taken away.
  for (int r = 0; r < 3; r++) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (r == rank)
      printf("rank %d of its own\n", rank), fflush(stdout);
  }
  MPI_Finalize();
  return 0;
}
