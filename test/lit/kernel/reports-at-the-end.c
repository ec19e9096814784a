// What calls do to errno is noted in registers of the thread, one for each byte of the fault cell: no store and no branch for a call. The thread
// stores to the cell behind its last instance.
//
// RUN: %clang -O1 -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes='print<pollyrs-kernel>' -disable-output %t.ll 2>&1 | FileCheck %s

// CHECK: [[REGISTER:%reported[.0-9]*]] = alloca i1
// CHECK-NEXT: store i1 false, ptr [[REGISTER]]
// CHECK: [[BELOW:%.*]] = fcmp olt float {{.*}}, 0.0
// CHECK-NOT: store atomic
// CHECK-NOT: suspicious
// CHECK: store i1 {{.*}}, ptr [[REGISTER]]
// CHECK-NOT: store atomic
// CHECK: br i1 {{.*}}, label %fault, label %end
// CHECK: fault:
// CHECK: store atomic i8 1
// CHECK: end:
// CHECK-NEXT: ret void
float sqrtf(float);
void roots(int n, float a[n], float b[n]) {
  for (int i = 0; i < n; i++)
    b[i] = sqrtf(a[i]);
}
