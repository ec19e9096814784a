// Quotients by roots whose reciprocals are next to the middle of two numbers: there the last bit of a reciprocal, or of a quotient, is wrong
// first. The last of the roots has a mantissa of ones. What is added is zero, so that all bits of the quotients are in the output.
// ARGS: 3 200
// ARGS: 0 9
// ARGS: 5 3
// ARGS: 9 67
// OFFLOAD: yes
// TURNS: 3
// KERNELS: quotients of_floats planes
// FLAGS: -fno-math-errno
#include "example.h"
#include <math.h>

__attribute__((noinline)) static void quotients(int steps, int n, double U[2][n][n], double P[n][n], double R[n][n]) {
  for (int t = 0; t < steps; ++t)
    for (int i = 1; i < n - 1; ++i)
      for (int j = 1; j < n - 1; ++j)
        U[(t + 1) % 2][i][j] = 0.0 * (U[t % 2][i][j - 1] - U[t % 2][i + 1][j]) + P[i][j] / sqrt(R[i][j]);
}

__attribute__((noinline)) static void of_floats(int steps, int n, float U[2][n][n], float P[n][n], float R[n][n]) {
  for (int t = 0; t < steps; ++t)
    for (int i = 1; i < n - 1; ++i)
      for (int j = 1; j < n - 1; ++j)
        U[(t + 1) % 2][i][j] = 0.0f * (U[t % 2][i][j - 1] - U[t % 2][i + 1][j]) + P[i][j] / sqrtf(R[i][j]);
}

// Two quotients by one root, and of the values themselves.
__attribute__((noinline)) static void planes(int steps, int n, double U[2][n][n], double V[2][n][n]) {
  for (int t = 0; t < steps; ++t)
    for (int i = 1; i < n - 1; ++i)
      for (int j = 1; j < n - 1; ++j) {
        double x = U[t % 2][i][j + 1] - U[t % 2][i - 1][j], y = V[t % 2][i + 1][j] - V[t % 2][i][j - 1], r = sqrt(x * x + y * y + 0.1);
        U[(t + 1) % 2][i][j] = 0.5 * U[t % 2][i][j] + x / r;
        V[(t + 1) % 2][i][j] = 0.5 * V[t % 2][i][j] + y / r;
      }
}

/* B of 53 bits with BM = 2^106 - c, c at most 32. */
static const uint64_t roots[] = {
    0x1024a3bd98da02, 0x10699d36aec84e, 0x109107683ee29e, 0x10aadc6f562fdc, 0x10b3e7aab903dc, 0x10be86f87e1504, 0x10ed85c351e224,
    0x110af85de838ce, 0x113deff6b41e35, 0x11d3799c32581e, 0x11f98ea5d9b262, 0x122aea483b4410, 0x12492492492490, 0x124936db76db70,
    0x12563fca7b8530, 0x12565220c47ad0, 0x1292074009a630, 0x12bf5907e316d2, 0x12d2d2d2d2d2d4, 0x12e3c6a0509ca4, 0x12e93952a2ed6e,
    0x130117cb1c0d50, 0x130a0dd90e13a2, 0x1320bffffb37d0, 0x1320c99064c830, 0x132160ccc0848c, 0x134d8fe343ef42, 0x13541c0067f83c,
    0x1387bffffb1e10, 0x13a324a526d5ee, 0x14873ecade304c, 0x14877a4a0a0d04, 0x14a6fb45f5d782, 0x14b2983e4aa305, 0x14cad5a5fa03ee,
    0x15555555555554, 0x155f2490c86132, 0x161c2909f39d4b, 0x163baaac17d1e2, 0x163d016b373244, 0x163dd0554d0122, 0x172f10bf899124,
    0x17641c46f799ee, 0x178cb7d5d6e322, 0x178d42e524dcdc, 0x179376969ecfd0, 0x17f52093014f0e, 0x18387f2dc43370, 0x184a12efef626e,
    0x1860cbb1b40ef0, 0x1860e4128bf110, 0x186f1e976d35b0, 0x18db0eea5f9861, 0x18f2b1225b0d70, 0x190dcff22c6050, 0x191c4c8e264710,
    0x1943ecc40c6590, 0x194ab05a4ecedc, 0x194c4511fa3124, 0x195608aa510030, 0x195615554effd0, 0x198049c39bbe50, 0x199d2b42ffe9f4,
    0x199e1b447e99c2, 0x19f142d24e1352, 0x1a0b8ffffcbe8e, 0x1a6f41dab98cb2, 0x1a9e5f61517f84, 0x1b227794e85702, 0x1bea3278b789d2,
    0x1c36899addce3c, 0x1c384d119331c4, 0x1c928b5b9dc714, 0x1d5b9032f086be, 0x1da210daeb138e, 0x1de441d5331432, 0x1e20adbc4078a2,
    0x1e756f08df1792, 0x1ee13ffff847b0, 0x1eece8d2eaedcc, 0x1ef43974550f69, 0x1ef7930608393e, 0x1fcea3254679b0, 0x1fe24bffeb8794,
    0x1ffb8a8b628dbc, 0x1ffffffffffffb, 0x1ffffffffffffd, 0x1fffffffffffff
};

/* A number of about 2^exponent, with few, random or only ones as digits. */
static double numerator(int kind, int exponent) {
  double mantissa = kind == 0 ? 1 : kind == 1 ? 2 - ldexp(1, -52) : kind == 2 ? 1.5 : 1 + example_uniform() / 2;
  return ldexp(mantissa, exponent);
}

int main(int argc, char **argv) {
  int steps = (int)example_arg(argc, argv, 1, 9), n = (int)example_arg(argc, argv, 2, 67);
  size_t count = (size_t)n * n, hard = sizeof roots / sizeof *roots;
  double *U = calloc(2 * count, sizeof(double)), *V = calloc(2 * count, sizeof(double));
  double *P = malloc(count * sizeof(double)), *R = malloc(count * sizeof(double));
  float *F = calloc(2 * count, sizeof(float)), *G = malloc(count * sizeof(float)), *H = malloc(count * sizeof(float));
  for (size_t k = 0; k < count; ++k) {
    double root = ldexp((double)roots[k % hard], -52), square = root * root;
    // The numbers around a square have the same root; those below a power of four have one with a mantissa of ones.
    for (size_t below = k / hard % 4; below > 0; --below)
      square = nextafter(square, below % 2 ? 0 : 8);
    if (k % 17 == 0)
      square = nextafter(4, 0) - ldexp((double)(k % 3), -51);
    int binade = k % 5 ? (int)(k % 200) - 100 : 0;
    R[k] = ldexp(square, 2 * binade);
    P[k] = numerator((int)(k / 7 % 4), (int)(k % 90) - 45);
    H[k] = ldexpf(k % 5 == 0 ? nextafterf(4, 0) - ldexpf((float)(k / 5 % 3), -22) : (float)(2 + example_uniform()), 2 * (binade / 8));
    G[k] = (float)numerator((int)(k / 7 % 4), (int)(k % 40) - 20);
    U[k] = V[k + count] = example_uniform();
    V[k] = U[k + count] = example_uniform();
  }
  planes(steps, n, (void *)U, (void *)V);
  uint64_t values = example_hash(U, 2 * count * sizeof(double)) ^ example_hash(V, 2 * count * sizeof(double));
  quotients(steps, n, (void *)U, (void *)P, (void *)R);
  of_floats(steps, n, (void *)F, (void *)G, (void *)H);
  printf("%016llx\n%016llx\n%016llx\n", (unsigned long long)values, (unsigned long long)example_hash(U, 2 * count * sizeof(double)),
         (unsigned long long)example_hash(F, 2 * count * sizeof(float)));
  return 0;
}
