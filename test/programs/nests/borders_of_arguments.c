// Differences along a row with its ends apart (positions 1, 2, n - 3, n - 2 and a range between two arguments), which lie to each other in any order: too many cases for the exact dataflow of `f`.
// ARGS: 8 1 7
// ARGS: 9 0 9
// ARGS: 30 4 20
// ARGS: 65 1 64
// OFFLOAD: yes
#include "example.h"

enum { MOST = 65 };
static double r[MOST][MOST][MOST][5], f[MOST][MOST][MOST][5], flux[MOST][5];

__attribute__((noinline)) static void differences(int n, int first, int end, double d, double t) {
  for (int k = 1; k < n - 1; k++)
    for (int j = first; j < end; j++) {
      for (int i = 0; i < n; i++) {
        double u = r[k][j][i][1] / r[k][j][i][0];
        flux[i][0] = r[k][j][i][1];
        flux[i][1] = r[k][j][i][1] * u + d * r[k][j][i][4];
        flux[i][2] = r[k][j][i][2] * u;
        flux[i][3] = r[k][j][i][3] * u;
        flux[i][4] = r[k][j][i][4] * u;
      }
      for (int i = first; i < end; i++)
        if (i > 0 && i < n - 1)
          for (int m = 0; m < 5; m++)
            f[k][j][i][m] -= t * (flux[i + 1][m] - flux[i - 1][m]);
      for (int m = 0; m < 5; m++) {
        f[k][j][1][m] -= d * (5 * r[k][j][1][m] - 4 * r[k][j][2][m] + r[k][j][3][m]);
        f[k][j][2][m] -= d * (-4 * r[k][j][1][m] + 6 * r[k][j][2][m] - 4 * r[k][j][3][m] + r[k][j][4][m]);
      }
      for (int i = 3; i < n - 3; i++)
        for (int m = 0; m < 5; m++)
          f[k][j][i][m] -= d * (r[k][j][i - 2][m] - 4 * r[k][j][i - 1][m] + 6 * r[k][j][i][m] - 4 * r[k][j][i + 1][m] + r[k][j][i + 2][m]);
      for (int m = 0; m < 5; m++) {
        f[k][j][n - 3][m] -= d * (r[k][j][n - 5][m] - 4 * r[k][j][n - 4][m] + 6 * r[k][j][n - 3][m] - 4 * r[k][j][n - 2][m]);
        f[k][j][n - 2][m] -= d * (r[k][j][n - 4][m] - 4 * r[k][j][n - 3][m] + 5 * r[k][j][n - 2][m]);
      }
    }
}

int main(int argc, char **argv) {
  int n = (int)example_arg(argc, argv, 1, 30), first = (int)example_arg(argc, argv, 2, 4), end = (int)example_arg(argc, argv, 3, 20);
  for (int k = 0; k < n; k++)
    for (int j = 0; j < n; j++)
      for (int i = 0; i < n; i++)
        for (int m = 0; m < 5; m++) {
          r[k][j][i][m] = 1.5 + example_uniform();
          f[k][j][i][m] = example_uniform();
        }
  differences(n, first, end, 0.25, 0.5);
  printf("%016llx %016llx\n", (unsigned long long)example_hash(f, sizeof f), (unsigned long long)example_hash(flux, sizeof flux));
  return 0;
}
