! Rows of an argument and a constant, `lo:hi+2`, and columns that a function of the library is called with.
! ARGS: 1
! OFFLOAD: yes
! KERNELS: scaled normed
module loops
contains
  subroutine scaled(x_min, x_max, y_min, y_max, p)
    integer :: x_min, x_max, y_min, y_max, j, k
    real(8), dimension(x_min:x_max+2, y_min:y_max) :: p
    do k = y_min, y_max
      do j = x_min, x_max
        p(j, k) = 0.4d0 * p(j, k)
      end do
    end do
  end subroutine

  subroutine normed(n, m, v)
    integer, intent(in) :: n, m
    real(8), intent(inout) :: v(n, m)
    integer :: j
    do j = 1, m
      v(:, j) = v(:, j) / norm2(v(:, j))
    end do
  end subroutine
end module

program extents
  use loops
  real(8) :: p(42, 36), v(300, 8)
  integer :: i, j
  do j = 1, 36
    do i = 1, 42
      p(i, j) = mod(i * 7 + j * 5, 23) - 3.5d0
    end do
  end do
  do j = 1, 8
    do i = 1, 300
      v(i, j) = mod(i * 3 + j, 19) + 0.25d0
    end do
  end do
  call scaled(1, 40, 1, 36, p)
  call scaled(-3, 36, 0, 35, p)
  call normed(300, 8, v)
  write (*, '(4z17)') sum(p), p(41, 36), p(40, 36), p(1, 1)
  write (*, '(4z17)') v(1, 1), v(300, 8), v(17, 3), sum(v)
end program
