// Code refers to the version of the run-time library's interface that it was made for: a library that does not know it can not be linked.
//
// RUN: %clang -O2 -mllvm -pollyrs-targets=emulated -ffp-contract=off -DLOOP -c %s -o %t.o
// RUN: %clang -O2 %t.o -x none %rt %rtlibs -o %t
// RUN: %clang -O2 -c %s -o %t.old.o
// RUN: not %clang %t.o %t.old.o -Wl,--unresolved-symbols=report-all -o %t.none 2>&1 | FileCheck %s

#ifdef LOOP
void scale(int n, double *a) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      a[i * n + j] *= 1.5;
}
int main(void) {
  static double a[400];
  scale(20, a);
  return a[0] != 0;
}
#else
// A former library.
#define OLD(name) void *pollyrs_rt_##name(void) { return 0; }
OLD(begin) OLD(begin_held) OLD(sides) OLD(launch) OLD(launch_slice) OLD(slices) OLD(end) OLD(host_begin) OLD(host_begin_held) OLD(host_end)
OLD(enter) OLD(return) OLD(leave) OLD(release) OLD(discard) OLD(holds) OLD(rows) OLD(emu_fma) OLD(emu_barrier)
#endif

// CHECK-NOT: undefined reference to `pollyrs_rt_{{[b-z]}}
// CHECK: undefined reference to `pollyrs_rt_abi_13'
// CHECK-NOT: undefined reference to `pollyrs_rt_{{[b-z]}}
