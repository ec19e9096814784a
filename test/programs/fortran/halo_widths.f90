! Borders of grids that have two elements more on each side, mirrored from the inside: how many of them is an argument, and the grids have bounds of
! their own, so that rows are as long as these are apart.
! ARGS: 1 60 1 41 2
! ARGS: 1 60 1 41 1
! ARGS: 1 17 1 9 0
! ARGS: -6 -1 2 3 2
! OFFLOAD: partial
! KERNELS: bottom top left right
! FALLBACK: subscripts of a stay inside its dimensions
module borders
  implicit none
contains
  subroutine bottom(x_min, x_max, y_min, y_max, a, depth)
    integer :: x_min, x_max, y_min, y_max, depth, j, k
    real(8), dimension(x_min - 2:x_max + 2, y_min - 2:y_max + 2) :: a
    do j = x_min - depth, x_max + depth
      do k = 1, depth
        a(j, y_min - k) = a(j, y_min - 1 + k)
      end do
    end do
  end subroutine

  subroutine top(x_min, x_max, y_min, y_max, a, depth)
    integer :: x_min, x_max, y_min, y_max, depth, j, k
    real(8), dimension(x_min - 2:x_max + 2, y_min - 2:y_max + 2) :: a
    do j = x_min - depth, x_max + depth
      do k = 1, depth
        a(j, y_max + k) = a(j, y_max + 1 - k)
      end do
    end do
  end subroutine

  ! The first column is the argument's lower bound in all calls but the last one, where a row begins elsewhere.
  subroutine left(x_min, x_max, y_min, y_max, a, depth)
    integer :: x_min, x_max, y_min, y_max, depth, j, k
    real(8), dimension(x_min - 2:x_max + 2, y_min - 2:y_max + 2) :: a
    do k = y_min - depth, y_max + depth
      do j = 1, depth
        a(1 - j, k) = -a(0 + j, k)
      end do
    end do
  end subroutine

  subroutine right(x_min, x_max, y_min, y_max, a, depth)
    integer :: x_min, x_max, y_min, y_max, depth, j, k
    real(8), dimension(x_min - 2:x_max + 2, y_min - 2:y_max + 2) :: a
    do k = y_min - depth, y_max + depth
      do j = 1, depth
        a(x_max + j, k) = -a(x_max + 1 - j, k)
      end do
    end do
  end subroutine
end module borders

program main
  use borders
  implicit none
  integer :: x_min, x_max, y_min, y_max, depth, n
  character(len=16) :: word
  real(8), allocatable :: whole(:)
  integer(8) :: hash
  integer :: room, at, i
  call get_command_argument(1, word); read (word, *) x_min
  call get_command_argument(2, word); read (word, *) x_max
  call get_command_argument(3, word); read (word, *) y_min
  call get_command_argument(4, word); read (word, *) y_max
  call get_command_argument(5, word); read (word, *) depth
  n = (x_max - x_min + 5)*(y_max - y_min + 5)
  ! Where the left border is not the grid's own it is a part of rows before or behind.
  room = 16*(x_max - x_min + 5)
  allocate (whole(n + 2*room))
  do i = 1, n + 2*room
    whole(i) = i*0.5d0 + mod(i, 7)
  end do
  at = room + 1
  call bottom(x_min, x_max, y_min, y_max, whole(at), depth)
  call top(x_min, x_max, y_min, y_max, whole(at), depth)
  call left(x_min, x_max, y_min, y_max, whole(at), depth)
  call right(x_min, x_max, y_min, y_max, whole(at), depth)
  hash = 1469598103934665603_8
  do i = 1, n + 2*room
    hash = ieor(ishftc(hash, 7), transfer(whole(i), hash))
    hash = ieor(hash, ishft(hash, -11))
  end do
  print '(a,1x,z16.16)', 'whole', hash
end program main
