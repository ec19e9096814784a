; Sizes that change places with pointers: one that only takes over what is in a cycle is on none, and no size is on two.
;
; RUN: %opt -passes="pollyrs<targets=emulated;verify=true>" -pass-remarks-missed=pollyrs -pass-remarks=pollyrs -S %s 2>&1 | FileCheck %s

; CHECK-NOT: internal error
; CHECK: define void @f

define void @f(i64 %steps, ptr %sizes, ptr %a, ptr %b, ptr %c) {
entry:
  %at = getelementptr i64, ptr %sizes, i64 1
  %last = getelementptr i64, ptr %sizes, i64 2
  %n = load i64, ptr %sizes
  %m = load i64, ptr %at
  %l = load i64, ptr %last
  br label %time

time:
  %t = phi i64 [ 0, %entry ], [ %tn, %after ]
  %x = phi ptr [ %a, %entry ], [ %y, %after ]
  %y = phi ptr [ %b, %entry ], [ %x, %after ]
  %p = phi i64 [ %n, %entry ], [ %q, %after ]
  %q = phi i64 [ %m, %entry ], [ %p, %after ]
  %r = phi i64 [ %l, %entry ], [ %p, %after ]
  br label %loop

loop:
  %i = phi i64 [ 0, %time ], [ %next, %loop ]
  %row = mul i64 %p, %i
  %other = mul i64 %q, %i
  %third = mul i64 %r, %i
  %from = getelementptr double, ptr %x, i64 %row
  %to = getelementptr double, ptr %y, i64 %other
  %on = getelementptr double, ptr %c, i64 %third
  %v = load double, ptr %from
  store double %v, ptr %to
  store double %v, ptr %on
  %next = add nuw nsw i64 %i, 1
  %more = icmp slt i64 %next, 1000
  br i1 %more, label %loop, label %after

after:
  %tn = add nuw nsw i64 %t, 1
  %again = icmp slt i64 %tn, %steps
  br i1 %again, label %time, label %done

done:
  ret void
}
