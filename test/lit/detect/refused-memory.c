// Memory accesses that are not modelled.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-detect>" -disable-output %t.ll 2>&1 | FileCheck %s

#include <stdatomic.h>

// An index computed from an index.
void twice_indirect(int n, const int *I, const int *J, float *A) {
  for (int i = 0; i < n; i++)
    A[I[J[i]]] = 1;
}

// CHECK: rejected Subscript at {{.*}}memory.c:[[#@LINE-4]]: a subscript of A is not affine: it depends on I (at {{.*}}memory.c:[[#@LINE-3]])

void doubled(int n, const unsigned char *X, int *H) {
  for (int i = 0; i < n; i++)
    H[X[i] / 2] = 2 * H[X[i] / 2] + 1;
}

// CHECK: rejected Subscript at {{.*}}memory.c:[[#@LINE-4]]: a subscript of H is not affine: it depends on X (at {{.*}}memory.c:[[#@LINE-3]])

void squares(int n, float *A) {
  for (int i = 0; i < n; i++)
    A[i * i] = 1;
}

// CHECK: rejected Subscript at {{.*}}memory.c:[[#@LINE-4]]: a subscript of A is not affine: it depends on a power of i, as packed triangular storage has (at {{.*}}memory.c:[[#@LINE-3]])

void counters_multiplied(int n, float *A) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      A[i * j] = 1;
}

// CHECK: scop counters_multiplied at {{.*}}memory.c:[[#@LINE-4]]: 1 statements, 1 arrays, 1 loops
// CHECK: rejected Subscript at {{.*}}memory.c:[[#@LINE-6]]: a subscript of A is not affine: it depends on the product i*j (at {{.*}}memory.c:[[#@LINE-4]])

void remainder_of_parameter(int n, int m, float *A, const float *B) {
  for (int i = 0; i < n; i++)
    A[i] = B[(i * 7919) % m];
}

// CHECK: scop remainder_of_parameter at {{.*}}memory.c:[[#@LINE-4]]: 1 statements, 2 arrays, 1 loops

void bits(int n, float *A) {
  for (int i = 0; i < n; i++)
    A[i ^ (i >> 1)] = 1;
}

// CHECK: rejected Subscript at {{.*}}memory.c:[[#@LINE-4]]: a subscript of A is not affine: it depends on (i >> 1) ^ i (at {{.*}}memory.c:[[#@LINE-3]])

void powers(int n, float *A) {
  for (int i = 0; i < n; i++)
    A[1 << i] = 1;
}

// CHECK: rejected Subscript at {{.*}}memory.c:[[#@LINE-4]]: a subscript of A is not affine: it depends on 1 << i (at {{.*}}memory.c:[[#@LINE-3]])

// Each row is found through a pointer.
void rows_by_pointer(int n, float **A) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      A[i][j] = 1;
}

// Both loops for rows that are equally far apart, and the inner one for others.
// CHECK: scop rows_by_pointer.1 at {{.*}}memory.c:[[#@LINE-6]]: 1 statements, 1 arrays, 2 loops
// CHECK: scop rows_by_pointer.2 at {{.*}}memory.c:[[#@LINE-6]]: 1 statements, 1 arrays, 1 loops

void volatile_read(int n, volatile int *port, int *A) {
  for (int i = 0; i < n; i++)
    A[i] = *port;
}

// CHECK: rejected OrderedAccess at {{.*}}memory.c:[[#@LINE-4]]: a volatile access to port (at {{.*}}memory.c:[[#@LINE-3]])

void counter(int n, atomic_int *count, const int *A) {
  for (int i = 0; i < n; i++)
    atomic_fetch_add(count, A[i]);
}

// CHECK: rejected OrderedAccess at {{.*}}memory.c:[[#@LINE-4]]: an atomic access to count (at {{.*}}memory.c:[[#@LINE-3]])

void relaxed(int n, atomic_int *A) {
  for (int i = 0; i < n; i++)
    atomic_store_explicit(&A[i], i, memory_order_relaxed);
}

// CHECK: rejected OrderedAccess at {{.*}}memory.c:[[#@LINE-4]]: an atomic access to A (at {{.*}}memory.c:[[#@LINE-3]])

int exchanged(int n, atomic_int *A) {
  int won = 0;
  for (int i = 0; i < n; i++) {
    int expected = 0;
    won += atomic_compare_exchange_strong(&A[i], &expected, 1);
  }
  return won;
}

// CHECK: rejected OrderedAccess at {{.*}}memory.c:[[#@LINE-7]]: an atomic access to A (at {{.*}}memory.c:[[#@LINE-5]])

void fenced(int n, int *A) {
  for (int i = 0; i < n; i++) {
    A[i] = i;
    atomic_thread_fence(memory_order_seq_cst);
  }
}

// CHECK: rejected OrderedAccess at {{.*}}memory.c:[[#@LINE-6]]: a fence (at {{.*}}memory.c:[[#@LINE-4]])

struct flags {
  unsigned kind : 3, count : 13;
};

// One field is part of the word that is read and written.
void bit_fields(int n, struct flags *F) {
  for (int i = 0; i < n; i++)
    F[i].count = i;
}

// CHECK: scop bit_fields at {{.*}}memory.c:[[#@LINE-4]]: 1 statements, 1 arrays, 1 loops

struct record {
  int key;
  float value[7];
};

// Word by word.
void struct_copies(int n, struct record *A, const struct record *B) {
  for (int i = 0; i < n; i++)
    A[i] = B[i];
}

// CHECK: scop struct_copies at {{.*}}memory.c:[[#@LINE-4]]: {{[0-9]+}} statements, 2 arrays, 1 loops

union word {
  float f;
  int i;
  short s[2];
};

void unions(int n, union word *A) {
  for (int i = 0; i < n; i++) {
    A[i].f = i;
    A[i].s[0] = 1;
  }
}

// CHECK: rejected ElementType at {{.*}}memory.c:[[#@LINE-6]]: A is accessed in elements of 4 bytes and of 2 bytes, which do not fit one array (at {{.*}}memory.c:[[#@LINE-4]])

_Thread_local float own[1024];
void thread_local_memory(int n) {
  for (int i = 0; i < n; i++)
    own[i] = i;
}

// CHECK: rejected BaseChanges at {{.*}}memory.c:[[#@LINE-4]]: the base address of own changes inside the loop (at {{.*}}memory.c:[[#@LINE-3]])

void segment(int n, float __attribute__((address_space(256))) * A) {
  for (int i = 0; i < n; i++)
    A[i] = i;
}

// CHECK: rejected Type at {{.*}}memory.c:[[#@LINE-4]]: values of type ptr addrspace(256), such as A, cannot be held on the device (at {{.*}}memory.c:[[#@LINE-3]])

struct node {
  struct node *next;
  float value;
};

void list(struct node *p) {
  for (; p; p = p->next)
    p->value *= 2;
}

// CHECK: rejected LoopBound at {{.*}}memory.c:[[#@LINE-4]]: the number of iterations is not affine: it depends on p

float chased(int n, const int *next, const float *A) {
  float s = 0;
  for (int i = 0, at = 0; i < n; i++) {
    s += A[at];
    at = next[at];
  }
  return s;
}

// CHECK: rejected Subscript at {{.*}}memory.c:[[#@LINE-7]]: a subscript of A is not affine: it depends on at, which each iteration takes over from the one before (at {{.*}}memory.c:[[#@LINE-6]])

struct grid {
  int n;
  unsigned char *data;
};

// The loop changes the pointer itself.
void base_behind_stores(struct grid *g, int n, unsigned char *other) {
  for (int i = 0; i < n; i++) {
    g->data[i] = i;
    if (i == 3)
      g->data = other;
  }
}

// CHECK: rejected Type at {{.*}}memory.c:[[#@LINE-7]]: values of type pointer (ptr), such as g, cannot be held on the device {{.*}}

void bound_behind_stores(struct grid *g, unsigned char *A) {
  for (int i = 0; i < g->n; i++)
    A[i] = g->n--;
}

// CHECK: rejected LoopBound at {{.*}}memory.c:[[#@LINE-4]]: the number of iterations is not affine: it depends on g->n

float *choice(int n, float *A, float *B, const int *C) {
  float *p = A;
  for (int i = 0; i < n; i++) {
    p = C[i] ? A : B;
    p[i] = 1;
  }
  return p;
}

// CHECK: rejected Type at {{.*}}memory.c:[[#@LINE-7]]: values of type pointer (ptr), such as p, cannot be held on the device {{.*}}
