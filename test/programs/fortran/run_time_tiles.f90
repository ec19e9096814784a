! Loops over tiles whose size is an argument: a matrix that is filled, and one that is added to the transpose of another one; in a subroutine, and in a main program's time loop.
! ARGS: 40 7 3
! ARGS: 33 32 2
! ARGS: 33 1 1
! ARGS: 20 100 1
! ARGS: 0 4 1
! OFFLOAD: yes
! KERNELS: _QMtilesPfill _QMtilesPtranspose _QQmain
module tiles
  implicit none
contains
  subroutine fill(n, ts, a, b)
    integer, intent(in) :: n, ts
    real(8), intent(out) :: a(n, n), b(n, n)
    integer :: i, j, it, jt
    do jt = 1, n, ts
      do it = 1, n, ts
        do j = jt, min(n, jt + ts - 1)
          do i = it, min(n, it + ts - 1)
            a(i, j) = 0.5d0 * (j - 1) + real(i - 1, 8)
            b(i, j) = 0
          end do
        end do
      end do
    end do
  end subroutine

  subroutine transpose(n, ts, a, b)
    integer, intent(in) :: n, ts
    real(8), intent(inout) :: a(n, n), b(n, n)
    integer :: i, j, it, jt
    do jt = 1, n, ts
      do it = 1, n, ts
        do j = jt, min(n, jt + ts - 1)
          do i = it, min(n, it + ts - 1)
            b(j, i) = b(j, i) + a(i, j)
            a(i, j) = a(i, j) + 1
          end do
        end do
      end do
    end do
  end subroutine
end module

program main
  use tiles
  implicit none
  integer :: n, ts, steps, k, i, j, it, jt
  character(32) :: text
  real(8), allocatable :: a(:, :), b(:, :)
  call get_command_argument(1, text)
  read (text, *) n
  call get_command_argument(2, text)
  read (text, *) ts
  call get_command_argument(3, text)
  read (text, *) steps
  allocate (a(n, n), b(n, n))
  call fill(n, ts, a, b)
  call transpose(n, ts, a, b)
  print *, sum(a), sum(b)
  do k = 1, steps
    do jt = 1, n, ts
      do it = 1, n, ts
        do j = jt, min(n, jt + ts - 1)
          do i = it, min(n, it + ts - 1)
            b(j, i) = b(j, i) + 0.25d0 * a(i, j)
            a(i, j) = a(i, j) + 1
          end do
        end do
      end do
    end do
  end do
  print *, a
  print *, b
end program
