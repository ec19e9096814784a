// Members of structures of two widths are two arrays; the bytes of an integer that is stored are never those of a double.
//
// RUN: %clang -O1 -g -fno-strict-aliasing -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-scop>" -disable-output %t.ll 2>&1 | FileCheck %s

struct cell { double x[2]; int kind; };

void f(int n, struct cell *p) {
  for (int i = 0; i < n; i++)
    for (int k = 0; k < 2; k++) {
      p[i].x[k] = p[i].x[k] * p[i].kind;
      p[i].kind += k;
    }
}

// CHECK-LABEL: scop f
// CHECK: array i32 p{{.*\(6\)}}
// CHECK-NEXT: array double p_2{{.*\(3\)}}
// CHECK-NOT: check disjoint
// CHECK: read [n] -> { S0[i0, i1] -> p_2[i0, i1] }
// CHECK: read [n] -> { S0[i0, i1] -> p[i0, 4] }
