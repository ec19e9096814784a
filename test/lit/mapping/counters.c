// Histograms: a block counts in shared memory, many points a thread; fewer points where there are few. Elements whose range is known at run time have some room, those of too many none. Sums
// of floats are made in memory.
//
// RUN: %clang -O1 -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes='print<pollyrs-mapping;only-function=bytes>' -disable-output %t.ll 2>&1 | FileCheck %s
// RUN: %opt -passes='print<pollyrs-mapping;only-function=image>' -disable-output %t.ll 2>&1 | FileCheck %s --check-prefix=IMAGE
// RUN: %opt -passes='print<pollyrs-mapping;only-function=numbers>' -disable-output %t.ll 2>&1 | FileCheck %s --check-prefix=NUMBERS
// RUN: %opt -passes='print<pollyrs-mapping;only-function=many>' -disable-output %t.ll 2>&1 | FileCheck %s --check-prefix=MANY
// RUN: %opt -passes='print<pollyrs-mapping;only-function=sums>' -disable-output %t.ll 2>&1 | FileCheck %s --check-prefix=MANY
// RUN: %opt -passes='print<pollyrs-ptx;only-function=bytes>' -disable-output %t.ll 2>&1 | FileCheck %s --check-prefix=PTX

// CHECK:      K0[] : {{.*}} >= 4194304
// CHECK:      kernel K0
// CHECK:      count {{.*}}/32768
// CHECK:      counters array 1 at most 256
// CHECK:      kernel K1
// CHECK:      count {{.*}}/4096
// CHECK:      counters array 1 at most 256

// PTX-LABEL: .entry bytes_K0
// PTX:       .shared {{.*}}[1024]
// PTX:       bar.sync
// PTX:       atom.shared.add.u32
// PTX:       bar.sync
// PTX:       atom.global.add.u32
// PTX:       ret;
void bytes(long n, int *restrict h, const unsigned char *restrict p) {
  for (long i = 0; i < n; i++)
    h[p[i]]++;
}

// IMAGE:      kernel K0
// IMAGE:      grid _b0 {{.*}}/128
// IMAGE:      grid _b1 {{.*}}/256
// IMAGE:      counters array 1 at most 256
// IMAGE:      kernel K1
// IMAGE:      grid _b0 {{.*}}/32
// IMAGE:      counters array 1 at most 256
void image(int n, int m, int *restrict h, const unsigned char p[restrict n][m]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      h[p[i][j]]++;
}

// NUMBERS:    kernel K0
// NUMBERS:    counters array {{[0-9]+}} at most 2048 from
// NUMBERS:    kernel K1
// NUMBERS:    counters array {{[0-9]+}} at most 512 from
void numbers(long n, long *restrict h, const int *restrict p) {
  for (long i = 0; i < n; i++)
    h[p[i]]++;
}

// MANY:       kernel K0
// MANY-NOT:   counters
// MANY:       grid _b0 {{.*}}/256
// MANY-NOT:   counters
void many(long n, int *restrict h, const int *restrict p) {
  for (long i = 0; i < n; i++)
    h[p[i] & 65535]++;
}

void sums(long n, float *restrict h, const unsigned char *restrict p) {
#pragma clang fp reassociate(on)
  for (long i = 0; i < n; i++)
    h[p[i]] += 1.5f;
}
