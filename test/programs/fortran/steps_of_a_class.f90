! A type-bound procedure whose loop over time goes through several arrays of the object: extents, descriptors, and numbers are components that stores might change for all that the types say, and
! each nest reads them again.
! ARGS: 40 30 4
! ARGS: 3 3 2
! ARGS: 2 9 3
! ARGS: 33 17 1
! OFFLOAD: yes
! KERNELS: step
module waves
  implicit none
  type :: field
    integer :: nx, ny
    real(8), allocatable :: v(:, :)
  end type
  type :: model
    type(field) :: h, u, w
    real(8) :: dt, dx
  contains
    procedure :: step
  end type
contains
  subroutine step(self, times)
    class(model), intent(inout) :: self
    integer, intent(in) :: times
    integer :: i, j, t
    do t = 1, times
      do j = 2, self%h%ny - 1
        do i = 2, self%h%nx - 1
          self%u%v(i, j) = self%u%v(i, j) - self%dt * 9.81d0 * (self%h%v(i + 1, j) - self%h%v(i - 1, j)) / (2 * self%dx)
          self%w%v(i, j) = self%w%v(i, j) - self%dt * 9.81d0 * (self%h%v(i, j + 1) - self%h%v(i, j - 1)) / (2 * self%dx)
        end do
      end do
      do concurrent (j = 2:self%h%ny - 1, i = 2:self%h%nx - 1)
        self%h%v(i, j) = self%h%v(i, j) - self%dt * ((self%u%v(i + 1, j) - self%u%v(i - 1, j)) + (self%w%v(i, j + 1) - self%w%v(i, j - 1))) / (2 * self%dx)
      end do
    end do
  end subroutine
end module

program main
  use waves
  implicit none
  type(model) :: m
  character(16) :: text
  integer :: n(3), k
  n = [40, 30, 4]
  do k = 1, min(3, command_argument_count())
    call get_command_argument(k, text)
    read (text, *) n(k)
  end do
  m%dt = 0.01d0
  m%dx = 1
  call init(m%h, 11)
  call init(m%u, 7)
  call init(m%w, 5)
  call m%step(n(3))
  print *, m%h%v
  print *, m%u%v
contains
  subroutine init(f, modulus)
    type(field), intent(inout) :: f
    integer, intent(in) :: modulus
    integer :: i, j
    f%nx = n(1)
    f%ny = n(2)
    allocate (f%v(n(1), n(2)))
    do j = 1, n(2)
      do i = 1, n(1)
        f%v(i, j) = mod(i * i + j, modulus) * 0.1d0
      end do
    end do
  end subroutine
end program
