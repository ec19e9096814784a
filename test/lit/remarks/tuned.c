// A file of tuned choices: an entry is taken by function and content, whatever its loops' variables and lines are; what does not fit any
// more, and what cannot be had, is a remark, and the loop nest is compiled as without the file.
//
// RUN: env POLLYRS_SHOW_CHOICES=1 %clang -O3 -c %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=CONTENT
// CONTENT: pollyrs-choice {"function":"scale","content":"[[SCALE:[0-9a-f]{16}]]"
// CONTENT-SAME: "refused":null
// CONTENT: pollyrs-choice {"function":"renamed","content":"[[SCALE]]"
// CONTENT: pollyrs-choice {"function":"other","content":"
// CONTENT-NOT: [[SCALE]]
//
// RUN: env POLLYRS_SHOW_CHOICES=1 %clang -O3 -c %s -o /dev/null 2> %t.choices
// RUN: python3 %S/Inputs/tuned.py %t.choices > %t.tune
// RUN: %clang -O3 -g -c %s -o /dev/null -mllvm -pollyrs-tuned=%t.tune -Rpass=pollyrs -Rpass-analysis=pollyrs 2>&1 | FileCheck %s
// RUN: %pollyrs cc -O3 -g -c %s -o /dev/null --tuned %t.tune --pollyrs-remarks 2>&1 | FileCheck %s
//
// RUN: echo '{"format": 1, "device": "d", "entries": [{"function": "scale", "content": "0", "options": {"disable": "1"}}]}' > %t.bad
// RUN: not %clang -O3 -c %s -o /dev/null -mllvm -pollyrs-tuned=%t.bad 2>&1 | FileCheck %s --check-prefix=NAME
// NAME: error: pollyrs: option 'tuned': {{.*}}.bad: 'disable' of function scale is none of fuse-steps, graph, nest, register-tile, schedule, stencil-shape,
// RUN: echo '{"format": 1, "device": "d", "entries": [{"function": "scale", "content": "0", "options": {"tile": "0"}}]}' > %t.bad
// RUN: not %clang -O3 -c %s -o /dev/null -mllvm -pollyrs-tuned=%t.bad 2>&1 | FileCheck %s --check-prefix=VALUE
// VALUE: error: pollyrs: option 'tuned': {{.*}}.bad: option 'tile': '0' is not a tile size from 1 to 1024
// RUN: not %clang -O3 -c %s -o /dev/null -mllvm -pollyrs-tuned=%t.none 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: pollyrs: option 'tuned': {{.*}}.none: No such file

// CHECK: tuned.c:[[# @LINE + 2]]:3: remark: takes the tuned choice: tile=64 (1.000 ms, the model's 2.000 ms when it was measured) [PRS004] [-Rpass=pollyrs]
void scale(int n, float *restrict A, const float *restrict B) {
  for (int i = 0; i < n; i++)
    A[i] = 2 * B[i];
}

// CHECK: tuned.c:[[# @LINE + 2]]:3: remark: the tuned choice does not hold here, the model's is taken: strategy=hybrid ({{.*}}): the statements {{.*}} [-Rpass-analysis=pollyrs]
void renamed(int size, float *restrict to, const float *restrict from) {
  for (int place = 0; place < size; place++)
    to[place] = from[place] * 3;
}

// CHECK: remark: the tuned choice for other (content 0123456789abcdef) fits no loop nest of this function any more: the model's choice is taken [PRS006] [-Rpass-analysis=pollyrs]
// CHECK-NOT: tuned choice
void other(int n, float *restrict A, const float *restrict B) {
  for (int i = 1; i < n; i++)
    A[i] = 2 * B[i - 1];
}
