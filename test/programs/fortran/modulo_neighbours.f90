! Periodic borders with Fortran's modulo, whose sign is the divisor's: LLVM asks whether the signs of dividend and divisor differ.
! ARGS: 33 17
! ARGS: 1 1
! ARGS: 1 5
! ARGS: 2 3
! ARGS: 31 65
! OFFLOAD: yes
module border
  implicit none
contains
  subroutine step(n, m, u, v, c)
    integer, intent(in) :: n, m
    real(8), intent(in) :: u(n, m), c
    real(8), intent(out) :: v(n, m)
    integer :: i, j, west, east, south, north
    do j = 1, m
      south = modulo(j - 2, m) + 1
      north = modulo(j, m) + 1
      do i = 1, n
        west = modulo(i - 2, n) + 1
        east = modulo(i, n) + 1
        v(i, j) = u(i, j) + c*(u(west, j) + u(east, j) + u(i, south) + u(i, north) - 4*u(i, j))
      end do
    end do
  end subroutine step

  subroutine fill(a, n, m)
    integer, intent(in) :: n, m
    real(8), intent(out) :: a(n, m)
    integer(8) :: state
    integer :: i, j
    state = 12345
    do j = 1, m
      do i = 1, n
        state = mod(state*1103515245_8 + 12345_8, 2147483648_8)
        a(i, j) = real(state, 8)/2147483648.0d0
      end do
    end do
  end subroutine fill
end module border

program main
  use border
  implicit none
  character(len=32) :: text
  integer :: n, m, k, i, j
  real(8), allocatable :: u(:, :), v(:, :)
  n = 33
  m = 17
  if (command_argument_count() >= 2) then
    call get_command_argument(1, text)
    read (text, *) n
    call get_command_argument(2, text)
    read (text, *) m
  end if
  allocate (u(n, m), v(n, m))
  call fill(u, n, m)
  do k = 1, 3
    call step(n, m, u, v, 0.1d0)
    call step(n, m, v, u, 0.15d0)
  end do
  do j = 1, m
    do i = 1, n
      print '(z16.16)', u(i, j)
    end do
  end do
end program main
