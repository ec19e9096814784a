; Reductions as flang writes them: `maxval`, the largest of values that are numbers, by a comparison that replaces what is none; `any`, a truth value.
; Not if what is tested is another value than what is taken.
;
; RUN: %opt -passes="print<pollyrs-scop>" -disable-output %s 2>&1 | FileCheck %s

; CHECK-LABEL: scop maxval
; CHECK: reduction of {{.*}} in order
define double @maxval(ptr noalias %a, i64 %n, double %first) {
entry:
  br label %loop

loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %m = phi double [ %first, %entry ], [ %m.next, %loop ]
  %at = getelementptr double, ptr %a, i64 %i
  %v = load double, ptr %at, align 8
  %larger = fcmp ogt double %v, %m
  %none = fcmp une double %m, %m
  %number = fcmp oeq double %v, %v
  %replaces = and i1 %none, %number
  %take = or i1 %larger, %replaces
  %m.next = select i1 %take, double %v, double %m
  %next = add nuw nsw i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %done

done:
  ret double %m.next
}

; CHECK-LABEL: scop other
; CHECK-NOT: reduction
define double @other(ptr noalias %a, ptr noalias %b, i64 %n, double %first) {
entry:
  br label %loop

loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %m = phi double [ %first, %entry ], [ %m.next, %loop ]
  %at = getelementptr double, ptr %a, i64 %i
  %v = load double, ptr %at, align 8
  %b.at = getelementptr double, ptr %b, i64 %i
  %w = load double, ptr %b.at, align 8
  %larger = fcmp ogt double %v, %m
  %none = fcmp une double %m, %m
  %number = fcmp oeq double %w, %w
  %replaces = and i1 %none, %number
  %take = or i1 %larger, %replaces
  %m.next = select i1 %take, double %v, double %m
  %next = add nuw nsw i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %done

done:
  ret double %m.next
}

; CHECK-LABEL: scop any
; CHECK: reduction of {{.*}} in any order
define i1 @any(ptr noalias %a, i64 %n) {
entry:
  br label %loop

loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %found = phi i1 [ false, %entry ], [ %found.next, %loop ]
  %at = getelementptr double, ptr %a, i64 %i
  %v = load double, ptr %at, align 8
  %holds = fcmp ogt double %v, 5.000000e-01
  %found.next = or i1 %found, %holds
  %next = add nuw nsw i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %done

done:
  ret i1 %found.next
}
