// Constant tables of offsets in subscripts, and arrays of one iteration: their loops are unrolled, if they are short and the table never changes.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-detect>" -disable-output %t.ll 2>&1 | FileCheck %s

static const int offsets[4] = {-3, -1, 1, 3};
int changing[4] = {-3, -1, 1, 3};
static const int many[40] = {1, 5, 2, 7};

// CHECK: scop constant at {{.*}}: {{[0-9]+}} statements, 2 arrays, 1 loops
void constant(int n, const float *restrict a, float *restrict b) {
  for (int i = 3; i < n - 3; i++) {
    float s = 0;
    for (int k = 0; k < 4; k++)
      s += a[i + offsets[k]];
    b[i] = s;
  }
}

// Not unrolled: its numbers are inspected.
// CHECK: scop variable at {{.*}}: {{[0-9]+}} statements, 3 arrays, 2 loops
void variable(int n, const float *restrict a, float *restrict b) {
  for (int i = 3; i < n - 3; i++) {
    float s = 0;
    for (int k = 0; k < 4; k++)
      s += a[i + changing[k]];
    b[i] = s;
  }
}

// CHECK: scop long_table at {{.*}}: {{[0-9]+}} statements, 3 arrays, 2 loops
void long_table(int n, const float *restrict a, float *restrict b) {
  for (int i = 3; i < n - 3; i++) {
    float s = 0;
    for (int k = 0; k < 40; k++)
      s += a[i + many[k]];
    b[i] = s;
  }
}

// The number of iterations of the inner loop is known once the outer one is unrolled.
// CHECK: scop sorted at {{.*}}: {{[0-9]+}} statements, 2 arrays, 1 loops
void sorted(int n, const int *restrict a, int *restrict b) {
  for (int i = 1; i < n - 1; i++) {
    int v[3];
    for (int k = 0; k < 3; k++)
      v[k] = a[i - 1 + k];
    for (int p = 0; p < 2; p++)
      for (int q = p + 1; q < 3; q++)
        if (v[q] < v[p]) {
          int t = v[p];
          v[p] = v[q];
          v[q] = t;
        }
    b[i] = v[1];
  }
}

// The coefficients are no offsets: the loop stays.
// CHECK: scop coefficients at {{.*}}: {{[0-9]+}} statements, 3 arrays, 2 loops
void coefficients(int n, const int *restrict a, int *restrict b) {
  for (int i = 0; i < n; i++) {
    int s = 0;
    for (int k = 0; k < 4; k++)
      s += a[i + k] * offsets[k];
    b[i] = s;
  }
}
