! Sums into elements and columns that lists name, with repeats: one-based places, columns of constant and of any length, several arrays, pairs of places, maxima under a condition.
! ARGS: 333
! ARGS: 1200
! OFFLOAD: yes
module sums
  implicit none
contains
  subroutine added(e, n, v, f)
    integer, intent(in) :: e, n(e)
    real(8), intent(in) :: v(e)
    real(8), intent(inout) :: f(*)
    integer :: i
    do i = 1, e
      f(n(i)) = f(n(i)) + v(i)
    end do
  end subroutine

  subroutine columns(e, n, v, f)
    integer, intent(in) :: e, n(e)
    real(8), intent(in) :: v(3, e)
    real(8), intent(inout) :: f(3, *)
    integer :: i
    do i = 1, e
      f(:, n(i)) = f(:, n(i)) + v(:, i)
    end do
  end subroutine

  subroutine long_columns(e, m, n, v, f)
    integer, intent(in) :: e, m, n(e)
    real(8), intent(in) :: v(m, e)
    real(8), intent(inout) :: f(m, *)
    integer :: i
    do i = 1, e
      f(1:m, n(i)) = f(1:m, n(i)) + v(1:m, i)
    end do
  end subroutine

  subroutine shaped(n, v, f)
    integer, intent(in) :: n(:)
    real(8), intent(in) :: v(:)
    real(8), intent(inout) :: f(:)
    integer :: i
    do i = 1, size(n)
      f(n(i)) = f(n(i)) + v(i)
    end do
  end subroutine

  subroutine pairs(e, n, v, f)
    integer, intent(in) :: e, n(2, e)
    real(8), intent(in) :: v(e)
    real(8), intent(inout) :: f(*)
    integer :: i
    do i = 1, e
      f(n(1, i)) = f(n(1, i)) + v(i)
      f(n(2, i)) = f(n(2, i)) - v(i)
    end do
  end subroutine

  subroutine three(e, n, v, x, y, z)
    integer, intent(in) :: e, n(e)
    real(8), intent(in) :: v(e)
    real(8), intent(inout) :: x(*), y(*), z(*)
    integer :: i
    do i = 1, e
      x(n(i)) = x(n(i)) + v(i)
      y(n(i)) = y(n(i)) + 2 * v(i)
      z(n(i)) = z(n(i)) - v(i)
    end do
  end subroutine

  subroutine maxima(e, n, v, f)
    integer, intent(in) :: e, n(e)
    real(8), intent(in) :: v(e)
    real(8), intent(inout) :: f(*)
    integer :: i
    do i = 1, e
      if (v(i) > 0) f(n(i)) = max(f(n(i)), v(i))
    end do
  end subroutine
end module

program main
  use sums
  implicit none
  integer, parameter :: places = 150
  integer, allocatable :: n(:), two(:, :)
  real(8), allocatable :: v(:), v3(:, :), v4(:, :), f(:), x(:), y(:), z(:), f3(:, :), f4(:, :)
  integer(8) :: state = 20011
  integer :: e, i
  character(32) :: argument
  call get_command_argument(1, argument)
  read (argument, *) e
  allocate(n(e), two(2, e), v(e), v3(3, e), v4(4, e), f(places), x(places), y(places), z(places), f3(3, places), f4(4, places))
  do i = 1, e
    n(i) = 1 + number(places)
    two(:, i) = [1 + number(places), 1 + number(places)]
    v(i) = (number(1000) - 500) / 7d0
    v3(:, i) = v(i) * [1, 2, 3]
    v4(:, i) = v(i) * [1, 2, 3, 4]
  end do
  f = 1; x = 2; y = 3; z = 4; f3 = 5; f4 = 6
  call added(e, n, v, f)
  call columns(e, n, v3, f3)
  call long_columns(e, 4, n, v4, f4)
  call shaped(n, v, f)
  call pairs(e, two, v, f)
  call three(e, n, v, x, y, z)
  call maxima(e, n, v, z)
  do i = 1, places
    print '(12(z16.16,1x))', f(i), x(i), y(i), z(i), f3(:, i), f4(:, i)
  end do
contains
  integer function number(most)
    integer, intent(in) :: most
    state = mod(state * 1103515245_8 + 12345_8, 2147483648_8)
    number = int(mod(state / 65536, int(most, 8)))
  end function
end program
