; A debug record behind the region that describes a variable by a value of the region describes it by the PHI now.
;
; RUN: %opt -passes='pollyrs-test-version,verify' -S %s | FileCheck %s

define void @f(ptr %a) !dbg !5 {
; CHECK-LABEL: define void @f(
; CHECK:       loop:
; CHECK:         #dbg_value(i32 %i1, [[VAR:![0-9]+]]
; CHECK:       pollyrs.merge:
; CHECK-NEXT:    [[PHI:%.*]] = phi i32 [ %i1, %pollyrs.host.end ]
; CHECK:       exit:
; CHECK-NOT:     #dbg_value(i32 %i1,
; CHECK:         ret void
entry:
  br label %loop, !dbg !9

loop:
  %i = phi i32 [ 0, %entry ], [ %i1, %loop ], !dbg !9
  %p = getelementptr i32, ptr %a, i32 %i, !dbg !9
  store i32 %i, ptr %p, !dbg !9
  %i1 = add i32 %i, 1, !dbg !9
    #dbg_value(i32 %i1, !8, !DIExpression(), !9)
  %d = icmp slt i32 %i1, 10, !dbg !9
  br i1 %d, label %loop, label %exit, !dbg !9

exit:
    #dbg_value(i32 %i1, !8, !DIExpression(DW_OP_plus_uconst, 1, DW_OP_stack_value), !9)
  call void @use(i32 %i1), !dbg !9
  ret void, !dbg !9
}

declare void @use(i32)

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2}
!0 = distinct !DICompileUnit(language: DW_LANG_C99, file: !1, isOptimized: true, emissionKind: FullDebug)
!1 = !DIFile(filename: "f.c", directory: "/")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!3 = !DISubroutineType(types: !4)
!4 = !{null}
!5 = distinct !DISubprogram(name: "f", file: !1, line: 1, type: !3, spFlags: DISPFlagDefinition, unit: !0, retainedNodes: !6)
!6 = !{!8}
!7 = !DIBasicType(name: "int", size: 32, encoding: DW_ATE_signed)
!8 = !DILocalVariable(name: "i", scope: !5, file: !1, line: 2, type: !7)
!9 = !DILocation(line: 2, column: 3, scope: !5)
