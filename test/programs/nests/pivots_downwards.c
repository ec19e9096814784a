// Eliminations from the last pivot down to the first, whose inner loops end at the pivot: with rows of a length that is an argument, rows of a fixed one, a pivot of
// 64 bits, one and two inner nests, one that ends behind the pivot, one whose first
// iterations are left out, and nests behind one that goes up from the pivot.
// ARGS: 65 70
// ARGS: 33 33
// ARGS: 1 1
// ARGS: 2 3
// ARGS: 0 4
// OFFLOAD: yes
// KERNELS: columns update both fixed wide inclusive from_second between
#include "example.h"

#define KERNEL __attribute__((noinline)) static
#define COLUMNS 96

KERNEL void columns(int n, int ld, unsigned *restrict A) {
  for (int k = n - 1; k >= 0; k--)
    for (int i = 0; i < k; i++)
      A[i * ld + k] = A[i * ld + k] * 3 + A[k * ld + k];
}

KERNEL void update(int n, int ld, unsigned *restrict A) {
  for (int k = n - 1; k >= 0; k--)
    for (int i = 0; i < k; i++)
      for (int j = 0; j < k; j++)
        A[i * ld + j] -= A[i * ld + k] * A[k * ld + j];
}

KERNEL void both(int n, int ld, unsigned *restrict A, unsigned *restrict B) {
  for (int k = n - 1; k >= 0; k--) {
    for (int i = 0; i < k; i++)
      A[i * ld + k] = A[i * ld + k] * 3 + A[k * ld + k];
    for (int i = 0; i < k; i++)
      for (int j = 0; j < k; j++) {
        A[i * ld + j] -= A[i * ld + k] * A[k * ld + j];
        B[i * ld + j] = A[i * ld + j];
      }
  }
}

KERNEL void fixed(int n, unsigned A[restrict][COLUMNS]) {
  for (int k = n - 1; k >= 0; k--) {
    for (int i = 0; i < k; i++)
      A[i][k] *= 3;
    for (int i = 0; i < k; i++)
      for (int j = 0; j < k; j++)
        A[i][j] -= A[i][k] * A[k][j];
  }
}

KERNEL void wide(long n, long ld, unsigned *restrict A) {
  for (long k = n - 1; k >= 0; k--) {
    for (long i = 0; i < k; i++)
      A[i * ld + k] *= 5;
    for (long i = 0; i < k; i++)
      for (long j = 0; j < k; j++)
        A[i * ld + j] -= A[i * ld + k] + A[j * ld + k];
  }
}

KERNEL void inclusive(int n, int ld, unsigned *restrict A) {
  for (int k = n - 1; k >= 0; k--)
    for (int i = 0; i <= k; i++)
      A[i * ld + k] = A[i * ld + k] * 7 + (unsigned)i;
}

KERNEL void from_second(int n, int ld, unsigned *restrict A) {
  for (int k = n - 1; k >= 0; k--)
    for (int i = 1; i < k; i++)
      A[i * ld + k] = A[i * ld + k] * 3 + A[k];
}

KERNEL void between(int n, unsigned A[restrict][COLUMNS], unsigned *restrict v, const int *restrict q) {
  for (int k = n - 1; k >= 0; k--) {
    for (int i = n - 1; i >= k + 1; i--)
      A[i][k] = A[i][k] * 3 + A[k][k];
    for (int i = 0; i < k; i++)
      for (int j = i; j < n; j++)
        if (q[i] > 0)
          A[i][j] += A[j][k] * A[j][j];
    for (int i = 0; i < k; i++)
      for (int j = 0; j < n; j++) {
        A[i][j] ^= A[i][k] * A[j][j];
        if (i == j)
          v[i] += A[i][j];
      }
  }
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 65), ld = (int)example_arg(argc, argv, 2, 70);
  size_t count = (size_t)n * ld + 1, all = (size_t)COLUMNS * COLUMNS;
  unsigned *A = malloc(count * sizeof *A), *B = calloc(count, sizeof *B), (*C)[COLUMNS] = malloc(all * sizeof(unsigned));
  if (!A || !B || !C)
    return 1;
  for (size_t i = 0; i < count; ++i)
    A[i] = (unsigned)example_bits();
  for (size_t i = 0; i < all; ++i)
    C[i / COLUMNS][i % COLUMNS] = (unsigned)example_bits();
  columns(n, ld, A);
  update(n, ld, A);
  both(n, ld, A, B);
  fixed(n, C);
  wide(n, ld, A);
  inclusive(n, ld, A);
  from_second(n, ld, A);
  unsigned v[COLUMNS] = {0};
  int q[COLUMNS];
  for (int i = 0; i < COLUMNS; ++i)
    q[i] = (int)(example_bits() % 3) - 1;
  between(n, C, v, q);
  printf("v %016llx\n", (unsigned long long)example_hash(v, sizeof v));
  printf("A %016llx\n", (unsigned long long)example_hash(A, count * sizeof *A));
  printf("B %016llx\n", (unsigned long long)example_hash(B, count * sizeof *B));
  printf("C %016llx\n", (unsigned long long)example_hash(C, all * sizeof(unsigned)));
  free(A);
  free(B);
  free(C);
  return 0;
}
