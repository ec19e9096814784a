// Inner loops that data counts: a team of threads shares the iterations of one, by the mean number of them; where sums keep their order smaller teams for more iterations.
//
// RUN: %clang -O1 -g -Xclang -disable-llvm-passes -S -emit-llvm %s -o %t.ll
// RUN: %opt -passes='print<pollyrs-mapping;only-function=ordered>' -disable-output %t.ll 2>&1 | FileCheck %s
// RUN: %opt -passes='print<pollyrs-mapping;only-function=integers>' -disable-output %t.ll 2>&1 | FileCheck %s --check-prefix=ANY
// RUN: %opt -passes='print<pollyrs-mapping;only-function=lists>' -disable-output %t.ll 2>&1 | FileCheck %s --check-prefix=LISTS
// RUN: %opt -passes='print<pollyrs-ptx;only-function=ordered>' -disable-output %t.ll 2>&1 | FileCheck %s --check-prefix=PTX

// CHECK:      kernel K0
// CHECK-NEXT: domain {{.*}}ptr_max < 6n + ptr_min
// CHECK:      block _t0 size 256
// CHECK-NOT:  team
// CHECK:      kernel K1
// CHECK:      block _t0 size 32
// CHECK-NEXT: team of 8
// CHECK:      kernel K2
// CHECK-NEXT: domain {{.*}}ptr_max >= 96n + ptr_min
// CHECK:      block _t0 size 8
// CHECK-NEXT: team of 32

// PTX-LABEL: .entry ordered_K1
// PTX:       .reqntid 8, 32, 1
// PTX:       %laneid
// PTX:       shfl.sync.idx.b32 {{.*}}, 6175,
// PTX:       add.rn.f32
// PTX:       ret;
// PTX-LABEL: .entry ordered_K2
// PTX:       .reqntid 32, 8, 1
// PTX:       shfl.sync.idx.b32 {{.*}}, 31, -1;
void ordered(int n, const int *restrict ptr, const int *restrict col, const float *restrict val, const float *restrict x, float *restrict y) {
  for (int i = 0; i < n; i++) {
    float s = 0;
    for (int k = ptr[i]; k < ptr[i + 1]; k++)
      s += val[k] * x[col[k]];
    y[i] = s + y[i];
  }
}

// ANY: kernel K2
// ANY: ptr_max >= 24n + ptr_min
// ANY: team of 32
void integers(int n, const int *restrict ptr, const int *restrict col, const int *restrict x, int *restrict y) {
  for (int i = 0; i < n; i++) {
    int s = 0;
    for (int k = ptr[i]; k < ptr[i + 1]; k++)
      s += x[col[k]];
    y[i] = s;
  }
}

// LISTS: kernel K1
// LISTS: 12 <= len_max <= 191
// LISTS: team of 8
// LISTS: kernel K2
// LISTS: len_max >= 192
// LISTS: team of 32
void lists(int n, const int *restrict len, const float (*restrict val)[500], float *restrict y) {
  for (int i = 0; i < n; i++) {
    float s = 0;
    for (int k = 0; k < len[i]; k++)
      s += val[i][k];
    y[i] = s;
  }
}
