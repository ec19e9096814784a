! `do concurrent` with local variables beside an array whose size is an argument; array syntax in its iterations.
! ARGS: 33 17
! ARGS: 2 3
! ARGS: 65 40
! OFFLOAD: yes
module pairs
  implicit none
contains
  subroutine energies(n, x, total, s)
    integer, intent(in) :: n
    real(8), intent(in) :: x(3, n)
    real(8), intent(out) :: total(n)
    real(8), intent(in) :: s
    real(8) :: e(n), r
    integer :: i, j
    do concurrent (i = 1:n) local(r, j)
      e(i) = 0d0
      do j = 1, n
        if (i /= j) then
          r = sqrt(sum((x(:, i) - x(:, j))**2)) + s
          e(i) = e(i) + 1d0 / r
        end if
      end do
    end do
    total = 2d0 * e
  end subroutine
end module
program main
  use pairs
  implicit none
  integer :: n, m, i
  character(32) :: text
  real(8), allocatable :: x(:, :), total(:)
  call get_command_argument(1, text)
  read (text, *) n
  call get_command_argument(2, text)
  read (text, *) m
  n = n * 3
  allocate (x(3, n), total(n))
  do i = 1, n
    x(:, i) = [mod(i * 7919, 1000) * 1d-3, mod(i * 104729, 1000) * 1d-3, mod(i * m, 11) * 0.25d0]
  end do
  call energies(n, x, total, 0.5d0)
  do i = 1, n, max(1, n / 7)
    print '(i5, es24.16)', i, total(i)
  end do
end program
