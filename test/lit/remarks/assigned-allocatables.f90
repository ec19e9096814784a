! An assignment of whole allocatable arrays in a time loop is a copy where the shapes are equal before the loop; under a condition, or where something else
! may change a descriptor, it stays a call, and the loop around it on the host.
!
! RUN: %flang -O3 -g -S -emit-llvm -Rpass=pollyrs -Rpass-missed=pollyrs %s -o /dev/null 2>&1 | FileCheck %s

! CHECK: offloaded always_: 3 loops, 2 statements
subroutine always(u, v, steps)
  real(8), allocatable, intent(inout) :: u(:), v(:)
  integer, intent(in) :: steps
  integer :: t, i
  do t = 1, steps
    do i = 2, size(u) - 1
      v(i) = 0.5d0 * (u(i - 1) + u(i + 1))
    end do
    u = v
  end do
end subroutine

! CHECK: offloaded sometimes_: 1 loop,
subroutine sometimes(u, v, steps)
  real(8), allocatable, intent(inout) :: u(:), v(:)
  integer, intent(in) :: steps
  integer :: t, i
  do t = 1, steps
    do i = 2, size(u) - 1
      v(i) = 0.5d0 * (u(i - 1) + u(i + 1))
    end do
    if (v(3) > 1) u = v
  end do
end subroutine

! CHECK: offloaded elsewhere_: 1 loop,
subroutine elsewhere(u, v, steps)
  interface
    subroutine other(x)
      real(8), allocatable :: x(:)
    end subroutine
  end interface
  real(8), allocatable, intent(inout) :: u(:), v(:)
  integer, intent(in) :: steps
  integer :: t, i
  do t = 1, steps
    do i = 2, size(u) - 1
      v(i) = 0.5d0 * (u(i - 1) + u(i + 1))
    end do
    u = v
    call other(v)
  end do
end subroutine
