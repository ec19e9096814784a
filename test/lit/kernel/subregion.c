// The blocks of a subregion are cloned: its loop with a counter for the subscript beside the program's values; what it uses from
// elsewhere is computed in front; nothing claims that the loop ends.
//
// RUN: %clang -O1 -g0 -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-kernel>" -disable-output %t.ll 2>&1 | FileCheck %s

void f(int n, int m, const double *restrict B, const double *restrict C, double *restrict A) {
  for (int i = 0; i < n; i++) {
    double x = B[i];
    for (int k = 0; k < m; k++) {
      if (x < 1)
        break;
      x *= C[k];
    }
    A[i] = x;
  }
}

// CHECK: define void @f_K0({{.*}}) [[ATTRIBUTES:#[0-9]+]]
// CHECK: br i1 {{.*}}, label %behind, label %within
// CHECK: within1:
// CHECK: phi double
// CHECK-NEXT: [[COUNTER:%[0-9]+]] = phi i64 [ 0, %within ], [ [[NEXT:%[0-9]+]], %within1 ]
// CHECK-NEXT: getelementptr double, ptr {{.*}}, i64 [[COUNTER]]
// CHECK: [[NEXT]] = add i64 [[COUNTER]], 1
// CHECK-NEXT: br i1 {{.*}}, label %within2, label %within1
// CHECK: behind:
// CHECK-NEXT: phi double
// CHECK: attributes [[ATTRIBUTES]] = { nounwind }
