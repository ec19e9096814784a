! Loops over all of an allocatable array whose lower bound is a number: of an array without elements it is 1 in place of that number, a choice that the size decides.
! ARGS: 60
! ARGS: 5
! ARGS: 2
! ARGS: -3
! ARGS: -4
! ARGS: -60
! OFFLOAD: yes
! KERNELS: below above both
module filling
  implicit none
contains
  subroutine below(n, a)
    integer, intent(in) :: n
    real(8), allocatable, intent(out) :: a(:)
    integer :: j
    allocate (a(-3:n))
    do j = lbound(a, 1), ubound(a, 1)
      a(j) = j*0.5d0
    end do
  end subroutine

  subroutine above(n, a)
    integer, intent(in) :: n
    real(8), allocatable, intent(out) :: a(:)
    integer :: j
    allocate (a(2:n))
    do j = lbound(a, 1), ubound(a, 1)
      a(j) = j*0.25d0
    end do
  end subroutine

  subroutine both(n, a)
    integer, intent(in) :: n
    real(8), allocatable, intent(out) :: a(:, :)
    integer :: i, j
    allocate (a(-1:n, 3:n + 9))
    do j = lbound(a, 2), ubound(a, 2)
      do i = lbound(a, 1), ubound(a, 1)
        a(i, j) = i + 100*j
      end do
    end do
  end subroutine
end module

program lower_bound_numbers
  use filling
  implicit none
  real(8), allocatable :: a(:), c(:, :)
  character(32) :: word
  integer :: n
  call get_command_argument(1, word)
  read (word, *) n
  call below(n, a)
  print *, size(a), lbound(a, 1), ubound(a, 1)
  print *, a
  call above(n, a)
  print *, size(a), lbound(a, 1), ubound(a, 1)
  print *, a
  call both(n, c)
  print *, shape(c), lbound(c), ubound(c)
  print *, c
end program
