// Bounds and offsets near the ends of 64 bits: a reason, or the device, but no internal error.
//
// RUN: %clang -O1 -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes='pollyrs<targets=emulated;min-work=0>' -pass-remarks-missed=pollyrs -pass-remarks=pollyrs -disable-output %t.ll 2>&1 \
// RUN:   | FileCheck --implicit-check-not='internal error' --implicit-check-not=panicked %s

// CHECK: the device cannot run arithmetic with {{[0-9]+}}, which does not fit 64 bits
void far_store(char *A) {
  for (unsigned long i = 0; i < (1ul << 60); i++) {
    A[i] = 1;
    unsigned long offset = i * 32 + (1ul << 62);
    if (offset < (1ul << 63))
      A[offset] = 2;
  }
}

void two_ends(char *A) {
  for (long i = 0, p = -2; i != 1l << 62; i++, p += 3) {
    if (p >= 0)
      A[p] = 1;
    A[i] = 2;
  }
}

void from_the_least(char *A) {
  for (long i = 0, p = -(1l << 62), q = (-9223372036854775807l - 1); i != 1l << 62; i++, p += 1, q += 2) {
    if (p >= 0)
      A[p] = 1;
    if (q >= 0)
      A[q] = 2;
  }
}

long last_positive(const long *a) {
  long found = 331;
  for (long i = -9223372036854775807l - 1; i < 9223372036854775807l; i++)
    if (a[i & 1023] > 0)
      found = i;
  return found;
}

// CHECK: it depends on 9223372036854775807+argument 1
void down_to_the_least(long *a, long n) {
  for (long i = n; i >= -9223372036854775807l; i--)
    a[i & 7] = i;
}
