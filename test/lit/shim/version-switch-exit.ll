; A switch leaves the loop by three edges to one block: PHIs there have an entry for each edge, and keep being consistent.
;
; RUN: %opt -passes='pollyrs-test-version,verify' -S %s | FileCheck %s

define i32 @switch_exit(ptr %a) {
; CHECK-LABEL: define i32 @switch_exit(
; CHECK:         switch i32 %i1, label %loop [
; CHECK-NEXT:      i32 10, label %[[END:.*]]
; CHECK-NEXT:      i32 12, label %[[END]]
; CHECK-NEXT:      i32 17, label %[[END]]
; CHECK:       [[END]]:
; CHECK-NEXT:    br label %[[MERGE:.*]]
; CHECK:       [[MERGE]]:
; CHECK-NEXT:    phi i32 [ %i1, %[[END]] ], [ poison, %{{.*}} ]
entry:
  br label %loop

loop:
  %i = phi i32 [ 0, %entry ], [ %i1, %loop ]
  %p = getelementptr i32, ptr %a, i32 %i
  store i32 %i, ptr %p
  %i1 = add i32 %i, 1
  switch i32 %i1, label %loop [ i32 10, label %exit
                                i32 12, label %exit
                                i32 17, label %exit ]

exit:
  %r = phi i32 [ 5, %loop ], [ 5, %loop ], [ 5, %loop ]
  %q = add i32 %r, %i1
  ret i32 %q
}
