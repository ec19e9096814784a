! Products and sums that flags allow to be contracted are fused at once, the product on the left first, and nothing else may be fused later.
!
! RUN: %flang -O1 -S -emit-llvm %s -o - -mllvm -pollyrs-contract=only | FileCheck %s
! RUN: %flang -O1 -S -emit-llvm %s -o - | FileCheck %s --check-prefix=LATE
! RUN: %flang -O1 -ffp-contract=off -S -emit-llvm %s -o - -mllvm -pollyrs-contract=only | FileCheck %s --check-prefix=OFF

! CHECK-NOT: {{fmul|fadd|fsub}} contract
! CHECK-LABEL: define {{.*}} @both_
! CHECK: %[[A:.*]] = load double, ptr %0
! CHECK: %[[B:.*]] = load double, ptr %1
! CHECK: %[[CD:.*]] = fmul double
! CHECK: call double @llvm.fmuladd.f64(double %[[A]], double %[[B]], double %[[CD]])
! LATE: fmul contract double
! LATE-NOT: fmuladd
! OFF-NOT: {{contract|fmuladd}}
subroutine both(a, b, c, d, r)
  real(8), intent(in) :: a, b, c, d
  real(8), intent(out) :: r
  r = a*b + c*d
end subroutine

! CHECK-LABEL: define {{.*}} @minus_
! CHECK: %[[P:.*]] = load float, ptr %0
! CHECK: %[[N:.*]] = fneg float %[[P]]
! CHECK: call float @llvm.fmuladd.f32(float %[[N]], float %{{.*}}, float %{{.*}})
! CHECK: fneg float
! CHECK: call float @llvm.fmuladd.f32
subroutine minus(a, b, x, r, s)
  real(4), intent(in) :: a, b, x
  real(4), intent(out) :: r, s
  r = x - a*b
  s = a*b - x
end subroutine

! A product that is used twice is one value.
! CHECK-LABEL: define {{.*}} @shared_
! CHECK: fmul float
! CHECK-NOT: fmuladd
! CHECK: ret void
subroutine shared(a, b, r, s)
  real(4), intent(in) :: a, b
  real(4), intent(out) :: r, s
  r = a*b
  s = r + 1.0
end subroutine
