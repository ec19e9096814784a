! A five-point heat step in Fortran: column-major explicit-shape arrays, the time loop inside.
! heat [STEPS ROWS COLUMNS [SEED]]; EXAMPLE_VALUES in the environment prints all values instead of a checksum
module kernels
  implicit none
contains
  subroutine step(steps, n, m, a, b)
    integer, intent(in) :: steps, n, m
    real(8), intent(inout) :: a(n, m), b(n, m)
    integer :: t, i, j
    do t = 1, steps
      do j = 2, m - 1
        do i = 2, n - 1
          b(i, j) = 0.24d0*a(i, j) + 0.21d0*a(i - 1, j) + 0.19d0*a(i + 1, j) + 0.17d0*a(i, j + 1) + 0.18d0*a(i, j - 1)
        end do
      end do
      do j = 2, m - 1
        do i = 2, n - 1
          a(i, j) = b(i, j)
        end do
      end do
    end do
  end subroutine step
end module kernels

program heat
  use kernels
  implicit none
  integer :: steps, n, m, seed, i, j, r, repeats, status
  integer(8) :: state, hash
  real(8), allocatable :: a(:, :), b(:, :)
  steps = argument(1, 20)
  n = argument(2, 300)
  m = argument(3, 260)
  seed = argument(4, 1)
  repeats = repetitions()
  allocate (a(n, m), b(n, m))
  do r = 1, repeats
    state = 88172645463325252_8 + seed
    do j = 1, m
      do i = 1, n
        call next_random(state, a(i, j))
        b(i, j) = a(i, j)
      end do
    end do
    call step(steps, n, m, a, b)
  end do
  call get_environment_variable('EXAMPLE_VALUES', status=status)
  if (status /= 1) then
    print '(a,*(es24.16))', 'a', a
    stop
  end if
  hash = 1469598103934665603_8
  do j = 1, m
    do i = 1, n
      call mix(hash, a(i, j))
    end do
  end do
  print '(a,z16.16)', 'a ', hash
  if (n > 0 .and. m > 0) print '(3es24.16)', a(1, 1), a((n + 1)/2, (m + 1)/2), a(n, m)
contains
  integer function argument(k, otherwise)
    integer, intent(in) :: k, otherwise
    character(len=32) :: text
    argument = otherwise
    if (k <= command_argument_count()) then
      call get_command_argument(k, text)
      read (text, *) argument
    end if
  end function argument

  integer function repetitions()
    character(len=32) :: text
    integer :: length, status
    repetitions = 1
    call get_environment_variable('EXAMPLE_REPEAT', text, length, status)
    if (status == 0 .and. length > 0) read (text, *) repetitions
  end function repetitions

  ! Xorshift (Marsaglia 2003), no overflow; the value is in [-1, 1).
  subroutine next_random(s, value)
    integer(8), intent(inout) :: s
    real(8), intent(out) :: value
    s = ieor(s, ishft(s, 13))
    s = ieor(s, ishft(s, -7))
    s = ieor(s, ishft(s, 17))
    value = real(s, 8)*2d0**(-63)
  end subroutine next_random

  subroutine mix(h, value)
    integer(8), intent(inout) :: h
    real(8), intent(in) :: value
    h = ieor(ishftc(h, 7), transfer(value, h))
    h = ieor(h, ishft(h, -11))
  end subroutine mix
end program heat
