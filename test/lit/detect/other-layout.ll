; A module whose pointers are not 64 bits wide is left alone, whatever its triple says.
;
; RUN: %opt -passes='pollyrs<targets=emulated;min-work=0>' -pass-remarks=pollyrs -pass-remarks-missed=pollyrs -S %s 2>&1 | FileCheck %s --implicit-check-not=remark --implicit-check-not=pollyrs_

target datalayout = "e-p:40:64:64:32-i64:64"
target triple = "x86_64-unknown-linux-gnu"

; CHECK-LABEL: define void @halve(
; CHECK-NOT: call
; CHECK: ret void
define void @halve(ptr noalias %a, ptr noalias %b, i32 %n) {
entry:
  br label %loop

loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %from = getelementptr float, ptr %b, i32 %i
  %v = load float, ptr %from
  %half = fmul float %v, 0.5
  %to = getelementptr float, ptr %a, i32 %i
  store float %half, ptr %to
  %next = add nsw i32 %i, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %exit

exit:
  ret void
}
