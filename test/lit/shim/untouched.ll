; No loop, another machine, switched off: the module is what it was, to the byte.
;
; RUN: %opt -S %s -o %t.before.ll
; RUN: %opt -passes=pollyrs -S %s -o %t.after.ll
; RUN: diff %t.before.ll %t.after.ll
; RUN: %opt -passes='pollyrs-test-version' -mtriple=nvptx64-nvidia-cuda -S %t.before.ll | FileCheck %s
; RUN: %opt -passes='pollyrs-test-version<disable>' -S %s | FileCheck %s
; RUN: %opt -passes='pollyrs-test-version' -pollyrs-disable -S %s | FileCheck %s
; RUN: env POLLYRS_DISABLE=1 %opt -passes='pollyrs-test-version' -S %s | FileCheck %s
; The stronger source wins.
; RUN: env POLLYRS_DISABLE=1 %opt -passes='pollyrs-test-version<disable=false>' -S %s | FileCheck %s --check-prefix=ON

; CHECK-NOT: pollyrs.host
; ON: pollyrs.host
define void @f(ptr %a) {
entry:
  br label %loop

loop:
  %i = phi i32 [ 0, %entry ], [ %i1, %loop ]
  %i1 = add i32 %i, 1
  %d = icmp slt i32 %i1, 10
  br i1 %d, label %loop, label %exit

exit:
  ret void
}

define i32 @g(i32 %x) {
  ret i32 %x
}
