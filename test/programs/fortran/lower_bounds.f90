! Bounds that do not begin at one, negative steps, and a common block.
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
    real(8), intent(inout) :: a(0:n - 1, -3:m - 4)
    real(8), intent(in) :: b(n, m)
    real(8) :: weights(3)
    common /shared/ weights
    integer :: i, j
    weights = [0.25d0, 0.5d0, 0.125d0]
    do j = m - 4, -3, -1
      do i = n - 1, 1, -2
        a(i, j) = a(i, j)*weights(1) + a(i - 1, j)*weights(2) + b(i + 1, j + 4)*weights(3)
      end do
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
