; The region leaves by two edges with different values for one PHI of the exit; the exit is also reached past the loop.
;
;   int outside(int n, int *a, bool c) {
;     if (!c) return -1 + 0;
;     for (int i = 0; i < n; i++) if (a[i] == 0) return i + 1;
;     return 7 + 1;
;   }
;
; RUN: %opt -passes='pollyrs-test-version,verify' -S %s | FileCheck %s
; RUN: %opt -passes='pollyrs-test-version-largest,verify' -disable-output %s

define i32 @outside(i32 %n, ptr %a, i1 %c) {
; CHECK-LABEL: define i32 @outside(
; CHECK:         br i1 false, label %[[OFFLOAD:.*]], label %[[HOST:.*]]
; CHECK:       [[OFFLOAD]]:
; CHECK-NEXT:    br label %[[MERGE:.*]]
; CHECK:       [[HOST]]:
; CHECK-NEXT:    br label %loop
; CHECK:       loop:
; CHECK-NEXT:    %i = phi i32
; CHECK-DAG:     br i1 %z, label %[[END:.*]], label %latch
; CHECK:       latch:
; CHECK:         br i1 %d, label %loop, label %[[END]]
; CHECK:       [[END]]:
; CHECK-NEXT:    [[JOIN:%.*]] = phi i32 [ 7, %latch ], [ %i, %loop ]
; CHECK-NEXT:    br label %[[MERGE]]
; CHECK:       [[MERGE]]:
; CHECK-NEXT:    phi i32 [ [[JOIN]], %[[END]] ], [ poison, %[[OFFLOAD]] ]
; The value 1 of the other PHI is the same on both edges and needs no PHI here.
; CHECK-NEXT:    br label
; CHECK-NOT:   .pollyrs(
entry:
  br i1 %c, label %loop, label %exit

loop:
  %i = phi i32 [ 0, %entry ], [ %i1, %latch ]
  %p = getelementptr i32, ptr %a, i32 %i
  %v = load i32, ptr %p
  %z = icmp eq i32 %v, 0
  br i1 %z, label %exit, label %latch

latch:
  %i1 = add i32 %i, 1
  %d = icmp slt i32 %i1, %n
  br i1 %d, label %loop, label %exit

exit:
  %r = phi i32 [ -1, %entry ], [ %i, %loop ], [ 7, %latch ]
  %s = phi i32 [ 0, %entry ], [ 1, %loop ], [ 1, %latch ]
  %t = add i32 %r, %s
  ret i32 %t
}
