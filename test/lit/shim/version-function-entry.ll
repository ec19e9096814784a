; The region begins with the function's entry block: its static allocas, wherever they stand in it, stay in the (new)
; entry block, all else moves behind the check.
;
; RUN: %opt -passes='pollyrs-test-version-largest,verify' -S %s | FileCheck %s

declare void @use(ptr)

define void @first(ptr %a, i1 %c) {
; CHECK-LABEL: define void @first(
; CHECK-NEXT:  {{.*}}:
; CHECK-NEXT:    %x = alloca i32
; CHECK-NEXT:    %y = alloca [4 x i32]
; CHECK-NEXT:    br i1 false, label %[[OFFLOAD:.*]], label %[[HOST:.*]]
; CHECK:       [[OFFLOAD]]:
; CHECK-NEXT:    br label %[[MERGE:.*]]
; CHECK:       [[HOST]]:
; CHECK-NEXT:    br label %[[ENTRY:.*]]
; CHECK:       [[ENTRY]]:
; CHECK-NEXT:    store i32 3, ptr %x
; CHECK:       loop:
; CHECK:       [[MERGE]]:
; CHECK-NOT:     phi
; CHECK:         call void @use(ptr %x)
entry:
  %x = alloca i32
  store i32 3, ptr %x
  %y = alloca [4 x i32]
  br i1 %c, label %loop, label %exit

loop:
  %i = phi i32 [ 0, %entry ], [ %i1, %loop ]
  %p = getelementptr i32, ptr %a, i32 %i
  store i32 %i, ptr %p
  %i1 = add i32 %i, 1
  %d = icmp slt i32 %i1, 10
  br i1 %d, label %loop, label %exit

exit:
  call void @use(ptr %x)
  br label %out

out:
  call void @use(ptr %y)
  ret void
}
