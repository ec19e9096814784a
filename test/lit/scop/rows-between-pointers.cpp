// Rows between two pointers of a table's records: the ends are as far apart as the rows, so that all have one length. The records are no power of two
// long, and the iterator that walks along them is a counter.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-scop>" -disable-output %t.ll 2>&1 | FileCheck %s

struct row {
  double *begin, *end;
  const char *name;
};

// CHECK: scop {{.*}}sums
// CHECK: param row_length i64
// CHECK: read {{.*}} -> { [[S:S[0-9]+]][i0, i1] -> {{.*}}[i0, i1] }
void sums(const row *r, const row *end, double *out) {
  for (; r != end; ++r, ++out) {
    double sum = 0;
    for (const double *p = r->begin; p != r->end; ++p)
      sum += *p;
    *out = sum;
  }
}
