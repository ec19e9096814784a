// Control flow that is not modelled.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-detect>" -disable-output %t.ll 2>&1 | FileCheck %s

#include <setjmp.h>
#include <stddef.h>

int found(int n, const int *A, int x) {
  for (int i = 0; i < n; i++)
    if (A[i] == x)
      return i;
  return -1;
}

// CHECK: rejected LoopExits at {{.*}}control.c:[[#@LINE-6]]: the loop can be left at more than one place: where it ends depends on A (at {{.*}}control.c:[[#@LINE-5]])

void until_zero(float *A) {
  for (int i = 0; A[i] != 0; i++)
    A[i] *= 2;
}

// CHECK: rejected LoopBound at {{.*}}control.c:[[#@LINE-4]]: the number of iterations is not affine: it depends on floating-point data

void converges(float *A, float eps) {
  float error = 1;
  while (error > eps) {
    A[0] = A[0] * 0.5f + 1;
    error *= A[0];
  }
}

// CHECK: rejected LoopBound at {{.*}}control.c:[[#@LINE-6]]: the number of iterations is not affine: it depends on floating-point data

void bound_from_data(int n, const int *len, float *A) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < len[i]; j++)
      A[i] += j;
}

// CHECK: scop bound_from_data at {{.*}}control.c:[[#@LINE-5]]: 1 statements, 2 arrays, 2 loops

void bound_not_affine(int n, float *A) {
  for (int i = 1; i * i < n; i++)
    A[i] = 1;
}

// CHECK: rejected LoopBound at {{.*}}control.c:[[#@LINE-4]]: the number of iterations is not affine: it depends on i * i

void doubled(int n, float *A) {
  for (int i = 1; i < n; i *= 2)
    A[i] = 1;
}

// CHECK: rejected LoopBound at {{.*}}control.c:[[#@LINE-4]]: the number of iterations is not affine: it depends on i

void halved(int n, float *A) {
  for (; n > 0; n /= 2)
    A[n] = 1;
}

// CHECK: rejected LoopBound at {{.*}}control.c:[[#@LINE-4]]: the number of iterations is not affine: it depends on n

void collatz(unsigned n, unsigned *steps) {
  while (n != 1) {
    n = n % 2 ? 3 * n + 1 : n / 2;
    ++*steps;
  }
}

// CHECK: rejected LoopBound at {{.*}}control.c:[[#@LINE-6]]: the number of iterations is not affine: it depends on n

void forever(float *A) {
  for (int i = 0;; i++)
    A[i & 1023] += 1;
}

// CHECK: rejected LoopExits at {{.*}}control.c:[[#@LINE-4]]: the loop can be left at more than one place

void step_of_data(int n, int *A) {
  for (int i = 0; i < n; i += A[i])
    A[i]++;
}

// CHECK: rejected LoopBound at {{.*}}control.c:[[#@LINE-4]]: the number of iterations is not affine: it depends on A

void bound_changes(int n, float *A) {
  for (int i = 0; i < n; i++) {
    A[i] = 1;
    if (A[2 * i] > 3)
      n--;
  }
}

// CHECK: rejected LoopBound at {{.*}}control.c:[[#@LINE-7]]: the number of iterations is not affine: it depends on n

jmp_buf back;
void jumps_back(int n, volatile int *tries, float *A) {
  for (int i = 0; i < n; i++) {
    if (setjmp(back))
      ++*tries;
    A[i] = 1;
  }
}

// CHECK: rejected Call at {{.*}}control.c:[[#@LINE-7]]: the call of _setjmp may have side effects (at {{.*}}control.c:[[#@LINE-6]])

void jumps_out(int n, const float *A, float *B) {
  for (int i = 0; i < n; i++) {
    if (A[i] < 0)
      longjmp(back, 1);
    B[i] = A[i];
  }
}

// CHECK: scop jumps_out at {{.*}}control.c:[[#@LINE-7]]:

void two_searches(int n, const float *A, float *B) {
  for (int i = 0; i < n; i++) {
    if (A[i] > 1)
      break;
    if (A[i] < -1)
      return;
    B[i] = A[i];
  }
}

// CHECK: rejected LoopExits at {{.*}}control.c:[[#@LINE-9]]: the loop can be left at more than one place: where it ends depends on A (at {{.*}}control.c:[[#@LINE-8]])

void outer_break(int n, int m, float A[n][m], float *B) {
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < m; j++) {
      if (A[i][j] < 0)
        goto done;
      A[i][j] += 1;
    }
    B[i] = 1;
  }
done:
  B[0] = 0;
}

// CHECK: rejected LoopExits at {{.*}}control.c:[[#@LINE-12]]: the loop can be left at more than one place: where it ends depends on A (at {{.*}}control.c:[[#@LINE-10]])

int recursive(int n, int *A) {
  for (int i = 0; i < n; i++)
    A[i] = recursive(n - 1, A + 1);
  return n;
}

// CHECK: rejected Call at {{.*}}control.c:[[#@LINE-5]]: the call of recursive, which calls itself (at {{.*}}control.c:[[#@LINE-4]])
