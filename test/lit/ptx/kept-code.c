// Device code is kept from build to build: the second object is the first one, byte for byte, with or without what is there, also where a kept file
// was damaged, and where the folder can't be written. What is kept follows what it was made of.
// RUN: rm -rf %t && mkdir %t
// RUN: env POLLYRS_CACHE=%t/kept %clang -O3 -fpass-plugin=%plugin -c %s -o %t/first.o
// RUN: env POLLYRS_CACHE=%t/kept %pollyrs cache | FileCheck --check-prefix=KEPT %s
// RUN: env POLLYRS_CACHE=%t/kept %clang -O3 -fpass-plugin=%plugin -mllvm -pollyrs-log=debug -c %s -o %t/second.o 2>&1 | FileCheck --check-prefix=FOUND %s
// RUN: cmp %t/first.o %t/second.o
// RUN: env POLLYRS_CACHE=%t/kept %pollyrs cache | FileCheck --check-prefix=KEPT %s
// RUN: find %t/kept -type f -exec truncate -s -1 {} + && env POLLYRS_CACHE=%t/kept %clang -O3 -fpass-plugin=%plugin -c %s -o %t/third.o && cmp %t/first.o %t/third.o
// RUN: env POLLYRS_CACHE=/proc/nowhere %clang -O3 -fpass-plugin=%plugin -c %s -o %t/fourth.o && cmp %t/first.o %t/fourth.o
// RUN: env -u HOME POLLYRS_CACHE=off %clang -O3 -fpass-plugin=%plugin -c %s -o %t/fifth.o && cmp %t/first.o %t/fifth.o
// RUN: env POLLYRS_CACHE=%t/kept %clang -O3 -fpass-plugin=%plugin -mllvm -pollyrs-log=debug -mllvm -nvptx-fma-level=1 -c %s -o %t/sixth.o 2>&1 | FileCheck --check-prefix=MADE %s
// RUN: env POLLYRS_CACHE=%t/kept %clang -O3 -DSHIFT=2 -fpass-plugin=%plugin -c %s -o %t/other.o && not cmp -s %t/first.o %t/other.o
// RUN: env POLLYRS_CACHE=%t/kept %pollyrs cache clear | FileCheck --check-prefix=CLEARED %s
// RUN: env POLLYRS_CACHE=%t/kept %pollyrs cache | FileCheck --check-prefix=EMPTY %s
// RUN: env POLLYRS_CACHE=kept not %clang -O3 -fpass-plugin=%plugin -c %s -o %t/x.o 2>&1 | FileCheck --check-prefix=RELATIVE %s
// RUN: env POLLYRS_CACHE=off %pollyrs cache | FileCheck --check-prefix=OFF %s

// FOUND: pollyrs: shift: found in the cache what="ptx" bytes={{[0-9]+}}
// MADE-NOT: found in the cache what="ptx"
// MADE: pollyrs: shift: made what="ptx"
// KEPT: kept: {{[123]}} file{{s?}}, 0.{{[0-9]}} MiB of 1024.0 MiB
// CLEARED: removed {{[2-9]}} files
// EMPTY: kept: 0 files, 0.0 MiB of 1024.0 MiB
// RELATIVE: option 'cache': 'kept' is neither off nor an absolute path
// OFF: no device code is kept

#ifndef SHIFT
#define SHIFT 1
#endif

void shift(int n, float *restrict a, const float *restrict b) {
  for (int i = 0; i < n; ++i)
    a[i] = b[i] + SHIFT;
}
