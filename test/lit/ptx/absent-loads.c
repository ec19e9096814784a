// Stages at the border of the grid compute points that there are not. What these load may be written between the same barriers where the code
// of one step reads there what it writes elsewhere: then it is loaded from a cell that no one writes. Statements with steps of their own don't meet.
//
// RUN: %clang -O1 -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes='print<pollyrs-ptx;strategy=hybrid;tile=3x4x128>' -disable-output %t.ll 2>&1 \
// RUN:   | FileCheck %s --implicit-check-not=selp
// RUN: %clang -DHALVES -O1 -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.halves.ll
// RUN: %opt -passes='print<pollyrs-ptx;strategy=hybrid;tile=3x64>' -disable-output %t.halves.ll 2>&1 | FileCheck %s --check-prefix=SPARE
//
// Threads beyond a tile's width would load from behind the end of their window, where the other one's elements are: three loads of each of 32 time steps.
// RUN: %clang -DNARROW -O1 -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.narrow.ll
// RUN: %opt -passes='print<pollyrs-ptx;strategy=hybrid>' -disable-output %t.narrow.ll 2>&1 | FileCheck %s --check-prefix=NARROW

#ifdef HALVES
// SPARE-COUNT-4: selp.b64 {{%rd[0-9]+, %rd[0-9]+, [0-9]+, %p}}
// SPARE: ld.shared
void halves(int t, float A[2000]) {
  for (int s = 0; s < t; s++)
    for (int i = 0; i < 1000; i++)
      A[i] = A[i] * 0.5f + A[i + 1000];
}
#elif defined(NARROW)
// NARROW: .entry narrow_K1
// NARROW-COUNT-96: selp.b64 {{%rd[0-9]+, %rd[0-9]+, [0-9]+, %p}}
void narrow(int t, int n, float A[restrict n], float B[restrict n]) {
  for (int s = 0; s < t; s++) {
    for (int i = 1; i < n - 1; i++)
      B[i] = 0.7f * A[i] + 0.3f * A[i + 1];
    for (int i = 0; i < n; i++)
      A[i] = B[i];
  }
}
#else
// CHECK: ld.shared
// CHECK: st.shared
void back(int t, int n, float A[restrict n][n], float B[restrict n][n]) {
  for (int s = 0; s < t; s++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        B[i][j] = A[i][j] + 0.2f * (A[i - 1][j] + A[i + 1][j] + A[i][j - 1] + A[i][j + 1]);
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        A[i][j] = B[i][j];
  }
}
#endif
