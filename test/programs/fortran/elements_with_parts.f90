! Arrays of assumed shape whose elements have parts: complex numbers, members of a derived type.
! ARGS: 24 17
! ARGS: 1 1
! ARGS: 2 3
! ARGS: 33 40
! OFFLOAD: yes
! KERNELS: rotated advanced divergent
module kernels
  implicit none
  type point
    real(8) :: x, y, z
  end type
contains
  subroutine rotated(z, w)
    complex(8), intent(inout) :: z(:, :)
    complex(8), intent(in) :: w(:, :)
    integer :: i, j
    do j = 1, size(z, 2)
      do i = 1, size(z, 1)
        z(i, j) = z(i, j)*w(i, j) + conjg(w(i, j))
      end do
    end do
  end subroutine rotated

  ! Steps until a number leaves a disk.
  subroutine divergent(c, k)
    complex(8), intent(in) :: c(:, :)
    integer, intent(out) :: k(:, :)
    complex(8) :: z
    integer :: i, j, n
    do j = 1, size(c, 2)
      do i = 1, size(c, 1)
        z = 0
        do n = 1, 20
          z = z*z + c(i, j)
          if (real(z)**2 + aimag(z)**2 > 4) exit
        end do
        k(i, j) = n
      end do
    end do
  end subroutine divergent

  subroutine advanced(p, v)
    type(point), intent(inout) :: p(:, :)
    real(8), intent(in) :: v(:, :)
    integer :: i, j
    do j = 1, size(p, 2)
      do i = 1, size(p, 1)
        p(i, j)%x = p(i, j)%x + v(i, j)
        p(i, j)%z = p(i, j)%y*v(i, j)
      end do
    end do
  end subroutine advanced
end module kernels

program elements_with_parts
  use kernels
  implicit none
  integer :: n, m, i, j
  complex(8), allocatable :: z(:, :), w(:, :)
  type(point), allocatable :: p(:, :)
  real(8), allocatable :: v(:, :)
  integer, allocatable :: k(:, :)
  character(len=16) :: word
  call get_command_argument(1, word)
  read (word, *) n
  call get_command_argument(2, word)
  read (word, *) m
  allocate (z(n, m), w(n, m), p(n, m), v(n, m), k(n, m))
  do j = 1, m
    do i = 1, n
      z(i, j) = cmplx(mod(i*7 + j*5, 23)*0.1d0 - 1, mod(i*3 + j*11, 19)*0.1d0 - 1, 8)
      w(i, j) = cmplx(mod(i*13 + j, 17)*0.1d0 - 1, mod(i + j*3, 29)*0.05d0 - 0.7d0, 8)
      v(i, j) = mod(i*5 + j*2, 31) - 7.5d0
      p(i, j) = point(v(i, j)*2, v(i, j) - 1, v(i, j)*3)
    end do
  end do
  call rotated(z, w)
  call divergent(w, k)
  call advanced(p, v)
  write (*, '(6z17)') sum(real(z)), sum(aimag(z)), sum(p%x), sum(p%y), sum(p%z), z(n, m)
  write (*, *) sum(k), k(n, m)
end program elements_with_parts
