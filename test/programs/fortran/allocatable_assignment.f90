! Whole allocatable arrays assigned in time loops: of one shape, of shapes that differ in the first step, not allocated before, assigned to themselves,
! of several types and ranks.
! ARGS: 5 33 17
! ARGS: 3 9 50
! ARGS: 0 9 9
! ARGS: 2 1 3
! OFFLOAD: yes
! KERNELS: _QMassignmentsPsmooth _QMassignmentsPlevels _QMassignmentsPcounts
module assignments
  implicit none
  type grid
    real(8), allocatable :: now(:, :), next(:, :)
  end type
contains
  subroutine smooth(u, v, steps)
    real(8), allocatable, intent(inout) :: u(:, :), v(:, :)
    integer, intent(in) :: steps
    integer :: t, i, j
    do t = 1, steps
      do j = 2, size(u, 2) - 1
        do i = 2, size(u, 1) - 1
          v(i, j) = u(i, j) + 0.1d0 * (u(i - 1, j) + u(i + 1, j) + u(i, j - 1) + u(i, j + 1) - 4 * u(i, j))
        end do
      end do
      u = v
    end do
  end subroutine

  subroutine levels(g, steps)
    type(grid), intent(inout) :: g
    integer, intent(in) :: steps
    integer :: t, i, j, n, m
    n = size(g%now, 1)
    m = size(g%now, 2)
    do t = 1, steps
      do j = 1, m
        do i = 2, n - 1
          g%next(i, j) = 0.5d0 * g%now(i, j) + 0.25d0 * (g%now(i - 1, j) + g%now(i + 1, j))
        end do
      end do
      g%now = g%next
    end do
  end subroutine

  ! `b` starts as it is allocated, or not at all.
  subroutine counts(a, b, steps)
    integer, allocatable, intent(inout) :: a(:, :, :), b(:, :, :)
    integer, intent(in) :: steps
    integer :: t, i, j, k
    do t = 1, steps
      do k = 1, size(a, 3)
        do j = 1, size(a, 2)
          do i = 1, size(a, 1)
            a(i, j, k) = a(i, j, k) * 3 + t
          end do
        end do
      end do
      b = a
    end do
  end subroutine

  subroutine singles(c, d, steps)
    real(4), allocatable, intent(inout) :: c(:)
    real(4), intent(inout) :: d(:)
    integer, intent(in) :: steps
    integer :: t, i
    do t = 1, steps
      do i = 1, size(d)
        d(i) = d(i) + c(i)
      end do
      c = d
    end do
  end subroutine

  subroutine itself(u, steps)
    real(8), allocatable, intent(inout) :: u(:, :)
    integer, intent(in) :: steps
    integer :: t, i, j
    do t = 1, steps
      do j = 1, size(u, 2)
        do i = 1, size(u, 1)
          u(i, j) = u(i, j) * 1.5d0
        end do
      end do
      u = u
    end do
  end subroutine
end module

program main
  use assignments
  implicit none
  integer :: steps, n, m, i
  character(32) :: text
  real(8), allocatable :: u(:, :), v(:, :), w(:, :), x(:, :)
  integer, allocatable :: a(:, :, :), b(:, :, :), c(:, :, :)
  real(4), allocatable :: d(:), e(:)
  type(grid) :: g
  call get_command_argument(1, text)
  read (text, *) steps
  call get_command_argument(2, text)
  read (text, *) n
  call get_command_argument(3, text)
  read (text, *) m
  allocate (u(n, m), v(n, m), w(n + 2, m + 1), g%now(n, m), g%next(n, m), a(3, n, m), b(3, n, m), d(n))
  call random(u, n * m)
  call random(v, n * m)
  call random(w, (n + 2) * (m + 1))
  call random(g%now, n * m)
  call random(g%next, n * m)
  d = real([(i, i=1, n)], 4) * 0.25
  a = reshape([(i, i=1, 3 * n * m)], [3, n, m])
  b = 0
  x = v
  call smooth(u, x, steps)
  print *, u
  ! The first assignment gives `u` the shape of `w`.
  call smooth(u, w, steps)
  print *, shape(u)
  print *, u
  call levels(g, steps)
  print *, g%now
  call counts(a, b, steps)
  print *, b
  call counts(a, c, steps)
  if (allocated(c)) print *, sum(c), shape(c)
  e = d * 2
  call singles(d, e, steps)
  print *, d
  call itself(u, steps)
  print *, u
contains
  subroutine random(values, count)
    integer, intent(in) :: count
    real(8), intent(out) :: values(count)
    integer(8), save :: state = 1
    integer :: k
    do k = 1, count
      state = iand(state * 1103515245_8 + 12345_8, 2147483647_8)
      values(k) = state / 2147483648d0
    end do
  end subroutine
end program
