// Code for each generation that has its own is in the program as PTX: for products of doubles from sm_80 and from sm_90 on, whether ptxas is there or not;
// for the rest of the kernels one text. The image comes first that is the latest. A launch of the oldest text asks for less shared memory (74 KiB, << 8 in
// the kernel's flags) than the others. What the driver compiles for sm_90 has operations of twice the depth.
//
// RUN: %clang -O0 -Xclang -disable-O0-optnone -emit-llvm -S %s -o %t.ll
// RUN: %opt -passes=pollyrs -pollyrs-targets=cuda -pollyrs-cubin=off -S %t.ll | FileCheck %s
// RUN: %opt -passes=pollyrs -pollyrs-targets=cuda -pollyrs-cubin=off -pollyrs-arch=sm_86 -S %t.ll | FileCheck %s --check-prefix=LATER
// RUN: %opt -passes=pollyrs -pollyrs-targets=cuda -pollyrs-cubin=off -pass-remarks-analysis=pollyrs -disable-output %t.ll 2>&1 | FileCheck %s --check-prefix=REMARK

// CHECK-DAG: constant [1 x { i32, i32, ptr, i64 }] [{ i32, i32, ptr, i64 } { i32 1, i32 70,
// CHECK-DAG: constant [3 x { i32, i32, ptr, i64 }] [{ i32, i32, ptr, i64 } { i32 1, i32 90, {{.*}} { i32 1, i32 80, {{.*}} { i32 1, i32 70,
// CHECK-DAG: c"{{.*}}.target sm_90{{.*}}mma.sync.aligned.m16n8k8.row.col.f64
// CHECK-DAG: c"{{.*}}.target sm_80{{.*}}mma.sync.aligned.m8n8k4.row.col.f64

// LATER-DAG: constant [1 x { i32, i32, ptr, i64 }] [{ i32, i32, ptr, i64 } { i32 1, i32 86,
// LATER-DAG: constant [2 x { i32, i32, ptr, i64 }] [{ i32, i32, ptr, i64 } { i32 1, i32 90, {{.*}} { i32 1, i32 86,

// REMARK: has PTX for sm_70, sm_80, sm_90: products of doubles take tensor cores and asynchronous copies from sm_80 on
// REMARK: has no machine code, the driver compiles the PTX at the first execution: cubin=off
void gemm(int n, int m, int l, double C[n][m], double A[n][l], double B[l][m]) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j)
      for (int k = 0; k < l; ++k)
        C[i][j] += A[i][k] * B[k][j];
}

// REMARK-NOT: has PTX
// REMARK: has no machine code
void scale(int n, int m, double A[n][m]) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j)
      A[i][j] *= 2;
}
