; A region whose exit is the header of the loop around it takes over the back edge: the loop's metadata must follow.
; (Here loop-simplify has given the outer loop a latch of its own, which keeps it.) No metadata is lost or doubled.
;
; RUN: %opt -passes='pollyrs-test-version,verify' -S %s | FileCheck %s
; RUN: %opt -passes='pollyrs-test-version-largest,verify' -S %s | FileCheck %s

define void @nest(ptr %a, i32 %n) {
; CHECK-LABEL: define void @nest(
; CHECK-COUNT-2: !llvm.loop
; CHECK-NOT:     !llvm.loop
; CHECK:       }
entry:
  br label %outer

outer:
  %i = phi i32 [ 0, %entry ], [ %i1, %latch ]
  br label %inner

inner:
  %j = phi i32 [ 0, %outer ], [ %j1, %inner ]
  %p = getelementptr i32, ptr %a, i32 %j
  store i32 %i, ptr %p
  %j1 = add i32 %j, 1
  %dj = icmp slt i32 %j1, %n
  br i1 %dj, label %inner, label %latch, !llvm.loop !0

latch:
  %i1 = add i32 %i, 1
  %di = icmp slt i32 %i1, %n
  br i1 %di, label %outer, label %exit, !llvm.loop !2

exit:
  ret void
}

!0 = distinct !{!0, !1}
!1 = !{!"llvm.loop.mustprogress"}
!2 = distinct !{!2, !1}
