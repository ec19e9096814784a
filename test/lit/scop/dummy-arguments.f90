! Dummy arguments of Fortran do not overlap whatever their types are: tags that name them are believed.
!
! RUN: %flang -O1 -S -emit-llvm %s -o %t.ll
! RUN: %opt -passes="print<pollyrs-scop>" -disable-output %t.ll 2>&1 | FileCheck %s

! CHECK-LABEL: scop scaled_
! CHECK-NOT: check disjoint
! CHECK: statement S0
subroutine scaled(n, a, b)
  integer :: n, i
  real(8) :: a(n), b(n)
  do i = 1, n
    a(i) = 2 * b(i)
  end do
end subroutine
