; A call that may throw returns two floats as a vector, once to a place that is reached from elsewhere, too. The vector's elements are taken behind the call, not
; in the block that it ends.
;
; RUN: %opt -passes='pollyrs-canonicalise,verify' -S %s | FileCheck %s
;
; struct P { float x, y; };
; float f(bool c, P start) { Guard g; P p = start; if (c) p = ends(&g); P q = ends(&g); while (g.more()) g.add(p.x); return p.x + q.y + q.x; }

declare <2 x float> @ends(ptr)
declare i1 @more(ptr)
declare void @add(ptr, float)
declare void @release(ptr)
declare i32 @__gxx_personality_v0(...)

; CHECK-LABEL: define float @f(
; CHECK:       [[A:%.*]] = invoke <2 x float> @ends(ptr %g)
; CHECK-NEXT:    to label %[[TO:.*]] unwind
; CHECK:       [[TO]]:
; CHECK-NEXT:    extractelement <2 x float> [[A]], i64 0
; CHECK:       [[B:%.*]] = invoke <2 x float> @ends(ptr %g)
; CHECK:       call void @add(ptr %g,
; CHECK-DAG:   extractelement <2 x float> [[B]], i64 0
; CHECK-DAG:   extractelement <2 x float> [[B]], i64 1
; CHECK:       ret float
; CHECK:       call void @release(ptr %g)
; CHECK:       resume { ptr, i32 } %e
define float @f(i1 %c, <2 x float> %start, ptr %g) personality ptr @__gxx_personality_v0 {
entry:
  br i1 %c, label %first, label %second

first:
  %new = invoke <2 x float> @ends(ptr %g) to label %second unwind label %thrown

second:
  %p = phi <2 x float> [ %start, %entry ], [ %new, %first ]
  %q = invoke <2 x float> @ends(ptr %g) to label %head unwind label %thrown

head:
  %go = call i1 @more(ptr %g)
  br i1 %go, label %body, label %done

body:
  %x = extractelement <2 x float> %p, i64 0
  call void @add(ptr %g, float %x)
  br label %head

done:
  %px = extractelement <2 x float> %p, i64 0
  %qx = extractelement <2 x float> %q, i64 0
  %qy = extractelement <2 x float> %q, i64 1
  %s = fadd float %px, %qy
  %t = fadd float %s, %qx
  ret float %t

thrown:
  %e = landingpad { ptr, i32 } cleanup
  call void @release(ptr %g)
  resume { ptr, i32 } %e
}
