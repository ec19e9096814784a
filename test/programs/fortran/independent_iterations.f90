! Iterations that are independent because the program says so, by !dir$ ivdep: edges of one colour, which have no node in common, and a list of a list.
! ARGS: 500
! ARGS: 0
! ARGS: 1
! ARGS: 2049
! OFFLOAD: yes
! KERNELS: _QQmain
module independent
  implicit none
contains
  subroutine edges(n, x, f, from, to)
    integer, intent(in) :: n, from(n), to(n)
    real(8), intent(inout) :: x(:)
    real(8), intent(in) :: f(n)
    integer :: i
    !dir$ ivdep
    do i = 1, n
      x(from(i)) = x(from(i)) + f(i)
      x(to(i)) = x(to(i)) - 0.5d0 * f(i)
    end do
  end subroutine

  subroutine permuted(n, x, f, list, of)
    integer, intent(in) :: n, list(*), of(n)
    real(8), intent(inout) :: x(*)
    real(8), intent(in) :: f(n)
    integer :: i
    !dir$ ivdep
    do i = 1, n
      x(list(of(i))) = x(list(of(i))) * 0.75d0 + f(i)
    end do
  end subroutine
end module

program main
  use independent
  implicit none
  character(16) :: argument
  integer :: n, i
  integer, allocatable :: from(:), to(:), of(:)
  real(8), allocatable :: x(:), f(:)
  call get_command_argument(1, argument)
  read (argument, *) n
  allocate (from(n), to(n), of(n), x(2 * n + 1), f(n))
  do i = 1, n
    from(i) = 2 * i - 1
    to(i) = 2 * (n + 1 - i)
    of(i) = n + 1 - i
    f(i) = mod(i * 37 + 11, 101) / 7d0
  end do
  do i = 1, 2 * n + 1
    x(i) = mod(i * 53 + 5, 97) / 9d0
  end do
  do i = 1, 3
    call edges(n, x, f, from, to)
    call permuted(n, x, f, from, of)
  end do
  print '(2es24.16)', sum(x), x(1)
end program
