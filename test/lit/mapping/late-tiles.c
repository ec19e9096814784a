// Where the machine code of tiles may come later, a plain kernel has the same instances, and a parameter that may be any integer says which one runs. What is
// small has its plain kernel either way.
//
// RUN: %clang -O1 -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes='print<pollyrs-mapping;tiles=late>' -disable-output %t.ll 2>&1 | FileCheck %s
// RUN: %opt -passes='print<pollyrs-mapping;tiles=now>' -disable-output %t.ll 2>&1 | FileCheck %s --check-prefix=NOW
// RUN: not %opt -passes='print<pollyrs-mapping;tiles=soon>' -disable-output %t.ll 2>&1 | FileCheck %s --check-prefix=WRONG

// CHECK:     K0{{.*}}_late <= 0
// CHECK:     K2{{.*}}_late > 0
// CHECK:     K3[] : 0 < argument_0 <= 127 }
// CHECK:     late _late K0 K1{{$}}
// NOW-NOT:   _late
// WRONG:     option 'tiles': 'soon' is none of now, late, auto
void product(int n, float A[n][n], float B[n][n], float C[n][n]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++)
        C[i][j] += A[i][k] * B[k][j];
}
