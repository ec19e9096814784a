// Products of doubles on tensor cores: operands come by copies that no thread waits for, four sets of buffers, and the factors of an operation are
// loaded before the products of the one in front of it, at the turn from strip to strip as well. Rows may begin in the middle of the 16 bytes of a copy: then
// they have one more. An operation is two of the loop, where registers suffice. From sm_80 on an operation is two of half as many rows. Code for older architectures has none of it.
//
// RUN: %clang -O0 -Xclang -disable-O0-optnone -emit-llvm -S %s -o %t.ll
// RUN: %opt -passes='print<pollyrs-ptx;arch=sm_90>' -disable-output %t.ll 2>&1 | FileCheck %s
// RUN: %opt -passes='print<pollyrs-ptx;arch=sm_80>' -disable-output %t.ll 2>&1 | FileCheck %s --check-prefix=HALVES
// RUN: %opt -passes='print<pollyrs-ptx>' -disable-output %t.ll 2>&1 | FileCheck %s --check-prefix=OLD
// OLD-NOT: {{cp.async|mma.sync}}

// HALVES:           .target sm_80
// HALVES-COUNT-10:  cp.async.ca.shared.global
// HALVES-COUNT-128: mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%rd{{[0-9]+}}, %rd{{[0-9]+}}}, {%rd{{[0-9]+}}}, {%rd{{[0-9]+}}}, {
// HALVES-NOT:       m16n8k4

// CHECK:          .visible .entry gemm_K0(
// CHECK-NOT:      cp.async.cg
// CHECK-COUNT-8:  cp.async.ca.shared.global [%rd{{[0-9]+}}{{(\+[0-9]+)?}}], [%rd{{[0-9]+}}], 16;
// CHECK-COUNT-2:  @%p{{[0-9]+}} cp.async.ca.shared.global [%rd{{[0-9]+}}], [%rd{{[0-9]+}}], 16;
// CHECK-COUNT-3:  cp.async.commit_group
// CHECK:          cp.async.wait_group 2;
// CHECK-NEXT:     bar.sync
// CHECK-COUNT-12: ld.shared.b64
// CHECK-NOT:      mma.sync
// CHECK:          cp.async.commit_group
// CHECK-COUNT-16: mma.sync.aligned.m16n8k8.row.col.f64
// CHECK:          cp.async.wait_group 2;
// CHECK-NEXT:     bar.sync
// CHECK-COUNT-12: ld.shared.b64
// CHECK-COUNT-16: mma.sync.aligned.m16n8k8.row.col.f64
// CHECK-NOT:      m16n8k4
// CHECK:          .visible .entry gemm_K1(
// CHECK:          mma.sync.aligned.m16n8k4.row.col.f64
void gemm(int n, int m, int l, double C[n][m], double A[n][l], double B[l][m]) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j)
      for (int k = 0; k < l; ++k)
        C[i][j] += A[i][k] * B[k][j];
}
