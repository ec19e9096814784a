// What the functions of the mathematical library leave in errno, at the ends of their arguments: the library itself is compared with.
// ARGS: 0
// ARGS: 1
// OFFLOAD: partial
// STAYS: do_acos do_acosf do_asin do_asinf do_atanh do_atanhf: some argument is outside of the domain
#include "example.h"
#include <errno.h>
#include <math.h>

#define UNARY(X) \
  X(exp) X(exp2) X(expm1) X(log) X(log2) X(log10) X(log1p) X(sin) X(cos) X(tan) X(asin) X(acos) X(atan) X(sinh) X(cosh) X(tanh) X(asinh) \
  X(acosh) X(atanh) X(cbrt) X(erf) X(erfc) X(sqrt)
#define BINARY(X) X(pow) X(fmod) X(atan2) X(hypot) X(fdim) X(remainder)

#define KERNEL1(name) \
  __attribute__((noinline)) static void do_##name(int n, const double *restrict x, double *restrict y) { \
    for (int i = 0; i < n; ++i) \
      y[i] = name(x[i]); \
  } \
  __attribute__((noinline)) static void do_##name##f(int n, const float *restrict x, float *restrict y) { \
    for (int i = 0; i < n; ++i) \
      y[i] = name##f(x[i]); \
  }
#define KERNEL2(name) \
  __attribute__((noinline)) static void do_##name(int n, const double *restrict x, const double *restrict z, double *restrict y) { \
    for (int i = 0; i < n; ++i) \
      y[i] = name(x[i], z[i]); \
  } \
  __attribute__((noinline)) static void do_##name##f(int n, const float *restrict x, const float *restrict z, float *restrict y) { \
    for (int i = 0; i < n; ++i) \
      y[i] = name##f(x[i], z[i]); \
  }
UNARY(KERNEL1)
BINARY(KERNEL2)

// pow(10, x) and pow(2, i) become other functions.
__attribute__((noinline)) static void do_exp10(int n, const double *restrict x, double *restrict y) {
  for (int i = 0; i < n; ++i)
    y[i] = pow(10.0, x[i]);
}

__attribute__((noinline)) static void do_ldexp(int n, const double *restrict x, double *restrict y) {
  for (int i = 0; i < n; ++i)
    y[i] = ldexp(x[i], 60) + exp2(x[i]);
}

static const double ENDS[] = {0.0,    -0.0,     1,          -1,        0.5,         -2,         1.5,         1e-300,    -1e-310,
                              1e300,  709.785,  710.475,    -745.135,  -1e9,        1023.9,     1024,        -1075,     -1075.05,
                              -1076,  88.72283, 88.722839,  89.415,    -103.27892,  -103.27893, -104,        127.99,    -148.9,
                              -149,   -149.5,   -151,       1e38,      -1e-39,      1e-45,      27.23,       28.5,      10.05,
                              10.06,  3.4e38,   1.0000001,  -0.9999999, 308.2547,   -323.65,    INFINITY,    -INFINITY, NAN};
static const double PAIRS[][2] = {{0, 0},         {0, -1},          {0, 1},         {-0.0, -3},     {0, INFINITY},  {0, -INFINITY},
                                  {10, 308.3},    {10, -323.2},     {10, -323.4},   {10, -400},     {-2, 0.5},      {-2, 1025},
                                  {2, 1023.9999}, {2, 127.99999},   {2, 128},       {2, -149},      {2, -149.5},    {2, -150.5},
                                  {2, -1074},     {2, -1074.9999},  {2, -1076},     {5, 0},         {INFINITY, 2},  {INFINITY, -2},
                                  {2, INFINITY},  {0.5, -INFINITY}, {NAN, 1},       {1, NAN},       {NAN, 0},       {1e308, 1e308},
                                  {3e38, 3e38},   {1e-300, 1e10},   {1e-310, 1e10}, {1e-40, 1e10},  {-1e308, 1e308}, {1e-310, 1e-311},
                                  {7, 3},         {-7, 1e-310},     {INFINITY, 0},  {0.999999, 1e9}, {1.000001, 1e9}};
enum { ONE = sizeof ENDS / sizeof *ENDS, TWO = sizeof PAIRS / sizeof *PAIRS, MOST = 300 };

static double x[MOST], z[MOST], y[MOST];
static float xf[MOST], zf[MOST], yf[MOST];

static void tell(const char *name, int at, int number) {
  printf("%s %d: %s\n", name, at, number == EDOM ? "EDOM" : number == ERANGE ? "ERANGE" : number == 7 ? "as it was" : "another");
}

static void set(int i, double first, double second) {
  x[i] = first, z[i] = second;
  xf[i] = (float)first, zf[i] = (float)second;
}

#define TRY1(name) \
  for (int at = 0; at < ONE; ++at) { \
    set(at, ENDS[at], 0); \
    errno = 7; \
    do_##name(MOST, x, y); \
    tell(#name, at, errno); \
    errno = 7; \
    do_##name##f(MOST, xf, yf); \
    tell(#name " of floats", at, errno); \
    set(at, 1.25, 1.25); \
  }
#define TRY2(name) \
  for (int at = 0; at < TWO; ++at) { \
    set(at, PAIRS[at][0], PAIRS[at][1]); \
    errno = 7; \
    do_##name(MOST, x, z, y); \
    tell(#name, at, errno); \
    errno = 7; \
    do_##name##f(MOST, xf, zf, yf); \
    tell(#name " of floats", at, errno); \
    set(at, 1.25, 1.25); \
  }

int main(int argc, char **argv) {
  for (int i = 0; i < MOST; ++i)
    set(i, 1.25, 1.25);
  if (example_arg(argc, argv, 1, 0)) {
    BINARY(TRY2)
    return 0;
  }
  UNARY(TRY1)
  for (int at = 0; at < ONE; ++at) {
    x[at] = ENDS[at];
    errno = 7;
    do_exp10(MOST, x, y);
    tell("exp10", at, errno);
    errno = 7;
    do_ldexp(MOST, x, y);
    tell("ldexp", at, errno);
    x[at] = 1.25;
  }
  return 0;
}
