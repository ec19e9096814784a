! The extent of an explicit-shape array is max(n, 0); inside the loops it is n.
!
! RUN: %flang -O1 -g -S -emit-llvm -Rpass=pollyrs -Rpass-analysis=pollyrs %s -o /dev/null 2>&1 | FileCheck %s
! CHECK-NOT: assumes
! CHECK: offloaded step_:{{.*}}5 loops, 2 statements, 2 arrays
! CHECK-NOT: assumes

subroutine step(steps, n, m, a, b)
  implicit none
  integer, intent(in) :: steps, n, m
  real(8), intent(inout) :: a(n, m), b(n, m)
  integer :: t, i, j
  do t = 1, steps
    do j = 2, m - 1
      do i = 2, n - 1
        b(i, j) = 0.25d0*a(i - 1, j) + 0.5d0*a(i, j + 1)
      end do
    end do
    do j = 2, m - 1
      do i = 2, n - 1
        a(i, j) = b(i, j)
      end do
    end do
  end do
end subroutine step
