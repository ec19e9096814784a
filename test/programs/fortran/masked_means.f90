! Sums under a mask, each array with versions for elements that lie side by side and for others, which all stand in one loop over columns: whole arrays, sections
! with a step of either, and a mask of its own length.
! ARGS: 37 29
! ARGS: 0 3
! ARGS: 3 0
! ARGS: 1 1
! ARGS: 2 5
! ARGS: 33 64
! OFFLOAD: partial
! FALLBACK: an assumption does not hold
! STAYS: _QMmeansPmasked.2: of the version for masks whose elements do not lie side by side, which is taken for one of those that do
module means
  implicit none
contains
  subroutine masked(x, mask, mean)
    real(8), intent(in) :: x(:, :)
    logical, intent(in) :: mask(:, :)
    real(8), intent(inout) :: mean(:)
    integer :: j
    do j = 1, size(x, 2)
      mean(j) = mean(j) + sum(x(:, j), mask=mask(:, j))/max(1, count(mask(:, j)))
    end do
  end subroutine masked
end module means

program main
  use means
  implicit none
  integer :: n, m, i, j
  real(8), allocatable :: a(:, :), mean(:)
  logical, allocatable :: mask(:, :)
  character(len=32) :: text
  call get_command_argument(1, text)
  read (text, *) n
  call get_command_argument(2, text)
  read (text, *) m
  allocate (a(2*n, m), mask(2*n, 2*m), mean(2*m))
  do j = 1, m
    do i = 1, 2*n
      a(i, j) = sin(0.37d0*i + 1.1d0*j*j) + 0.25d0
    end do
  end do
  do j = 1, 2*m
    do i = 1, 2*n
      mask(i, j) = mod(i*7 + j*3, 5) > 1
    end do
  end do
  mean = 0.5d0
  call masked(a, mask(:, 1:m), mean)
  call show('whole', mean)
  call masked(a(1:n, :), mask(n + 1:2*n, 1:2*m:2), mean(1:m))
  call show('parts', mean)
  call masked(a(1:n, :), mask(1:n, 1:m), mean(1:2*m:2))
  call show('step of means', mean)
  call masked(a(1:2*n:2, :), mask(1:n, 1:m), mean(1:2*m:2))
  call show('step of numbers', mean)
  call masked(a(1:n, :), mask(2*n:1:-2, m + 1:2*m), mean(1:m))
  call show('step of masks', mean)
contains
  subroutine show(name, x)
    character(len=*), intent(in) :: name
    real(8), intent(in) :: x(:)
    integer(8) :: hash
    integer :: k
    hash = 7
    do k = 1, size(x)
      hash = ieor(ishftc(hash, 5), transfer(x(k), hash))
    end do
    print '(a,1x,z16.16)', name, hash
  end subroutine show
end program main
