; Error blocks: what one computes is used where its exception is cleaned up, so that no other block can stand for it. It stays as it is, and the loop, too.
;
; RUN: %opt -passes="pollyrs<targets=emulated;verify=true>" -pass-remarks-missed=pollyrs -S %s 2>&1 | FileCheck %s

; CHECK: not offloaded
; CHECK-NOT: internal error
; CHECK: define void @f

declare ptr @allocate()
declare void @raise(ptr) noreturn
declare void @release(ptr)
declare i32 @__gxx_personality_v0(...)

define void @f(i64 %n, i64 %m, ptr %a, ptr %b) personality ptr @__gxx_personality_v0 {
entry:
  %some = icmp sgt i64 %n, 0
  br i1 %some, label %loop, label %done

loop:
  %i = phi i64 [ 0, %entry ], [ %next, %latch ]
  %pa = getelementptr double, ptr %a, i64 %i
  %pb = getelementptr double, ptr %b, i64 %i
  %first = icmp eq i64 %i, %m
  br i1 %first, label %bad, label %second

second:
  %x = load double, ptr %pa
  store double 1.0, ptr %pb
  %beyond = icmp ugt i64 %i, 500
  br i1 %beyond, label %bad, label %latch

latch:
  store double %x, ptr %pb
  %next = add nuw nsw i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %done

done:
  ret void

bad:
  %exception = call ptr @allocate()
  invoke void @raise(ptr %exception)
          to label %never unwind label %clean

never:
  unreachable

clean:
  %pad = landingpad { ptr, i32 }
          cleanup
  call void @release(ptr %exception)
  resume { ptr, i32 } %pad
}
