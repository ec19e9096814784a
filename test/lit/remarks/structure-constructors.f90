! A structure constructor's value is initialized by a call, which does nothing for a type whose components have no initial values: the loop has none.
! The call stays for a type that has some.
!
! RUN: mkdir -p %t.modules
! RUN: %flang -O3 -g -S -emit-llvm -Rpass=pollyrs -Rpass-missed=pollyrs -J %t.modules %s -o /dev/null 2>&1 | FileCheck %s
module points
  type point
    real(8) :: x, y
  end type
  type marked
    real(8) :: x = 1.5d0
    real(8) :: y
  end type
contains
  ! CHECK: constructors.f90:[[#@LINE+5]]:{{.*}} offloaded _QMpointsPturned
  subroutine turned(a, n)
    integer, intent(in) :: n
    type(point), intent(inout) :: a(n)
    integer :: i
    do i = 1, n
      a(i) = point(a(i)%y, a(i)%x)
    end do
  end subroutine

  ! CHECK: constructors.f90:[[#@LINE+6]]:{{.*}} not offloaded: the call of Initialize of Fortran's library (_FortranAInitialize) may have side effects
  subroutine marks(a, n)
    integer, intent(in) :: n
    type(marked), intent(inout) :: a(n)
    integer :: i
    do i = 1, n
      a(i) = marked(y = a(i)%x)
    end do
  end subroutine
end module
