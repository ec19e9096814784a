// A function that has no loop for the device, and calls what has: it hands its arrays on in a copy into which nothing is inlined but what
// tells where they are.
//
// RUN: %clang -O1 -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes='print<pollyrs-host>,verify' -disable-output %t.ll 2>&1 | FileCheck %s

struct field {
  int n;
  double *values;
};

int more(void);
void emit(int);

static double *values(const struct field *f) { return f->values; }

static void note(int n) {
  for (int i = 0; i < n; i++)
    emit(i);
}

void scale(int n, double *a) {
  for (int i = 0; i < n; i++)
    a[i] *= 1.5;
}

void drive(const struct field *restrict f, int n) {
  double *a = values(f);
  for (int t = 0; more(); t++) {
    note(3);
    scale(n, a);
    scale(n, a);
  }
}

// CHECK-LABEL: define {{.*}}@drive(
// CHECK-NOT: call {{.*}}@values(
// CHECK: call i32 @more(
// CHECK-NOT: call {{.*}}@emit(
// CHECK: call {{.*}}@note(
// CHECK: call void @scale.lent(i32 noundef %1, ptr noundef %4, ptr %pollyrs.hold,
// CHECK: call void @scale.lent(i32 noundef %1, ptr noundef %4, ptr %pollyrs.hold,
