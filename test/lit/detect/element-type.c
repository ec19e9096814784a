// ElementType: two sizes of elements behind one pointer.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-detect>" -disable-output %t.ll 2>&1 | FileCheck %s --match-full-lines

void f(int n, void *A) {
  for (int i = 0; i < n; i++) {
    ((float *)A)[i] = 1;
    ((double *)A)[i] = 2;
  }
}

// CHECK: rejected ElementType at {{.*}}element-type.c:{{[0-9]+}}: A is accessed in elements of 8 bytes and of 4 bytes, which do not fit one array ({{.*}})
