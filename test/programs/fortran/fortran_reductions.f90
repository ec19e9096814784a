! Intrinsic reductions: the largest of numbers among which may be some that are none, any and all, counts, in arguments and of expressions; the
! arrays that flang's run-time library makes. Masked ones and places of a minimum stay on the host.
! ARGS: 100 20
! ARGS: 1 1
! ARGS: 7 0
! ARGS: 64 33
! ARGS: 300 5
! OFFLOAD: partial
! KERNELS: largest smallest counted lowest extent spreaded shifted
module kernels
  implicit none
contains
  subroutine largest(n, a, p)
    integer, intent(in) :: n
    real(8), intent(in) :: a(n)
    real(8), intent(out) :: p
    p = maxval(abs(a))
  end subroutine largest

  subroutine smallest(n, a, p)
    integer, intent(in) :: n
    real(8), intent(in) :: a(n)
    real(8), intent(out) :: p
    p = minval(a)
  end subroutine smallest

  subroutine change(a, b, p)
    real(8), intent(in) :: a(:, :), b(:, :)
    real(8), intent(out) :: p
    p = maxval(abs(a - b))
  end subroutine change

  subroutine some(n, a, limit, found)
    integer, intent(in) :: n
    real(8), intent(in) :: a(n), limit
    logical, intent(out) :: found
    found = any(a > limit)
  end subroutine some

  subroutine every(n, a, limit, found)
    integer, intent(in) :: n
    real(8), intent(in) :: a(n), limit
    logical, intent(out) :: found
    found = all(a < limit)
  end subroutine every

  subroutine counted(n, a, c)
    integer, intent(in) :: n
    real(8), intent(in) :: a(n)
    integer, intent(out) :: c
    integer :: i
    c = 0
    do i = 1, n
      if (a(i) > 0.1d0) c = c + 1
    end do
  end subroutine counted

  subroutine lowest(n, a, p)
    integer, intent(in) :: n
    real(8), intent(in) :: a(n)
    real(8), intent(out) :: p
    integer :: i
    p = 1d300
    do i = 1, n
      if (a(i) < p) p = a(i)
    end do
  end subroutine lowest

  subroutine extent(n, a, lo, hi)
    integer, intent(in) :: n
    real(8), intent(in) :: a(n)
    real(8), intent(out) :: lo, hi
    integer :: i
    lo = a(1)
    hi = a(1)
    do i = 2, n
      if (a(i) < lo) lo = a(i)
      if (a(i) > hi) hi = a(i)
    end do
  end subroutine extent

  subroutine spreaded(x, y, a, n, m)
    integer, intent(in) :: n, m
    real(8), intent(in) :: x(n), y(m)
    real(8), intent(out) :: a(n, m)
    a = spread(x, 2, m)*spread(y, 1, n)
  end subroutine spreaded

  subroutine shifted(a, b, n, m)
    integer, intent(in) :: n, m
    real(8), intent(in) :: a(n, m)
    real(8), intent(out) :: b(n, m)
    b = 0.25d0*(cshift(a, 1, 1) + cshift(a, -1, 1) + cshift(a, 1, 2) + cshift(a, -1, 2))
  end subroutine shifted
end module kernels

program main
  use kernels
  use, intrinsic :: ieee_arithmetic, only: ieee_value, ieee_quiet_nan
  implicit none
  integer :: n, m, i, c
  integer(8) :: state
  character(32) :: word
  real(8) :: p, q
  real(8), allocatable :: a(:), b(:, :), d(:, :), y(:)
  logical :: found, l
  call get_command_argument(1, word)
  read (word, *) n
  call get_command_argument(2, word)
  read (word, *) m
  allocate (a(n), b(n, m), d(n, m), y(m))
  state = 12345
  call fill(n, a)
  call fill(n*m, b)
  call fill(n*m, d)
  call fill(m, y)
  call all_of(a)
  ! A number that is none first, last, in the middle; all of them; zeros of both signs.
  p = a(1)
  a(1) = ieee_value(a(1), ieee_quiet_nan)
  call all_of(a)
  a(1) = p
  a(n) = ieee_value(a(1), ieee_quiet_nan)
  a(n/2 + 1) = a(n)
  call all_of(a)
  a = a(n)
  call all_of(a)
  do i = 1, n
    a(i) = merge(0d0, -0d0, mod(i, 3) == 0)
  end do
  call all_of(a)
  call change(b, d, p)
  call change(b(:, m:1:-1), d, q)
  print '(2es24.16)', p, q
  call fill(n, a)
  call spreaded(a, y, d, n, m)
  call show(n*m, d)
  call shifted(d, b, n, m)
  call show(n*m, b)
contains
  subroutine fill(k, x)
    integer, intent(in) :: k
    real(8), intent(out) :: x(*)
    integer :: j
    do j = 1, k
      state = iand(state*1103515245_8 + 12345_8, 2147483647_8)
      x(j) = real(state, 8)/2147483648.0d0 - 0.5d0
    end do
  end subroutine fill

  subroutine show(k, x)
    integer, intent(in) :: k
    real(8), intent(in) :: x(*)
    integer(8) :: h
    integer :: j
    h = 1469598103934665603_8
    do j = 1, k
      h = ieor(h, transfer(x(j), h))*1099511628211_8
      h = ieor(h, shiftr(h, 29))
    end do
    print '(z16.16)', h
  end subroutine show

  subroutine all_of(x)
    real(8), intent(in) :: x(:)
    call largest(n, x, p)
    call smallest(n, x, q)
    print '(2es24.16)', p, q
    call some(n, x, 0.45d0, found)
    call every(n, x, 0.499d0, l)
    call counted(n, x, c)
    print *, found, l, c
    call lowest(n, x, p)
    print '(es24.16)', p
    call extent(n, x, p, q)
    print '(2es24.16)', p, q
  end subroutine all_of
end program main
