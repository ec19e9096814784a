// The host asks once whether kernels that may be late are there. If not, plain kernels run: no steps are fused, and no tiles are launched. The program has the early
// kernels as machine code where there is ptxas, and all of them as text.
//
// RUN: %clang -O1 -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes='print<pollyrs-host;only-function=product;tiles=late>' -S %t.ll 2>/dev/null -o %t.product.ll
// RUN: FileCheck %s --check-prefix=PRODUCT < %t.product.ll
// RUN: %opt -passes='print<pollyrs-host;only-function=steps;tiles=late>' -S %t.ll 2>/dev/null | FileCheck %s --check-prefix=STEPS
// RUN: %opt -passes='print<pollyrs-host;tiles=now>' -S %t.ll 2>/dev/null | FileCheck %s --check-prefix=NOW
// RUN: %clang -O3 -mllvm -pollyrs-tiles=late -Rpass-analysis=pollyrs -c %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// NOW-NOT: pollyrs_rt_late

// REMARK: remark: has machine code of plain kernels, the driver compiles the others in the background (option tiles)

// PRODUCT: [[LATE:%.*]] = call i32 @pollyrs_rt_late(ptr @pollyrs.scop, double %{{.*}})
// PRODUCT: [[IS:%.*]] = icmp ne i32 [[LATE]], 0
// PRODUCT: select i1 [[IS]], i64 1, i64 0
void product(int n, float A[restrict n][n], float B[restrict n][n], float C[restrict n][n]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++)
        C[i][j] += A[i][k] * B[k][j];
}

// STEPS: [[LATE:%.*]] = call i32 @pollyrs_rt_late(
// STEPS: [[IS:%.*]] = icmp ne i32 [[LATE]], 0
// STEPS: select i1 [[IS]], i1 false, i1
void steps(int t, int n, double A[restrict n][n], double B[restrict n][n]) {
  for (int s = 0; s < t; s++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        B[i][j] = 0.3 * (A[i][j] + A[i - 1][j] + A[i + 1][j] + A[i][j - 1] + A[i][j + 1]);
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        A[i][j] = 0.3 * (B[i][j] + B[i - 1][j] + B[i + 1][j] + B[i][j - 1] + B[i][j + 1]);
  }
}
