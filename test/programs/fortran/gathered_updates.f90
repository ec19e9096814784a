! An update by gathered elements, inlined: of flang's two versions of the loop, for elements side by side and for any stride, one runs.
! ARGS: 2000
! ARGS: 0
! ARGS: 1
! ARGS: 3
! OFFLOAD: yes
! KERNELS: _QQmain
program gathered_updates
  implicit none
  real(8) :: x(2000), y(2000)
  integer :: idx(2000), i, n, s
  character(16) :: word
  call get_command_argument(1, word)
  read (word, *) n
  do i = 1, 2000
    x(i) = mod(i*37, 101)*0.25d0 - 7
    y(i) = mod(i*53, 97)*0.5d0 - 11
    idx(i) = mod(i*7, 2000) + 1
  end do
  call update(x(1:n), idx, y)
  s = max(n/2, 1)
  call update(x(1:n:2), idx(s:1:-1), y)
  print "(4f14.4)", x(1:8)
  print "(f20.6)", sum(x)
contains
  subroutine update(a, at, b)
    real(8), intent(inout) :: a(:)
    integer, intent(in) :: at(:)
    real(8), intent(in) :: b(:)
    integer :: k
    do k = 1, size(a)
      if (k <= size(at)) a(k) = a(k) + b(at(k))*0.5d0
    end do
    a = a + 1
  end subroutine update
end program gathered_updates
