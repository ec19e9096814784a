// The sum behind the loop is the cell's last value, not an update of its own: the updates may be regrouped.
//
// RUN: %clang -O1 -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-scop>" -disable-output %t.ll 2>&1 | FileCheck %s
// RUN: %clang -O3 -S -emit-llvm -fpass-plugin=%plugin -mllvm -pollyrs-targets=emulated -Rpass=pollyrs %s -o %t.out.ll 2>&1 | FileCheck %s --check-prefix=REMARK

// REMARK: offloaded dot: 1 loop
int dot(const int *x, const int *end, const int *y) {
  int s = 0;
  for (; x != end; ++x, ++y)
    s += *x * *y;
  return s;
}

// CHECK:      scop dot
// CHECK-DAG:  array i32 val (scalar, live out)
// CHECK-DAG:  array i32 phi{{[0-9]+}} (phi)
// CHECK:      statement S1
// CHECK:      reduction of phi{{[0-9]+}} in any order
// CHECK-NEXT: statement S2
// CHECK-NEXT: domain [{{.*}}] -> { S2[] }
// CHECK-NEXT: read {{.*}} S2[] -> phi{{[0-9]+}}[] }
// CHECK-NEXT: must-write {{.*}} S2[] -> val[] }
