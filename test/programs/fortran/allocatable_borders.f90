! Allocatable arrays of a module that begin before 1, for a border of two elements: what is done to all of them, border and all, to the inner ones, and to one side. The lower bounds are
! in descriptors, as are extents and strides.
! ARGS: 40 20
! ARGS: 1 1
! ARGS: 0 0
! ARGS: 3 65
! ARGS: 64 31
! OFFLOAD: yes
module fields
  implicit none
  integer, parameter :: border = 2, parts = 4
  integer :: nx, nz
  real(8), allocatable :: state(:, :, :), held(:, :, :)
contains
  subroutine state_of(seed)
    integer, intent(in) :: seed
    integer :: i, k, l
    do k = 1 - border, nz + border
      do i = 1 - border, nx + border
        state(i, k, 1) = state(i, k, 1) + i*0.5d0 + seed
        state(i, k, 2) = state(i, k, 2) - k*0.25d0
        state(i, k, 3) = state(i, k, 1)*state(i, k, 2)
        state(i, k, 4) = i + k
        do l = 1, parts
          held(i, k, l) = state(i, k, l)
        end do
      end do
    end do
  end subroutine state_of

  subroutine step_of()
    integer :: i, k, l
    do l = 1, parts
      do k = 1, nz
        do i = 1, nx
          held(i, k, l) = (state(i - 2, k, l) + state(i + 2, k, l))*0.5d0 - state(i, k - 1, l) + state(i, k + 1, l)
        end do
      end do
    end do
  end subroutine step_of

  subroutine side_of()
    integer :: k, l
    do l = 1, parts
      do k = 1, nz
        held(-1, k, l) = held(nx - 1, k, l)
        held(0, k, l) = held(nx, k, l)
        held(nx + 1, k, l) = held(1, k, l)
        held(nx + 2, k, l) = held(2, k, l)
      end do
    end do
  end subroutine side_of
end module fields

program borders
  use fields
  implicit none
  character(len=16) :: text
  integer :: t
  call get_command_argument(1, text)
  read (text, *) nx
  call get_command_argument(2, text)
  read (text, *) nz
  allocate (state(1 - border:nx + border, 1 - border:nz + border, parts))
  allocate (held(1 - border:nx + border, 1 - border:nz + border, parts))
  state = 0.125d0
  do t = 1, 3
    call state_of(t)
    call step_of()
    if (nx > 1) call side_of()
    call report(held, size(held))
    state = held
  end do
contains
  subroutine report(a, n)
    integer, intent(in) :: n
    real(8), intent(in) :: a(n)
    integer(8) :: hash
    integer :: i
    hash = 1469598103934665603_8
    do i = 1, n
      hash = ieor(ishftc(hash, 7), transfer(a(i), hash))
    end do
    print '(z16.16)', hash
  end subroutine report
end program borders
