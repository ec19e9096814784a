; Julia's arrays, in the form that its compiler emits: an array is a structure of a data pointer, its memory, and sizes, which are loaded in each
; iteration, with Julia's own TBAA; each access has a bounds check that leads to a call which does not return; functions begin with a safepoint.
;
;   function step!(B::Matrix{Float64}, A::Matrix{Float64}, s::Float64)
;       for j in 2:size(A, 2)-1, i in 2:size(A, 1)-1
;           B[i, j] = s * (A[i-1, j] + A[i, j+1])
;       end
;   end
;   function axpy!(y::Vector{Float64}, a::Float64, x::Vector{Float64})
;       for i in 1:length(x); y[i] += a * x[i]; end
;   end
;
; RUN: %opt -passes="print<pollyrs-scop>" -disable-output %s 2>&1 | FileCheck %s
; RUN: %opt -passes="pollyrs<targets=emulated-checked>" %s -o %t.bc
; RUN: %clang -O1 -Wno-override-module %t.bc %S/Inputs/julia-main.c %rt %rtlibs -o %t
; RUN: env POLLYRS_RT_DEVICE=emulated POLLYRS_RT_OFFLOAD=always POLLYRS_RT_CHECK=1 POLLYRS_RT_VERBOSE=1 %t 2>&1 | FileCheck %s --check-prefix=PROGRAM --implicit-check-not=wrong

; PROGRAM-DAG: axpy{{.*}}emulated
; PROGRAM-DAG: step{{.*}}emulated
; PROGRAM: bounds error at 41
; PROGRAM: done

; CHECK: scop julia_axpy_1
; CHECK: statement S0
; CHECK-NOT: statement S1
; CHECK: scop julia_step_2
; CHECK: statement S0
; CHECK-NOT: statement S1

declare void @ijl_bounds_error_int(ptr, i64) noreturn
declare void @j_throw_boundserror_7(ptr, ptr) noreturn

define void @julia_axpy_1(ptr nonnull align 8 dereferenceable(24) %y, double %a, ptr nonnull align 8 dereferenceable(24) %x, ptr nonnull align 8 %safepoint) {
top:
  fence syncscope("singlethread") seq_cst
  %poll = load volatile i64, ptr %safepoint, align 8
  fence syncscope("singlethread") seq_cst
  %size.x = getelementptr inbounds i8, ptr %x, i64 16
  %length = load i64, ptr %size.x, align 8, !tbaa !5
  %none = icmp slt i64 %length, 1
  br i1 %none, label %done, label %loop

loop:
  %i = phi i64 [ %next, %store ], [ 1, %top ]
  %at = add i64 %i, -1
  %size.y = getelementptr inbounds i8, ptr %y, i64 16
  %length.y = load i64, ptr %size.y, align 8, !tbaa !5
  %inside = icmp ult i64 %at, %length.y
  br i1 %inside, label %first, label %error

error:
  call void @ijl_bounds_error_int(ptr nonnull %y, i64 %i) noreturn
  unreachable

first:
  %data.y = load ptr, ptr %y, align 8, !tbaa !4
  %byte = shl i64 %at, 3
  %to = getelementptr inbounds i8, ptr %data.y, i64 %byte
  %old = load double, ptr %to, align 8, !tbaa !8
  %length.x = load i64, ptr %size.x, align 8, !tbaa !5
  %inside.x = icmp ult i64 %at, %length.x
  br i1 %inside.x, label %store, label %error.x

error.x:
  call void @ijl_bounds_error_int(ptr nonnull %x, i64 %i) noreturn
  unreachable

store:
  %data.x = load ptr, ptr %x, align 8, !tbaa !4
  %from = getelementptr inbounds i8, ptr %data.x, i64 %byte
  %value = load double, ptr %from, align 8, !tbaa !8
  %scaled = fmul double %a, %value
  %new = fadd double %old, %scaled
  store double %new, ptr %to, align 8, !tbaa !8
  %last = icmp eq i64 %i, %length
  %next = add i64 %i, 1
  br i1 %last, label %done, label %loop

done:
  ret void
}

define void @julia_step_2(ptr nonnull align 8 dereferenceable(32) %B, ptr nonnull align 8 dereferenceable(32) %A, double %s, ptr nonnull align 8 %safepoint) {
top:
  %index = alloca [2 x i64], align 8
  fence syncscope("singlethread") seq_cst
  %poll = load volatile i64, ptr %safepoint, align 8
  fence syncscope("singlethread") seq_cst
  %rows.at = getelementptr inbounds i8, ptr %A, i64 16
  %columns.at = getelementptr inbounds i8, ptr %A, i64 24
  %columns = load i64, ptr %columns.at, align 8, !tbaa !5
  %j.end = add i64 %columns, -1
  %some = icmp sgt i64 %j.end, 1
  br i1 %some, label %outer, label %done

outer:
  %j = phi i64 [ 2, %top ], [ %j.next, %outer.end ]
  %rows = load i64, ptr %rows.at, align 8, !tbaa !5
  %i.end = add i64 %rows, -1
  %some.rows = icmp sgt i64 %i.end, 1
  br i1 %some.rows, label %inner, label %outer.end

inner:
  %i = phi i64 [ 2, %outer ], [ %i.next, %store ]
  %up = add i64 %i, -2
  %j0 = add i64 %j, -1
  %rows.1 = load i64, ptr %rows.at, align 8, !tbaa !5
  %columns.1 = load i64, ptr %columns.at, align 8, !tbaa !5
  %in.rows = icmp ult i64 %up, %rows.1
  %in.columns = icmp ult i64 %j0, %columns.1
  %in = and i1 %in.rows, %in.columns
  br i1 %in, label %first, label %error

error:
  %up.one = add i64 %i, -1
  store i64 %up.one, ptr %index, align 8
  %index.1 = getelementptr inbounds i8, ptr %index, i64 8
  store i64 %j, ptr %index.1, align 8
  call void @j_throw_boundserror_7(ptr nonnull %A, ptr nonnull %index) noreturn
  unreachable

first:
  %data = load ptr, ptr %A, align 8, !tbaa !4
  %column = mul i64 %rows.1, %j0
  %linear = add i64 %column, %up
  %from = getelementptr inbounds double, ptr %data, i64 %linear
  %v = load double, ptr %from, align 8, !tbaa !8
  %i0 = add i64 %i, -1
  %in.rows.2 = icmp ult i64 %i0, %rows.1
  %in.columns.2 = icmp ult i64 %j, %columns.1
  %in.2 = and i1 %in.rows.2, %in.columns.2
  br i1 %in.2, label %second, label %error.2

error.2:
  store i64 %i, ptr %index, align 8
  %index.2 = getelementptr inbounds i8, ptr %index, i64 8
  %right = add i64 %j, 1
  store i64 %right, ptr %index.2, align 8
  call void @j_throw_boundserror_7(ptr nonnull %A, ptr nonnull %index) noreturn
  unreachable

second:
  %column.2 = mul i64 %rows.1, %j
  %linear.2 = add i64 %column.2, %i0
  %from.2 = getelementptr inbounds double, ptr %data, i64 %linear.2
  %w = load double, ptr %from.2, align 8, !tbaa !8
  %rows.B.at = getelementptr inbounds i8, ptr %B, i64 16
  %columns.B.at = getelementptr inbounds i8, ptr %B, i64 24
  %rows.B = load i64, ptr %rows.B.at, align 8, !tbaa !5
  %columns.B = load i64, ptr %columns.B.at, align 8, !tbaa !5
  %in.rows.3 = icmp ult i64 %i0, %rows.B
  %in.columns.3 = icmp ult i64 %j0, %columns.B
  %in.3 = and i1 %in.rows.3, %in.columns.3
  br i1 %in.3, label %store, label %error.3

error.3:
  store i64 %i, ptr %index, align 8
  %index.3 = getelementptr inbounds i8, ptr %index, i64 8
  store i64 %j, ptr %index.3, align 8
  call void @j_throw_boundserror_7(ptr nonnull %B, ptr nonnull %index) noreturn
  unreachable

store:
  %sum = fadd double %v, %w
  %new = fmul double %s, %sum
  %data.B = load ptr, ptr %B, align 8, !tbaa !4
  %column.B = mul i64 %rows.B, %j0
  %linear.B = add i64 %column.B, %i0
  %to = getelementptr inbounds double, ptr %data.B, i64 %linear.B
  store double %new, ptr %to, align 8, !tbaa !8
  %i.last = icmp eq i64 %i, %i.end
  %i.next = add i64 %i, 1
  br i1 %i.last, label %outer.end, label %inner

outer.end:
  %j.last = icmp eq i64 %j, %j.end
  %j.next = add i64 %j, 1
  br i1 %j.last, label %done, label %outer

done:
  ret void
}

!0 = !{!"jtbaa"}
!1 = !{!"jtbaa_array", !0, i64 0}
!2 = !{!"jtbaa_arrayptr", !1, i64 0}
!3 = !{!"jtbaa_arraysize", !1, i64 0}
!4 = !{!2, !2, i64 0}
!5 = !{!3, !3, i64 0}
!6 = !{!"jtbaa_data", !0, i64 0}
!7 = !{!"jtbaa_arraybuf", !6, i64 0}
!8 = !{!7, !7, i64 0}
