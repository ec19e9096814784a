! Strides in descriptors, at the level at which flang makes no versions of loops: arrays of assumed shape, with other lower bounds, behind pointers,
! in do concurrent, and sections with gaps, which stay on the host.
! FLAGS: -O2
! ARGS: 24 17
! ARGS: 1 1
! ARGS: 3 2
! ARGS: 33 40
! OFFLOAD: partial
! KERNELS: convolve wave
module kernels
  implicit none
contains
  subroutine matvec(a, x, y)
    real(8), intent(in) :: a(:, :), x(:)
    real(8), intent(inout) :: y(:)
    integer :: i, j
    do j = 1, size(x)
      do i = 1, size(y)
        y(i) = y(i) + a(i, j)*x(j)
      end do
    end do
  end subroutine matvec

  subroutine convolve(out, in, w)
    real(8), intent(inout) :: out(:, :)
    real(8), intent(in) :: in(:, :), w(-1:, -1:)
    integer :: i, j, di, dj
    real(8) :: s
    do concurrent(j=2:size(in, 2) - 1, i=2:size(in, 1) - 1) local(s, di, dj)
      s = 0
      do dj = -1, 1
        do di = -1, 1
          s = s + w(di, dj)*in(i + di, j + dj)
        end do
      end do
      out(i, j) = s
    end do
  end subroutine convolve

  subroutine scale(a, f)
    real(8), intent(inout) :: a(:, :)
    real(8), intent(in) :: f
    a = a*f + 1
  end subroutine scale

  subroutine wave(steps, old, now, next)
    integer, intent(in) :: steps
    real(8), pointer, intent(inout) :: old(:, :), now(:, :), next(:, :)
    real(8), pointer :: other(:, :)
    integer :: i, j, t
    do t = 1, steps
      do j = 2, size(now, 2) - 1
        do i = 2, size(now, 1) - 1
          next(i, j) = 2*now(i, j) - old(i, j) + 0.1d0*(now(i + 1, j) + now(i - 1, j) + now(i, j + 1) + now(i, j - 1) - 4*now(i, j))
        end do
      end do
      other => old
      old => now
      now => next
      next => other
    end do
  end subroutine wave

  subroutine report(name, a)
    character(len=*), intent(in) :: name
    real(8), intent(in) :: a(:, :)
    integer(8) :: hash
    integer :: i, j
    hash = 1469598103934665603_8
    do j = 1, size(a, 2)
      do i = 1, size(a, 1)
        hash = ieor(ishftc(hash, 7), transfer(a(i, j), hash))
        hash = ieor(hash, ishft(hash, -11))
      end do
    end do
    print '(a,1x,z16.16)', name, hash
  end subroutine report

  subroutine fill(a, seed)
    real(8), intent(out) :: a(:, :)
    integer, intent(in) :: seed
    integer(8) :: s
    integer :: i, j
    s = 88172645463325252_8 + seed
    do j = 1, size(a, 2)
      do i = 1, size(a, 1)
        s = ieor(s, ishft(s, 13))
        s = ieor(s, ishft(s, -7))
        s = ieor(s, ishft(s, 17))
        a(i, j) = real(s, 8)*2d0**(-63)
      end do
    end do
  end subroutine fill

  integer function argument(k, otherwise)
    integer, intent(in) :: k, otherwise
    character(len=32) :: text
    argument = otherwise
    if (k <= command_argument_count()) then
      call get_command_argument(k, text)
      read (text, *) argument
    end if
  end function argument
end module kernels

program main
  use kernels
  implicit none
  integer :: n, m
  real(8), allocatable, target :: a(:, :), b(:, :), c(:, :)
  real(8), pointer :: p(:, :), q(:, :), r(:, :)
  real(8) :: w(3, 3)
  n = argument(1, 24)
  m = argument(2, 17)
  allocate (a(2*n, 2*m), b(2*n, 2*m), c(2*n, 2*m))
  call fill(a, 1)
  call fill(b, 2)
  call fill(c, 3)
  call fill(w, 4)
  call matvec(a(1:n, 1:m), b(1:m, 1), c(1:n, 1))
  call report('whole', c)
  ! A row as a vector, and every other element.
  call matvec(a(1:n, 1:m), b(1, 1:m), c(2:2*n:2, 2))
  call report('gaps', c)
  call convolve(c, a, w)
  call report('convolve', c)
  call scale(a, 0.5d0)
  call scale(a(:, 2:m), 0.25d0)
  call scale(a(1:2*n:2, :), 0.75d0)
  call scale(a(n:1:-1, m:1:-1), 1.5d0)
  call report('scale', a)
  p => a
  q => b
  r => c
  call wave(5, p, q, r)
  call report('wave', q)
end program main
