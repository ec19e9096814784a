! Places of minima and maxima: minloc and maxloc of vectors and matrices, and loops that keep value and place in dummy arguments, with ties, NaNs and no element.
! ARGS: 257 3
! ARGS: 0 1
! ARGS: 1 1
! ARGS: 256 2
! ARGS: 4100 5
! OFFLOAD: yes
module parts
  implicit none
contains
  subroutine least(n, x, k, m)
    integer, intent(in) :: n
    real(8), intent(in) :: x(n)
    integer, intent(inout) :: k
    real(8), intent(inout) :: m
    integer :: i
    do i = 1, n
      if (x(i) < m) then
        m = x(i)
        k = i
      end if
    end do
  end subroutine least

  integer function place(n, x)
    integer, intent(in) :: n
    real(8), intent(in) :: x(n)
    place = minloc(x, 1)
  end function place

  subroutine largest(n, m, x, k)
    integer, intent(in) :: n, m
    real, intent(in) :: x(n, m)
    integer, intent(out) :: k(2)
    k = maxloc(x)
  end subroutine largest

  integer function masked(n, x)
    integer, intent(in) :: n
    integer, intent(in) :: x(n)
    masked = maxloc(x, 1, x < 5)
  end function masked
end module parts

program places
  use parts
  use, intrinsic :: ieee_arithmetic
  implicit none
  integer :: n, m, i, k, at(2)
  character(len=20) :: text
  real(8), allocatable :: x(:)
  real, allocatable :: y(:, :)
  integer, allocatable :: z(:)
  real(8) :: low
  integer(8) :: s
  call get_command_argument(1, text)
  read (text, *) n
  call get_command_argument(2, text)
  read (text, *) m
  allocate (x(n), y(n, m), z(n))
  s = 88172645463325252_8
  do i = 1, n
    s = ieor(s, ishft(s, 13))
    s = ieor(s, ishft(s, -7))
    s = ieor(s, ishft(s, 17))
    z(i) = int(modulo(s, 23_8)) - 9
    x(i) = z(i)
    y(i, :) = -z(i)
  end do
  low = 1d9
  k = -1
  call least(n, x, k, low)
  print '(a,i0,1x,es24.16)', 'least ', k, low
  print '(a,i0)', 'place ', place(n, x)
  call largest(n, m, y, at)
  print '(a,i0,1x,i0)', 'largest ', at
  print '(a,i0)', 'masked ', masked(n, z)
  if (n > 3) then
    x(1:3) = ieee_value(low, ieee_quiet_nan)
    y(1, 1) = ieee_value(1.0, ieee_quiet_nan)
    low = x(1)
    call least(n, x, k, low)
    print '(a,i0)', 'least ', k
    print '(a,i0)', 'place ', place(n, x)
    call largest(n, m, y, at)
    print '(a,i0,1x,i0)', 'largest ', at
    x = x(1)
    print '(a,i0)', 'place ', place(n, x)
  end if
end program places
