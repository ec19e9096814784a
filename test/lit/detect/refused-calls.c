// Calls and operations that the device cannot do.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-detect>" -disable-output %t.ll 2>&1 | FileCheck %s

#include <alloca.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void by_pointer(int n, float *A, float (*f)(float)) {
  for (int i = 0; i < n; i++)
    A[i] = f(A[i]);
}

// CHECK: rejected Call at {{.*}}calls.c:[[#@LINE-4]]: the call of a function pointer (f) may have side effects (at {{.*}}calls.c:[[#@LINE-3]])

float (*table[4])(float);
void by_table(int n, float *A) {
  for (int i = 0; i < n; i++)
    A[i] = table[i % 4](A[i]);
}

// CHECK: rejected Call at {{.*}}calls.c:[[#@LINE-4]]: the call of a function pointer (table) may have side effects (at {{.*}}calls.c:[[#@LINE-3]])

void prints(int n, const float *A) {
  for (int i = 0; i < n; i++)
    printf("%f\n", A[i]);
}

// CHECK: rejected Call at {{.*}}calls.c:[[#@LINE-4]]: the call of printf may have side effects (at {{.*}}calls.c:[[#@LINE-3]])

void puts_character(int n, const char *A, FILE *f) {
  for (int i = 0; i < n; i++)
    putc(A[i], f);
}

// CHECK: rejected Call at {{.*}}calls.c:[[#@LINE-4]]: the call of putc may have side effects (at {{.*}}calls.c:[[#@LINE-3]])

void reads(int n, float *A) {
  for (int i = 0; i < n; i++)
    scanf("%f", &A[i]);
}

// CHECK: rejected Call at {{.*}}calls.c:[[#@LINE-4]]: the call of {{.*}}scanf may have side effects (at {{.*}}calls.c:[[#@LINE-3]])

void random_numbers(int n, int *A) {
  for (int i = 0; i < n; i++)
    A[i] = rand();
}

// CHECK: rejected Call at {{.*}}calls.c:[[#@LINE-4]]: the call of rand may have side effects (at {{.*}}calls.c:[[#@LINE-3]])

void allocates(int n, void **A) {
  for (int i = 0; i < n; i++)
    A[i] = malloc(16);
}

// CHECK: rejected Call at {{.*}}calls.c:[[#@LINE-4]]: the call of malloc may have side effects (at {{.*}}calls.c:[[#@LINE-3]])

void frees(int n, void **A) {
  for (int i = 0; i < n; i++)
    free(A[i]);
}

// CHECK: rejected Call at {{.*}}calls.c:[[#@LINE-4]]: the call of free may have side effects (at {{.*}}calls.c:[[#@LINE-3]])

void clock_times(int n, long *A) {
  for (int i = 0; i < n; i++)
    A[i] = clock();
}

// CHECK: rejected Call at {{.*}}calls.c:[[#@LINE-4]]: the call of clock may have side effects (at {{.*}}calls.c:[[#@LINE-3]])

void lengths(int n, char **S, size_t *L) {
  for (int i = 0; i < n; i++)
    L[i] = strlen(S[i]);
}

// CHECK: rejected Call at {{.*}}calls.c:[[#@LINE-4]]: the call of strlen: it changes nothing, but its code is not there for the device (at {{.*}}calls.c:[[#@LINE-3]])

void compares(int n, const char *S, int *A) {
  for (int i = 0; i < n; i++)
    A[i] = strcmp(S + 16 * i, S);
}

// CHECK: rejected Call at {{.*}}calls.c:[[#@LINE-4]]: the call of strcmp: it changes nothing, but its code is not there for the device (at {{.*}}calls.c:[[#@LINE-3]])

void parses(int n, char *S, int *A) {
  for (int i = 0; i < n; i++)
    A[i] = atoi(S + 8 * i);
}

// CHECK: rejected Call at {{.*}}calls.c:[[#@LINE-4]]: the call of strtol may have side effects

int compared(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
void sorts(int n, int *A) {
  for (int i = 0; i < n; i++)
    qsort(A + 100 * i, 100, sizeof *A, compared);
}

// CHECK: rejected Call at {{.*}}calls.c:[[#@LINE-4]]: the call of qsort may have side effects (at {{.*}}calls.c:[[#@LINE-3]])

int sum(int n, ...) {
  va_list all;
  int s = 0;
  va_start(all, n);
  for (int i = 0; i < n; i++)
    s += va_arg(all, int);
  va_end(all);
  return s;
}

// CHECK: rejected Type at {{.*}}calls.c:[[#@LINE-6]]: values of type pointer (ptr), such as the arguments behind '...' (all), cannot be held on the device (at {{.*}}calls.c:[[#@LINE-5]])

extern int unknown(const float *);
void calls_unknown(int n, float A[n][n]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      A[i][j] = unknown(A[i]);
}

// CHECK: rejected Call at {{.*}}calls.c:[[#@LINE-4]]: the call of unknown may have side effects (at {{.*}}calls.c:[[#@LINE-3]])

extern void use(float *);
void stack(int n, float *A) {
  for (int i = 0; i < n; i++) {
    float *p = alloca(n * sizeof *p);
    use(p);
    A[i] = p[0];
  }
}

// CHECK: rejected Call at {{.*}}calls.c:[[#@LINE-7]]: the call of use may have side effects (at {{.*}}calls.c:[[#@LINE-5]])

void exits(int n, float *A) {
  for (int i = 0; i < n; i++) {
    if (A[i] != A[i])
      exit(3);
    A[i] += 1;
  }
}

// CHECK: scop exits at {{.*}}calls.c:[[#@LINE-7]]:

void cycles(int n, unsigned long long *A) {
  for (int i = 0; i < n; i++)
    A[i] = __builtin_readcyclecounter();
}

// CHECK: rejected Call at {{.*}}calls.c:[[#@LINE-4]]: the call of llvm.readcyclecounter may have side effects (at {{.*}}calls.c:[[#@LINE-3]])

void frame(int n, void **A) {
  for (int i = 0; i < n; i++)
    A[i] = __builtin_frame_address(0);
}

// CHECK: rejected Type at {{.*}}calls.c:[[#@LINE-4]]: values of type pointer (ptr), such as A, cannot be held on the device (at {{.*}}calls.c:[[#@LINE-3]])

void assembly_without_effects(int n, int *A) {
  for (int i = 0; i < n; i++) {
    int x = A[i];
    __asm__("bswap %0" : "+r"(x));
    A[i] = x;
  }
}

// CHECK: rejected InlineAssembly at {{.*}}calls.c:[[#@LINE-7]]: inline assembly (at {{.*}}calls.c:[[#@LINE-5]])

void extended(int n, long double *A) {
  for (int i = 0; i < n; i++)
    A[i] *= 2;
}

// CHECK: rejected Type at {{.*}}calls.c:[[#@LINE-4]]: values of type long double (x86_fp80), such as A, cannot be held on the device (at {{.*}}calls.c:[[#@LINE-3]])

void wide(int n, __int128 *A) {
  for (int i = 0; i < n; i++)
    A[i] += i;
}

// CHECK: rejected Type at {{.*}}calls.c:[[#@LINE-4]]: values of type __int128 (i128), such as A, cannot be held on the device (at {{.*}}calls.c:[[#@LINE-3]])

typedef float eight __attribute__((vector_size(32)));
void vectors(int n, eight *A) {
  for (int i = 0; i < n; i++)
    A[i] = A[i] * 2;
}

// CHECK: rejected Type at {{.*}}calls.c:[[#@LINE-4]]: values of type SIMD vector (<8 x float>), such as A, cannot be held on the device (at {{.*}}calls.c:[[#@LINE-3]])

void halves(int n, _Float16 *A) {
  for (int i = 0; i < n; i++)
    A[i] *= 2;
}

// CHECK: scop halves at {{.*}}calls.c:[[#@LINE-4]]: 1 statements, 1 arrays, 1 loops

void complex_numbers(int n, _Complex double *A, _Complex double z) {
  for (int i = 0; i < n; i++)
    A[i] = A[i] / z;
}

// CHECK: rejected Call at {{.*}}calls.c:[[#@LINE-4]]: a division of complex numbers is the call of __divdc3 (-fcomplex-arithmetic=improved and -ffast-math compute it in place) (at {{.*}}calls.c:[[#@LINE-3]])

void odd_width(int n, unsigned _BitInt(37) * A) {
  for (int i = 0; i < n; i++)
    A[i] += 1;
}

// CHECK: scop odd_width at {{.*}}calls.c:[[#@LINE-4]]: 1 statements, 1 arrays, 1 loops

void pointers(int n, float **A, float *p) {
  for (int i = 0; i < n; i++)
    A[i] = p + i;
}

// CHECK: rejected Type at {{.*}}calls.c:[[#@LINE-4]]: values of type pointer (ptr), such as A, cannot be held on the device (at {{.*}}calls.c:[[#@LINE-3]])

void addresses_as_numbers(int n, unsigned long *A) {
  for (int i = 0; i < n; i++)
    A[i] = (unsigned long)&A[i];
}

// CHECK: rejected Instruction at {{.*}}calls.c:[[#@LINE-4]]: the instruction ptrtoint cannot run on the device (at {{.*}}calls.c:[[#@LINE-3]])

__attribute__((no_builtin("sin"))) void sines(int n, double *A) {
  for (int i = 0; i < n; i++)
    A[i] = sin(A[i]);
}

// CHECK: rejected Call at {{.*}}calls.c:[[#@LINE-4]]: the call of sin (it may set errno; compile with -fno-math-errno) may have side effects (at {{.*}}calls.c:[[#@LINE-3]])
