; A value of one region that a later region needs is one that scalar evolution knows under an older name: the PHI at the end of the branch has one
; source. Both names live on.
;
; RUN: env POLLYRS_TARGETS=emulated POLLYRS_MIN_WORK=256 %opt -O3 -pass-remarks=pollyrs -pass-remarks-missed=pollyrs -disable-output %s 2>&1 | FileCheck %s
;
; CHECK-NOT: internal error
; CHECK: offloaded found.1
; CHECK: offloaded found.2
; CHECK-NOT: internal error

target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

define i32 @found(ptr %count, i64 %length) {
entry:
  %copy = alloca [500 x i8], align 1
  %text = alloca [500 x i8], align 1
  br label %clear

clear:
  %i = phi i32 [ 0, %entry ], [ %i.next, %cleared ]
  %left = phi i64 [ 500, %entry ], [ %left.next, %cleared ]
  %more = icmp sgt i64 %left, 0
  br i1 %more, label %cleared, label %scan

cleared:
  store i32 0, ptr %count, align 4
  %at = sext i32 %i to i64
  %character = getelementptr [500 x [1 x i8]], ptr %text, i32 0, i64 %at
  store [1 x i8] zeroinitializer, ptr %character, align 1
  %i.next = add i32 %i, 1
  %left.next = sub i64 %left, 1
  br label %clear

scan:
  %last = phi i8 [ %own, %scanned ], [ 0, %clear ]
  %rest = phi i64 [ %rest.next, %scanned ], [ 8, %clear ]
  %open = icmp sgt i64 %rest, 0
  br i1 %open, label %look, label %behind

look:
  %none = icmp eq i8 %last, 0
  br i1 %none, label %read, label %scanned

read:
  %first = getelementptr [8 x [1 x i8]], ptr %text, i32 0, i64 %rest
  %loaded = load [1 x i8], ptr %first, align 1
  %value = extractvalue [1 x i8] %loaded, 0
  br label %scanned

scanned:
  %own = phi i8 [ %value, %read ], [ 0, %look ]
  %rest.next = sub i64 %rest, 1
  br label %scan

behind:
  %any = icmp ne i8 %last, 0
  br i1 %any, label %move, label %done

move:
  store i32 0, ptr %count, align 4
  call void @llvm.memmove.p0.p0.i64(ptr %copy, ptr %count, i64 %length, i1 false)
  br label %forever

forever:
  %flag = phi i8 [ %flag.next, %forever ], [ 0, %move ]
  %again = load [1 x i8], ptr %copy, align 1
  %byte = extractvalue [1 x i8] %again, 0
  %set = icmp ugt i8 %byte, 0
  %flag.next = select i1 %set, i8 0, i8 %flag
  br label %forever

done:
  ret i32 0
}

declare void @llvm.memmove.p0.p0.i64(ptr writeonly captures(none), ptr readonly captures(none), i64, i1 immarg)
