; Elements that are counted in an object which is destroyed behind the loop, and on a way around it: as `collect` appends to a vector. The object
; is known to nobody else while the loop runs, so that its pointer and its count stay what they are when an element is stored. Not where
; another one knows the object before.
;
;   if (n == 0) { destroy(f); return; }
;   for (i = 0; i != n; i++) { f->data[f->count] = x[i]; f->count = f->count + 1; }
;   destroy(f);
;
; RUN: %opt -passes="print<pollyrs-scop>" -disable-output %s 2>&1 | FileCheck %s

target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

; CHECK-LABEL: scop append
; CHECK: domain {{.*}} -> { S0[i0] : 0 <= i0 < n }
; CHECK: must-write {{.*}} -> { S0[i0] -> {{.*}}[{{.*}} + i0] }
define void @append(ptr %x, i64 %n, ptr noalias captures(address) dereferenceable(24) %f) {
start:
  %none = icmp eq i64 %n, 0
  br i1 %none, label %empty, label %loop

empty:
  call void @destroy(ptr %f)
  br label %end

loop:
  %i = phi i64 [ 0, %start ], [ %next, %loop ]
  %from = getelementptr inbounds double, ptr %x, i64 %i
  %value = load double, ptr %from, align 8
  %count.at = getelementptr inbounds i8, ptr %f, i64 8
  %data.at = getelementptr inbounds i8, ptr %f, i64 16
  %data = load ptr, ptr %data.at, align 8
  %count = load i64, ptr %count.at, align 8
  %to = getelementptr inbounds double, ptr %data, i64 %count
  store double %value, ptr %to, align 8
  %again = load i64, ptr %count.at, align 8
  %more = add i64 %again, 1
  store i64 %more, ptr %count.at, align 8
  %next = add nuw i64 %i, 1
  %done = icmp eq i64 %next, %n
  br i1 %done, label %last, label %loop

last:
  call void @destroy(ptr %f)
  br label %end

end:
  ret void
}

; CHECK-NOT: scop known
define void @known(ptr %x, i64 %n, ptr noalias dereferenceable(24) %f) {
start:
  %none = icmp eq i64 %n, 0
  br i1 %none, label %empty, label %before

empty:
  call void @destroy(ptr %f)
  br label %end

before:
  call void @destroy(ptr %f)
  br label %loop

loop:
  %i = phi i64 [ 0, %before ], [ %next, %loop ]
  %from = getelementptr inbounds double, ptr %x, i64 %i
  %value = load double, ptr %from, align 8
  %count.at = getelementptr inbounds i8, ptr %f, i64 8
  %data.at = getelementptr inbounds i8, ptr %f, i64 16
  %data = load ptr, ptr %data.at, align 8
  %count = load i64, ptr %count.at, align 8
  %to = getelementptr inbounds double, ptr %data, i64 %count
  store double %value, ptr %to, align 8
  %again = load i64, ptr %count.at, align 8
  %more = add i64 %again, 1
  store i64 %more, ptr %count.at, align 8
  %next = add nuw i64 %i, 1
  %done = icmp eq i64 %next, %n
  br i1 %done, label %last, label %loop

last:
  ret void

end:
  ret void
}

declare void @destroy(ptr)
