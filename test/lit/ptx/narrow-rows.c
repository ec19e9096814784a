// Points that read bytes or halves are consecutive: where memory is aligned, which threads test, their loads and stores are wide ones. In rows that
// do not begin at multiples of a word, lanes are consecutive.
//
// RUN: %clang -O1 -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes='print<pollyrs-ptx;only-function=line>' -disable-output %t.ll 2>&1 | FileCheck %s --check-prefix=LINE
// RUN: %opt -passes='print<pollyrs-ptx;only-function=dilate>' -disable-output %t.ll 2>&1 | FileCheck %s --check-prefix=ROWS
// RUN: %opt -passes='print<pollyrs-ptx;only-function=turn>' -disable-output %t.ll 2>&1 | FileCheck %s --check-prefix=TURN
// RUN: %opt -passes='print<pollyrs-ptx;only-function=window>' -disable-output %t.ll 2>&1 | FileCheck %s --check-prefix=WINDOW
// RUN: %opt -passes='print<pollyrs-ptx;only-function=floats>' -disable-output %t.ll 2>&1 | FileCheck %s --check-prefix=FLOATS

typedef unsigned char byte;

// LINE: .entry line_K0
// LINE-COUNT-4: ld.global.nc.b32
// LINE-COUNT-4: st.global.b32
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

// Cells backwards are a vector, too.
// TURN: .entry turn_K0
// TURN: st.global.v4.b32
void turn(int n, int m, const float x[n][m], float y[restrict m][n]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      y[j][n - 1 - i] = x[i][j];
}

// Points of a line share their windows: of 60 elements that four points read, 18 are left.
// WINDOW: .entry window_K0
// WINDOW-COUNT-4: ld.global.nc.v4.b32
// WINDOW: st.global.v4.b32
void window(long n, const int *restrict x, int *restrict y) {
  for (long i = 7; i < n - 7; i++) {
    int sum = 0;
    for (int k = -7; k <= 7; k++)
      sum += x[i + k];
    y[i] = sum;
  }
}

// What a thread has of floats is wide by itself.
// FLOATS: .entry floats_K0
// FLOATS-NOT: ld.global.nc.v4
void floats(long n, const float *restrict x, float *restrict y) {
  for (long i = 0; i < n; i++)
    y[i] = 2 * x[i];
}
