// Each of two sizes that are passed in one register is a parameter; a size that is only narrowed stays what it is.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="default<O1>,print<pollyrs-scop>" -disable-output %t.ll 2>&1 | FileCheck %s

struct extent { int x, y; };

void both(struct extent g, double *a) {
  for (int j = 0; j < g.y; j++)
    for (int i = 0; i < g.x; i++)
      a[j * g.x + i] += 1;
}

void narrowed(long n, double *a) {
  int m = (int)n;
  for (int j = 0; j < m; j++)
    for (int i = 0; i < m; i++)
      a[j * m + i] += 1;
}

// CHECK-LABEL: scop both
// CHECK:      param the_upper_part_of_{{.*}} i64
// CHECK-NEXT: param the_lower_part_of_[[G:.*]] i32
// CHECK:      array double {{.*}} { [(the_lower_part_of_[[G]])] }] (memory)
// CHECK-LABEL: scop narrowed
// CHECK:      param [[N:.*]] i64
// CHECK-NOT:  param
// CHECK:      assume no wrap: {{.*}} -2147483648 <= [[N]] <= 2147483647 }
// CHECK:      array double {{.*}} { [([[N]])] }] (memory)
