; What becomes of a module is kept from build to build, and taken where nothing has changed that it depends on: the same text, with or without debug info of types.
; DEFINE: %{kept} = env POLLYRS_CACHE=%t/kept
; DEFINE: %{run} = %{kept} %opt -passes='pollyrs<targets=emulated>' -S
; RUN: rm -rf %t && mkdir %t && cp %s %t/module.ll && cd %t
; RUN: env POLLYRS_CACHE=off %opt -passes='pollyrs<targets=emulated>' -S module.ll -o never.ll && FileCheck --check-prefix=LAUNCH %s < never.ll
; RUN: %{run} module.ll -o first.ll && %{run} module.ll -o second.ll && cmp never.ll first.ll && cmp never.ll second.ll
; RUN: %{kept} %pollyrs cache | FileCheck --check-prefix=ONE %s
;
; A loop that is not offloaded: nothing but that is kept.
; RUN: sed 's/store float %%y, ptr %%to/store volatile float %%y, ptr %%to/' %s > module.ll
; RUN: %{run} module.ll -o first.ll && %{run} module.ll -o second.ll && cmp first.ll second.ll
; RUN: %{kept} %pollyrs cache | FileCheck --check-prefix=TWO %s
;
; Another body of a callee, initialiser of a global, type, option, option of LLVM, data layout, file of tuned choices: each is another module, which is taken
; once it is known, and none is taken for another one.
; RUN: cp first.ll never.ll && sed 's/fmul float %%v, 3.0/fmul float %%v, 5.0/' %s > module.ll
; RUN: %{run} module.ll -o first.ll && %{run} module.ll -o second.ll && cmp first.ll second.ll && not cmp -s never.ll first.ll
; RUN: %{kept} %pollyrs cache | FileCheck --check-prefix=THREE %s
; RUN: cp first.ll never.ll && sed 's/float 7.0,/float 8.0,/' %s > module.ll
; RUN: %{run} module.ll -o first.ll && %{run} module.ll -o second.ll && cmp first.ll second.ll && not cmp -s never.ll first.ll
; RUN: %{kept} %pollyrs cache | FileCheck --check-prefix=FOUR %s
; RUN: cp first.ll never.ll && sed 's/^%%pair = .*/%%pair = type { float, double }/' %s > module.ll
; RUN: %{run} module.ll -o first.ll && %{run} module.ll -o second.ll && cmp first.ll second.ll && not cmp -s never.ll first.ll
; RUN: %{kept} %pollyrs cache | FileCheck --check-prefix=FIVE %s
; RUN: cp %s module.ll && %{kept} %opt -passes='pollyrs<targets=emulated;tile=64>' -S module.ll -o first.ll
; RUN: %{kept} %pollyrs cache | FileCheck --check-prefix=SIX %s
; RUN: %{run} -scalar-evolution-max-arith-depth=31 module.ll -o first.ll
; RUN: %{kept} %pollyrs cache | FileCheck --check-prefix=SEVEN %s
; RUN: sed 's/^target datalayout = "e"/target datalayout = "e-i64:64"/' %s > module.ll && %{run} module.ll -o first.ll
; RUN: %{kept} %pollyrs cache | FileCheck --check-prefix=EIGHT %s
; RUN: cp %s module.ll && echo '{"format":1,"device":"","entries":[]}' > tuned.json && %{kept} %opt -passes='pollyrs<targets=emulated;tuned=%t/tuned.json>' -S module.ll -o first.ll
; RUN: %{kept} %pollyrs cache | FileCheck --check-prefix=NINE %s
; RUN: echo ' {"format":1,"device":"","entries":[]}' > tuned.json && %{kept} %opt -passes='pollyrs<targets=emulated;tuned=%t/tuned.json>' -S module.ll -o first.ll
; RUN: %{kept} %pollyrs cache | FileCheck --check-prefix=TEN %s
;
; The size of the folder is none of this. Who wants to hear remarks hears them each time, and what failed is tried again.
; RUN: cp %s module.ll && env POLLYRS_CACHE_SIZE=900 POLLYRS_CACHE=%t/kept %opt -passes='pollyrs<targets=emulated>' -S module.ll -o second.ll
; RUN: %{run} module.ll -pass-remarks=pollyrs -o second.ll 2>&1 | FileCheck --check-prefix=REMARK %s
; RUN: %{run} module.ll -pass-remarks=pollyrs -o second.ll 2>&1 | FileCheck --check-prefix=REMARK %s
; RUN: not %{kept} %opt -passes='pollyrs<targets=emulated;tuned=%t/nothing.json>' -S module.ll -o second.ll
; RUN: %{kept} %pollyrs cache | FileCheck --check-prefix=TEN %s
;
; Damaged files count for nothing.
; RUN: find %t/kept -type f -exec truncate -s -1 {} + && %{run} module.ll -o second.ll && FileCheck --check-prefix=LAUNCH %s < second.ll

; LAUNCH: call {{.*}}@pollyrs_rt_
; REMARK: remark: {{.*}}offloaded
; ONE: kept: 1 file,
; TWO: kept: 2 files
; THREE: kept: 3 files
; FOUR: kept: 4 files
; FIVE: kept: 5 files
; SIX: kept: 6 files
; SEVEN: kept: 7 files
; EIGHT: kept: 8 files
; NINE: kept: 9 files
; TEN: kept: 10 files

target datalayout = "e"

%pair = type { float, float }

$shared = comdat any

@table = internal constant [2 x float] [float 7.0, float 2.0]
@other = alias void (ptr, ptr, i64), ptr @f
@shared = linkonce_odr global %pair zeroinitializer, comdat

define internal float @scale(float %v) {
  %r = fmul float %v, 3.0
  ret float %r
}

define void @f(ptr noalias %a, ptr noalias %b, i64 %n) {
entry:
  %any = icmp sgt i64 %n, 0
  br i1 %any, label %loop, label %exit

loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %from = getelementptr inbounds %pair, ptr %b, i64 %i
  %x = load float, ptr %from, align 4
  %s = call float @scale(float %x)
  %c = load float, ptr @table, align 4
  %y = fadd float %s, %c
  %to = getelementptr inbounds float, ptr %a, i64 %i
  store float %y, ptr %to, align 4
  %next = add nuw nsw i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %exit, !llvm.loop !1

exit:
  ret void
}

!named = !{!0}
!0 = !{!"of the module"}
!1 = distinct !{!1, !2}
!2 = !{!"llvm.loop.mustprogress"}
