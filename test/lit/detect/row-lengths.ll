; Check: rows that have lengths of their own, with bounds checks, as vectors of vectors have in Rust.
;
; RUN: %opt -passes="print<pollyrs-detect>" -disable-output %s 2>&1 | FileCheck %s

; CHECK: scop rows at {{.*}}, 1 loops
; CHECK: rejected Check {{.*}}a check that may end the program depends on the length of a row (loaded in each iteration), which is not affine

declare void @panic_bounds_check(i64, i64) noreturn

define void @rows(ptr noalias %rows, i64 %count, i64 %n, ptr noalias %data, ptr noalias %sum) {
start:
  %none = icmp eq i64 %n, 0
  br i1 %none, label %done, label %outer

outer:
  %i = phi i64 [ 0, %start ], [ %i.next, %outer.end ]
  %row = getelementptr inbounds { i64, ptr, i64 }, ptr %rows, i64 %i
  %first = mul i64 %i, %n
  %length.at = getelementptr inbounds i8, ptr %row, i64 16
  br label %inner

inner:
  %j = phi i64 [ 0, %outer ], [ %j.next, %store ]
  %in.rows = icmp ult i64 %i, %count
  br i1 %in.rows, label %second, label %error

error:
  call void @panic_bounds_check(i64 %i, i64 %count) noreturn
  unreachable

second:
  %length = load i64, ptr %length.at, align 8
  %in = icmp ult i64 %j, %length
  br i1 %in, label %store, label %error.2

error.2:
  call void @panic_bounds_check(i64 %j, i64 %length) noreturn
  unreachable

store:
  %element = add i64 %first, %j
  %at = getelementptr inbounds double, ptr %data, i64 %element
  %value = load double, ptr %at, align 8
  %sum.at = getelementptr inbounds double, ptr %sum, i64 %j
  %old = load double, ptr %sum.at, align 8
  %new = fadd double %old, %value
  store double %new, ptr %sum.at, align 8
  %j.next = add nuw i64 %j, 1
  %j.last = icmp eq i64 %j.next, %n
  br i1 %j.last, label %outer.end, label %inner

outer.end:
  %i.next = add nuw i64 %i, 1
  %i.last = icmp eq i64 %i.next, %n
  br i1 %i.last, label %done, label %outer

done:
  ret void
}
