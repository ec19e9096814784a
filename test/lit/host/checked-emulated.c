// Kernels for the checked emulated device tell the run-time library of each access, with who makes it; others don't.
// RUN: %clang -O1 -S -emit-llvm -mllvm -pollyrs-targets=emulated-checked -g %s -o - | FileCheck %s
// RUN: %clang -O1 -S -emit-llvm -mllvm -pollyrs-targets=emulated -g %s -o - | FileCheck %s --check-prefix=PLAIN

void shift(int n, double A[n][n], double B[n][n]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      A[i][j] = B[j][i] * 2.0;
}

// The sizes of both arrays, for subscripts in reports; 2 in the kernel's flags says that it is checked.
// CHECK-DAG: c"S0 ({{.*}}checked-emulated.c:8)\00"
// CHECK-DAG: c"B\00"
// CHECK: call void @pollyrs_rt_emu_shape(ptr {{.*}}, i32 0, i32 2, i64
// CHECK: define internal void @pollyrs.emu.shift_K0
// CHECK: call i32 @pollyrs_rt_emu_load(ptr {{.*}}, ptr {{.*}}, ptr {{.*}}@pollyrs.site
// CHECK: load double
// CHECK: call void @pollyrs_rt_emu_store(ptr {{.*}}, ptr {{.*}}, ptr {{.*}}@pollyrs.site{{.*}}, i32
// CHECK: store double

// PLAIN-NOT: pollyrs_rt_emu_
// PLAIN-NOT: pollyrs.site
