// Terminator: a switch of more cases than become comparisons.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-detect>" -disable-output %t.ll 2>&1 | FileCheck %s --match-full-lines

void f(int n, int *A) {
  for (int i = 0; i < n; i++)
    switch (A[i]) {
    case 1: A[i + 0] = 0; break;
    case 2: A[i + 1] = 2; break;
    case 5: A[i + 2] = 4; break;
    case 10: A[i + 3] = 1; break;
    case 17: A[i + 4] = 3; break;
    case 26: A[i + 5] = 0; break;
    case 37: A[i + 6] = 2; break;
    case 50: A[i + 7] = 4; break;
    case 65: A[i + 8] = 1; break;
    case 82: A[i + 9] = 3; break;
    case 101: A[i + 10] = 0; break;
    case 122: A[i + 11] = 2; break;
    case 145: A[i + 12] = 4; break;
    case 170: A[i + 13] = 1; break;
    case 197: A[i + 14] = 3; break;
    case 226: A[i + 15] = 0; break;
    case 257: A[i + 16] = 2; break;
    default: A[i + n] = 0;
    }
}

// CHECK: rejected Terminator at {{.*}}terminator.c:{{[0-9]+}}: a switch with many cases ({{.*}})
