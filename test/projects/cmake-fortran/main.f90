program main
  implicit none
  integer, parameter :: n = 4000
  real(8) :: x(n), y(n), total
  integer :: i
  do i = 1, n
    x(i) = mod(i - 1, 17) * 0.25d0
  end do
  call scale(n, y, x)
  total = 0
  do i = 1, n
    total = total * 0.5d0 + y(i)
  end do
  print '(g0)', total
contains
  subroutine scale(n, y, x)
    integer, intent(in) :: n
    real(8), intent(out) :: y(n)
    real(8), intent(in) :: x(n)
    integer :: i
    do i = 1, n
      y(i) = 2 * x(i) + 1
    end do
  end subroutine
end program
