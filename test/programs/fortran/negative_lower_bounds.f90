! Lower bounds below zero of pointers and allocatable components, of which one says where the elements of another are, and of an assumed shape that is a number once the
! callee is inlined. Where the arrays begin in different rows and columns the original loop runs, or they have the same shape.
! ARGS: 40 -3
! ARGS: 40 2
! ARGS: 40 0
! ARGS: 9 -60
! ARGS: 1 -1
! ARGS: 3 3
! OFFLOAD: yes
! KERNELS: added scaled
module grids
  implicit none
  type grid
    real(8), allocatable :: u(:, :)
    real(8), pointer :: p(:, :)
  end type
contains
  subroutine added(of)
    type(grid) :: of
    integer :: i, j
    do j = lbound(of%p, 2) + 1, ubound(of%p, 2) - 1
      do i = lbound(of%p, 1) + 1, ubound(of%p, 1) - 1
        of%p(i, j) = of%p(i, j)*2 + of%u(i, j)
      end do
    end do
  end subroutine

  subroutine scaled(of)
    type(grid) :: of
    integer :: i, j
    do j = lbound(of%u, 2) + 1, ubound(of%u, 2) - 1
      do i = lbound(of%u, 1) + 1, ubound(of%u, 1) - 1
        of%u(i, j) = of%u(i, j)*0.5d0 + of%u(i - 1, j)*0 + 1
      end do
    end do
  end subroutine

  subroutine neighbours(low, a, b)
    integer :: low
    real(8) :: a(low:), b(low:)
    integer :: i
    do i = low + 1, ubound(a, 1) - 1
      b(i) = a(i - 1) + a(i + 1)
    end do
  end subroutine
end module

program bounds
  use grids
  implicit none
  type(grid) :: of
  real(8), allocatable :: x(:), y(:)
  integer :: n, low, i, j
  character(20) :: word
  call get_command_argument(1, word)
  read (word, *) n
  call get_command_argument(2, word)
  read (word, *) low
  allocate (of%u(low:low + n + 1, low:low + n + 3), of%p(low:low + n, low:low + n), x(2000), y(2000))
  do j = low, low + n
    do i = low, low + n
      of%u(i, j) = sin(i*0.5d0 + j)
      of%p(i, j) = cos(j*0.25d0 - i)
    end do
  end do
  of%u(low + n + 1, :) = 0.5d0
  of%u(:, low + n + 1:) = 0.25d0
  do i = 1, 2000
    x(i) = sin(i*0.75d0)
  end do
  y = 1
  call added(of)
  call scaled(of)
  call neighbours(-4, x, y)
  call neighbours(low, y, x)
  do j = low, low + n, 3
    do i = low, low + n, 2
      print '(2f24.16)', of%p(i, j), of%u(i, j)
    end do
  end do
  do i = 1, 2000, 37
    print '(2f24.16)', x(i), y(i)
  end do
end program
