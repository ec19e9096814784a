// Lanes of a warp along three short dimensions, and warps along another one, are no block: it has three dimensions.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-ptx>" -disable-output %t.ll 2>&1 | FileCheck %s

// CHECK: %tid.z
void blur(int n, float out[restrict][128][3][3][3], float in[restrict][136][3][3][3], float w[restrict][5]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < 128; j++)
      for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++)
          for (int c = 0; c < 3; c++) {
            float s = 0;
            for (int p = 0; p < 5; p++)
              for (int q = 0; q < 5; q++)
                s += w[p][q] * in[i + p][j + q][a][b][c];
            out[i][j][a][b][c] = s;
          }
}
