// A clone that is prepared and thrown away leaves nothing: no declarations of intrinsics (smax), of memory functions or
// library functions that passes introduced (printf becomes puts), no metadata.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: opt -S %t.ll -o %t.before.ll
// RUN: %opt -passes='print<pollyrs-detect>' -S %t.ll -o %t.after.ll
// RUN: diff %t.before.ll %t.after.ll
// That it would show: the same passes in place do change the module.
// RUN: %opt -passes=pollyrs-canonicalise -S %t.ll | FileCheck %s
// CHECK-DAG: declare i32 @llvm.smax.i32(
// CHECK-DAG: declare {{.*}} @puts(

int printf(const char *, ...);

int largest(int n, const int *a) {
  int m = 0;
  for (int i = 0; i < n; i++) {
    m = a[i] > m ? a[i] : m;
    printf("next\n");
  }
  return m;
}
