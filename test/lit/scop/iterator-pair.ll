; Two slices walked together, in the form that Rust's `zip` has: the index moves on if there is a next element, and the pointers to
; it are chosen by the same test.
;
; RUN: %opt -passes="print<pollyrs-scop>" -disable-output %s 2>&1 | FileCheck %s

define void @zip(ptr noalias %a, i64 %n, ptr noalias %b, i64 %m) {
start:
  %len = call i64 @llvm.umin.i64(i64 %n, i64 %m)
  %none = icmp eq i64 %len, 0
  br i1 %none, label %done, label %loop

loop:
  %x = phi ptr [ %a, %start ], [ %x.next, %loop ]
  %y = phi ptr [ %b, %start ], [ %y.next, %loop ]
  %index = phi i64 [ 1, %start ], [ %index.next, %loop ]
  %v = load double, ptr %y, align 8
  %w = fmul double %v, 2.000000e+00
  %u = load double, ptr %x, align 8
  %s = fadd double %u, %w
  store double %s, ptr %x, align 8
  %more = icmp ult i64 %index, %len
  %step = zext i1 %more to i64
  %index.next = add i64 %index, %step
  %y.at = getelementptr inbounds double, ptr %b, i64 %index
  %x.at = getelementptr inbounds double, ptr %a, i64 %index
  %y.next = select i1 %more, ptr %y.at, ptr undef
  %x.next = select i1 %more, ptr %x.at, ptr null
  br i1 %more, label %loop, label %done

done:
  ret void
}

declare i64 @llvm.umin.i64(i64, i64)

; CHECK: scop zip
; CHECK: statement S0
; CHECK: domain {{.*}}S0[i0]
; CHECK: must-write {{.*}} S0[i0] -> a[i0]
; CHECK-NOT: statement S1
