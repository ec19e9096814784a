! Bounds that lie beside each other in memory, of sections of allocatable components: the run-time library reads whole words, and what is beside a bound
! is not part of it.
! ARGS: 1 40 1 50
! ARGS: 3 20 -7 9
! ARGS: -4 0 1 1
! ARGS: 2 1 5 4
! OFFLOAD: yes
module fields
  implicit none
  type pair
    real(8), allocatable :: from(:, :), to(:, :)
  end type
contains
  subroutine fill(a, by)
    real(8) :: a(:, :), by
    integer :: i, j
    do j = 1, size(a, 2)
      do i = 1, size(a, 1)
        a(i, j) = i * by + j
      end do
    end do
  end subroutine

  subroutine move(first, last, low, high, of)
    integer :: first, last, low, high, t
    type(pair) :: of
    do t = 1, 3
      of%to(first:last, low:high) = of%from(first - 1:last - 1, low - 1:high - 1) * t + 1
    end do
  end subroutine
end module

program sections
  use fields
  implicit none
  type(pair) :: of
  integer :: first, last, low, high, i, j
  character(20) :: word
  call get_command_argument(1, word)
  read (word, *) first
  call get_command_argument(2, word)
  read (word, *) last
  call get_command_argument(3, word)
  read (word, *) low
  call get_command_argument(4, word)
  read (word, *) high
  allocate (of%from(first - 1:last + 1, low - 1:high + 1), of%to(first - 1:last + 1, low - 1:high + 1))
  call fill(of%from, 0.25d0)
  call fill(of%to, -0.125d0)
  call move(first, last, low, high, of)
  do j = low - 1, high + 1, 3
    do i = first - 1, last + 1, 5
      print '(f24.16)', of%to(i, j)
    end do
  end do
end program
