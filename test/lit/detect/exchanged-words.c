// Objects that a time loop exchanges word by word, as Rust's `std::mem::swap` does: the words that are pointers change places like variables, in a loop of
// all steps. Not so where a word is changed on its way, or where there are more words than an object has.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-detect>" -disable-output %t.ll 2>&1 | FileCheck %s

struct vector {
  long capacity;
  double *data;
  long size;
};

static void exchange(void *restrict a, void *restrict b, int words) {
  char *x = a, *y = b;
  for (int i = 0; i < words; i++) {
    long p, q;
    __builtin_memcpy(&p, x + 8 * i, 8);
    __builtin_memcpy(&q, y + 8 * i, 8);
    __builtin_memcpy(x + 8 * i, &q, 8);
    __builtin_memcpy(y + 8 * i, &p, 8);
  }
}

static void disturb(void *restrict a, void *restrict b, int words) {
  char *x = a, *y = b;
  for (int i = 0; i < words; i++) {
    long p, q;
    __builtin_memcpy(&p, x + 8 * i, 8);
    __builtin_memcpy(&q, y + 8 * i, 8);
    p += 64;
    __builtin_memcpy(x + 8 * i, &q, 8);
    __builtin_memcpy(y + 8 * i, &p, 8);
  }
}

// CHECK: scop exchanged at {{.*}}: 2 statements, 2 arrays, 5 loops
void exchanged(struct vector *restrict a, struct vector *restrict b, long n, int steps) {
  for (int t = 0; t < steps; t++) {
    for (long i = 1; i < n - 1; i++)
      for (long j = 1; j < n - 1; j++)
        b->data[i * n + j] = a->data[(i - 1) * n + j] + a->data[(i + 1) * n + j] + a->data[i * n + j - 1];
    exchange(a, b, 3);
  }
}

// CHECK-NOT: scop disturbed{{[.0-9]*}} at {{.*}} {{[3-9]}} loops
// CHECK: scop disturbed{{[.0-9]*}} at {{.*}} 2 loops
// CHECK-NOT: scop disturbed{{[.0-9]*}} at {{.*}} {{[3-9]}} loops
void disturbed(struct vector *restrict a, struct vector *restrict b, long n, int steps) {
  for (int t = 0; t < steps; t++) {
    for (long i = 1; i < n - 1; i++)
      for (long j = 1; j < n - 1; j++)
        b->data[i * n + j] = a->data[(i - 1) * n + j] + a->data[(i + 1) * n + j] + a->data[i * n + j - 1];
    disturb(a, b, 3);
  }
}

struct large {
  double *data;
  long rest[39];
};

// CHECK-NOT: scop many{{[.0-9]*}} at {{.*}} {{[3-9]}} loops
// CHECK: scop many{{[.0-9]*}} at {{.*}} 2 loops
// CHECK-NOT: scop many{{[.0-9]*}} at {{.*}} {{[3-9]}} loops
void many(struct large *restrict a, struct large *restrict b, long n, int steps) {
  for (int t = 0; t < steps; t++) {
    for (long i = 1; i < n - 1; i++)
      for (long j = 1; j < n - 1; j++)
        b->data[i * n + j] = a->data[(i - 1) * n + j] + a->data[(i + 1) * n + j] + a->data[i * n + j - 1];
    exchange(a, b, 40);
  }
}
