// Where it is not known how many values the last loop has, blocks for at most four have lanes along two loops: channels of an image; and threads take several rows
// where there are many values; of few rows, points of several planes. Where it is known, there is one kernel.
//
// RUN: %clang -O1 -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes='print<pollyrs-ptx>' -disable-output %t.ll 2>&1 | FileCheck %s
// RUN: %opt -passes='print<pollyrs-mapping>' -disable-output %t.ll 2>&1 | FileCheck %s --check-prefix=MAPPING

// MAPPING: { K0[] : argument_0 > 0 and argument_1 >= 64 and argument_2 >= 64 }
// MAPPING: { K1[] : argument_0 >= 8 and argument_1 >= 8 and argument_2 >= 24
// MAPPING: argument_2 >= 5
// MAPPING: { K3[] : argument_0 > 0 and argument_1 > 0 and 0 < argument_2 <= 4 }

// CHECK-LABEL: .entry halve_K0(
// CHECK: .reqntid 32, 8, 1
// CHECK-LABEL: .entry halve_K1(
// CHECK: .reqntid 32, 8, 1
// CHECK-LABEL: .entry halve_K2(
// CHECK: .reqntid 32, 4, 1
// CHECK-LABEL: .entry halve_K3(
// CHECK: .reqntid 4, 32, 4
void halve(int h, int w, int c, float in[2 * h][2 * w][c], float out[h][w][c]) {
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++)
      for (int k = 0; k < c; k++)
        out[y][x][k] = 0.5f * (in[2 * y][2 * x][k] + in[2 * y][2 * x + 1][k]);
}

// CHECK-LABEL: .entry rgb_K0(
// CHECK: .reqntid 4, 32, 1
// CHECK-NOT: .entry rgb_K1(
void rgb(int h, int w, float in[2 * h][2 * w][3], float out[h][w][3]) {
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++)
      for (int k = 0; k < 3; k++)
        out[y][x][k] = 0.5f * (in[2 * y][2 * x][k] + in[2 * y][2 * x + 1][k]);
}
