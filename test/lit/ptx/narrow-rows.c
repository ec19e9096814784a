// Points that read bytes or halves are consecutive: where memory is aligned, which threads test, their loads and stores are wide ones. In rows that
// do not begin at multiples of a word, lanes are consecutive.
//
// RUN: %clang -O1 -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes='print<pollyrs-ptx;only-function=line>' -disable-output %t.ll 2>&1 | FileCheck %s --check-prefix=LINE
// RUN: %opt -passes='print<pollyrs-ptx;only-function=dilate>' -disable-output %t.ll 2>&1 | FileCheck %s --check-prefix=ROWS
// RUN: %opt -passes='print<pollyrs-ptx;only-function=floats>' -disable-output %t.ll 2>&1 | FileCheck %s --check-prefix=FLOATS

typedef unsigned char byte;

// LINE: .entry line_K0
// LINE: ld.global.nc.v4.b32
// LINE: st.global.v4.b32
void line(long n, const byte *restrict x, byte *restrict y) {
  for (long i = 0; i < n; i++)
    y[i] = x[i] > 200 ? 255 : x[i] + 40;
}

// Six rows, of four bytes and the ones on either side.
// ROWS: .entry dilate_K0
// ROWS-COUNT-6: ld.global.nc.b32
// ROWS-COUNT-4: st.global.b32
// ROWS: .entry dilate_K1
// ROWS-NOT: ld.global.nc.b32
void dilate(int n, int m, const byte x[n][m], byte y[restrict n][m]) {
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < m - 1; j++) {
      byte v = 0;
      for (int p = -1; p <= 1; p++)
        for (int q = -1; q <= 1; q++)
          if (x[i + p][j + q] > v)
            v = x[i + p][j + q];
      y[i][j] = v;
    }
}

// What a thread has of floats is wide by itself.
// FLOATS: .entry floats_K0
// FLOATS-NOT: ld.global.nc.v4
void floats(long n, const float *restrict x, float *restrict y) {
  for (long i = 0; i < n; i++)
    y[i] = 2 * x[i];
}
