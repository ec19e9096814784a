! Fortran's nint, of all kinds: half away from zero.
! ARGS: 1000
! ARGS: 0
! ARGS: 1
! OFFLOAD: yes
module rounding
  implicit none
contains
  subroutine nearest(n, x, y, k, l)
    integer, intent(in) :: n
    real(8), intent(in) :: x(n)
    real(4), intent(in) :: y(n)
    integer, intent(out) :: k(n)
    integer(8), intent(out) :: l(n)
    integer :: i
    do i = 1, n
      k(i) = nint(x(i)) + 5*nint(y(i))
      l(i) = nint(3*x(i), 8) - nint(7*y(i), 8)
    end do
  end subroutine nearest
end module rounding

program main
  use rounding
  implicit none
  integer :: n, i
  integer(8) :: state
  character(32) :: text
  real(8), allocatable :: x(:)
  real(4), allocatable :: y(:)
  integer, allocatable :: k(:)
  integer(8), allocatable :: l(:)
  n = 1000
  if (command_argument_count() > 0) then
    call get_command_argument(1, text)
    read (text, *) n
  end if
  allocate (x(n), y(n), k(n), l(n))
  state = 88172645463325252_8
  do i = 1, n
    state = ieor(state, ishft(state, 13))
    state = ieor(state, ishft(state, -7))
    state = ieor(state, ishft(state, 17))
    x(i) = real(iand(state, 4095_8) - 2048, 8)/4
    y(i) = real(iand(ishft(state, -20), 4095_8) - 2048, 4)/2
  end do
  call nearest(n, x, y, k, l)
  do i = 1, n
    print '(i0,1x,i0)', k(i), l(i)
  end do
end program main
