! Whole-array expressions, where and do concurrent.
! ARGS: 33 17
! ARGS: 0 0
! ARGS: 1 1
! ARGS: 2 3
! ARGS: 31 65
! OFFLOAD: yes
! KERNELS: kernel
module parts
  implicit none
contains
  subroutine kernel(n, m, a, b)
    integer, intent(in) :: n, m
    real(8), intent(inout) :: a(n, m), b(n, m)
    integer :: i, j
    a = a*0.5d0 + b
    where (a > 0.25d0)
      b = a - 1d0
    elsewhere
      b = b*2d0
    end where
    do concurrent(i=1:n, j=1:m)
      a(i, j) = a(i, j) + b(i, j)*0.125d0
    end do
  end subroutine kernel

  subroutine report(name, a, n, m)
    character(len=*), intent(in) :: name
    integer, intent(in) :: n, m
    real(8), intent(in) :: a(n, m)
    integer(8) :: hash
    integer :: i, j
    hash = 1469598103934665603_8
    do j = 1, m
      do i = 1, n
        call mix(hash, a(i, j))
      end do
    end do
    print '(a,1x,z16.16)', name, hash
  end subroutine report

  subroutine mix(h, value)
    integer(8), intent(inout) :: h
    real(8), intent(in) :: value
    h = ieor(ishftc(h, 7), transfer(value, h))
    h = ieor(h, ishft(h, -11))
  end subroutine mix

  subroutine fill(a, n, m, seed)
    integer, intent(in) :: n, m, seed
    real(8), intent(out) :: a(n, m)
    integer(8) :: s
    integer :: i, j
    s = 88172645463325252_8 + seed
    do j = 1, m
      do i = 1, n
        call next_random(s, a(i, j))
      end do
    end do
  end subroutine fill

  subroutine next_random(s, value)
    integer(8), intent(inout) :: s
    real(8), intent(out) :: value
    s = ieor(s, ishft(s, 13))
    s = ieor(s, ishft(s, -7))
    s = ieor(s, ishft(s, 17))
    value = real(s, 8)*2d0**(-63)
  end subroutine next_random

  integer function argument(k, otherwise)
    integer, intent(in) :: k, otherwise
    character(len=32) :: text
    argument = otherwise
    if (k <= command_argument_count()) then
      call get_command_argument(k, text)
      read (text, *) argument
    end if
  end function argument
end module parts

program main
  use parts
  implicit none
  integer :: n, m
  real(8), allocatable :: a(:, :), b(:, :)
  n = argument(1, 33)
  m = argument(2, 17)
  allocate (a(n, m), b(n, m))
  call fill(a, n, m, 1)
  call fill(b, n, m, 2)
  call kernel(n, m, a, b)
  call report('a', a, n, m)
  call report('b', b, n, m)
end program main
