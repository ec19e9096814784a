! Values of derived types: structure constructors, operators and elemental functions that return them; a type with initial values is initialized.
! Also `forall` over arrays of assumed shape.
! ARGS: 70 5
! ARGS: 1 1
! ARGS: 2 3
! ARGS: 32 33
! OFFLOAD: yes
! KERNELS: shifted
module points
  implicit none
  type point
    real(8) :: x, y, z
  end type
  type marked
    real(8) :: x = 1.5d0
    real(8) :: y = -2.5d0
  end type
  interface operator(+)
    module procedure sum_of
  end interface
contains
  pure type(point) function sum_of(a, b)
    type(point), intent(in) :: a, b
    sum_of = point(a%x + b%x, a%y + b%y, a%z + b%z)
  end function sum_of

  elemental type(point) function product_of(a, s)
    type(point), intent(in) :: a
    real(8), intent(in) :: s
    product_of = point(a%x*s, a%y*s, a%z*s)
  end function product_of

  subroutine turned(a)
    type(point), intent(inout) :: a(:)
    integer :: i
    do i = 1, size(a)
      a(i) = point(a(i)%y, a(i)%z, a(i)%x)
    end do
  end subroutine turned

  subroutine summed(a, b, n)
    integer, intent(in) :: n
    type(point), intent(inout) :: a(n)
    type(point), intent(in) :: b(n)
    integer :: i
    do i = 1, n
      a(i) = a(i) + b(i)
    end do
  end subroutine summed

  subroutine scaled(a, s)
    type(point), intent(inout) :: a(:)
    real(8), intent(in) :: s(:)
    a = product_of(a, s)
  end subroutine scaled

  ! A variable of a type with initial values.
  subroutine marks(x, n)
    integer, intent(in) :: n
    real(8), intent(inout) :: x(n)
    integer :: i
    do i = 1, n
      block
        type(marked) :: m
        x(i) = x(i)*m%x + m%y
        m%x = x(i)
      end block
    end do
  end subroutine marks

  subroutine shifted(a, b)
    real(8), intent(inout) :: a(:, :)
    real(8), intent(in) :: b(:, :)
    integer :: i, j
    forall (i=2:size(a, 1) - 1, j=2:size(a, 2) - 1) a(i, j) = b(i - 1, j) + b(i, j + 1)
  end subroutine shifted
end module points

program structure_constructors
  use points
  implicit none
  integer :: n, m, i, j
  type(point), allocatable :: a(:), b(:)
  real(8), allocatable :: s(:), g(:, :), h(:, :)
  character(len=16) :: word
  call get_command_argument(1, word)
  read (word, *) n
  call get_command_argument(2, word)
  read (word, *) m
  allocate (a(n), b(n), s(n), g(n, m), h(n, m))
  do i = 1, n
    s(i) = mod(i*7, 23)*0.25d0 - 2
    a(i) = point(s(i) + 1, s(i)*2, mod(i*5, 19) - 3.5d0)
    b(i) = point(mod(i*3, 17)*1d0, s(i), -s(i))
  end do
  do j = 1, m
    do i = 1, n
      g(i, j) = mod(i*5 + j*3, 29) - 4.25d0
      h(i, j) = mod(i*11 + j*7, 31) + 0.5d0
    end do
  end do
  call turned(a)
  call summed(a, b, n)
  call scaled(a, s)
  call marks(s, n)
  call shifted(g, h)
  write (*, '(4z17)') sum(a%x), sum(a%y), sum(a%z), sum(s)
  write (*, '(3z17)') a(n)%x, sum(g), g(n, m)
end program structure_constructors
