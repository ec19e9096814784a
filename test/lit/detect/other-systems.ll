; Code for other systems than Linux, and for other machines, is left alone: the run-time library is not there.
;
; RUN: %opt -mtriple=x86_64-w64-windows-gnu -passes='pollyrs<targets=emulated;min-work=0>' -pass-remarks=pollyrs -pass-remarks-missed=pollyrs -S %s 2>&1 | FileCheck %s --implicit-check-not=remark --implicit-check-not=pollyrs_
; RUN: %opt -mtriple=arm64-apple-macosx14 -passes='pollyrs<targets=emulated;min-work=0>' -pass-remarks=pollyrs -pass-remarks-missed=pollyrs -S %s 2>&1 | FileCheck %s --implicit-check-not=remark --implicit-check-not=pollyrs_
; RUN: %opt -mtriple=riscv64-unknown-linux-gnu -passes='pollyrs<targets=emulated;min-work=0>' -pass-remarks=pollyrs -pass-remarks-missed=pollyrs -S %s 2>&1 | FileCheck %s --implicit-check-not=remark --implicit-check-not=pollyrs_
; RUN: %opt -mtriple=x86_64-linux-gnux32 -passes='pollyrs<targets=emulated;min-work=0>' -pass-remarks=pollyrs -pass-remarks-missed=pollyrs -S %s 2>&1 | FileCheck %s --implicit-check-not=remark --implicit-check-not=pollyrs_
; RUN: %opt -mtriple=x86_64-pc-linux-gnu -passes='pollyrs<targets=emulated;min-work=0>' -S %s | FileCheck %s --check-prefix=HOST
; RUN: %opt -mtriple=aarch64-unknown-linux-gnu -passes='pollyrs<targets=emulated;min-work=0>' -S %s | FileCheck %s --check-prefix=HOST

; CHECK-LABEL: define void @halve(
; CHECK-NOT: call
; CHECK: ret void
; HOST-LABEL: define void @halve(
; HOST: call {{.*}}@pollyrs_rt_begin
define void @halve(ptr noalias %a, ptr noalias %b, i64 %n) {
entry:
  br label %loop

loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %from = getelementptr float, ptr %b, i64 %i
  %v = load float, ptr %from
  %half = fmul float %v, 0.5
  %to = getelementptr float, ptr %a, i64 %i
  store float %half, ptr %to
  %next = add nsw i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %exit

exit:
  ret void
}
