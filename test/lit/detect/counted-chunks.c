// A loop that takes chunks of an argument's size from what is left runs as often as chunks fit in; where the size may be 0, or the last chunk is left
// over, nobody knows how often: then what is in a chunk is a region of its own.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes="print<pollyrs-detect>" -disable-output %t.ll 2>&1 | FileCheck %s

// CHECK: scop whole at {{.*}}: 1 statements, 1 arrays, 2 loops
void whole(double *rows, unsigned long rest, unsigned long chunk) {
  if (!chunk)
    return;
  for (; rest >= chunk; rest -= chunk, rows += chunk)
    for (unsigned long j = 0; j < chunk; j++)
      rows[j] = rows[j] * 2 + j;
}

// CHECK: scop other_way at {{.*}}: 1 statements, 1 arrays, 2 loops
void other_way(double *rows, unsigned long rest, unsigned long chunk) {
  if (!chunk)
    return;
  for (; !(chunk > rest); rest = rest - chunk, rows += chunk)
    for (unsigned long j = 0; j < chunk; j++)
      rows[j] = rows[j] * 2 + j;
}

// CHECK: scop with_sign at {{.*}}: 1 statements, 1 arrays, 2 loops
void with_sign(double *rows, int rest, int chunk) {
  if (chunk <= 0)
    return;
  for (; rest >= chunk; rest -= chunk, rows += chunk)
    for (int j = 0; j < chunk; j++)
      rows[j] = rows[j] * 2 + j;
}

// CHECK: scop any_sign at {{.*}}: 1 statements, 1 arrays, 1 loops
// CHECK: rejected LoopBound at {{.*}}: the number of iterations is not affine: it depends on the step of rest
void any_sign(double *rows, int rest, int chunk) {
  if (!chunk)
    return;
  for (; rest >= chunk; rest -= chunk, rows += chunk)
    for (int j = 0; j < chunk; j++)
      rows[j] = rows[j] * 2 + j;
}

// CHECK: scop no_size at {{.*}}: 1 statements, 1 arrays, 1 loops
// CHECK: rejected LoopBound at {{.*}}: the number of iterations is not affine: it depends on the step of rest
void no_size(double *rows, unsigned long rest, unsigned long chunk) {
  for (; rest >= chunk; rest -= chunk, rows += chunk)
    for (unsigned long j = 0; j < chunk; j++)
      rows[j] = rows[j] * 2 + j;
}

// CHECK: scop not_the_last at {{.*}}: 1 statements, 1 arrays, 1 loops
// CHECK: rejected LoopBound at {{.*}}: the number of iterations is not affine: it depends on the step of rest
void not_the_last(double *rows, unsigned long rest, unsigned long chunk) {
  if (!chunk)
    return;
  for (; rest > chunk; rest -= chunk, rows += chunk)
    for (unsigned long j = 0; j < chunk; j++)
      rows[j] = rows[j] * 2 + j;
}
