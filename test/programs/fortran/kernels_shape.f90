! The ten kernels on assumed-shape arrays, in do loops.
! ARGS: 24 17
! ARGS: 1 1
! ARGS: 5 3
! ARGS: 33 40
! OFFLOAD: yes
! TURNS: 3
! KERNELS: gemm jacobi_2d heat_3d fdtd_2d covariance conv2d atax floyd_warshall lu gemver
module kernels
  implicit none
contains
  subroutine gemm(alpha, beta, c, a, b)
    real(8), intent(in) :: alpha, beta, a(:, :), b(:, :)
    real(8), intent(inout) :: c(:, :)
    integer :: i, j, k
    do j = 1, size(c, 2)
      do i = 1, size(c, 1)
        c(i, j) = c(i, j)*beta
      end do
      do k = 1, size(a, 2)
        do i = 1, size(c, 1)
          c(i, j) = c(i, j) + alpha*a(i, k)*b(k, j)
        end do
      end do
    end do
  end subroutine gemm

  subroutine jacobi_2d(steps, a, b)
    integer, intent(in) :: steps
    real(8), intent(inout) :: a(:, :), b(:, :)
    integer :: i, j, t
    do t = 1, steps
      do j = 2, size(a, 2) - 1
        do i = 2, size(a, 1) - 1
          b(i, j) = 0.2d0*(a(i, j) + a(i - 1, j) + a(i + 1, j) + a(i, j - 1) + a(i, j + 1))
        end do
      end do
      do j = 2, size(a, 2) - 1
        do i = 2, size(a, 1) - 1
          a(i, j) = 0.2d0*(b(i, j) + b(i - 1, j) + b(i + 1, j) + b(i, j - 1) + b(i, j + 1))
        end do
      end do
    end do
  end subroutine jacobi_2d

  subroutine heat_3d(steps, a, b)
    integer, intent(in) :: steps
    real(8), intent(inout) :: a(:, :, :), b(:, :, :)
    integer :: i, j, k, t, n
    n = size(a, 1)
    do t = 1, steps
      do k = 2, n - 1
        do j = 2, n - 1
          do i = 2, n - 1
            b(i, j, k) = 0.125d0*(a(i + 1, j, k) - 2*a(i, j, k) + a(i - 1, j, k)) &
                         + 0.125d0*(a(i, j + 1, k) - 2*a(i, j, k) + a(i, j - 1, k)) &
                         + 0.125d0*(a(i, j, k + 1) - 2*a(i, j, k) + a(i, j, k - 1)) + a(i, j, k)
          end do
        end do
      end do
      do k = 2, n - 1
        do j = 2, n - 1
          do i = 2, n - 1
            a(i, j, k) = 0.125d0*(b(i + 1, j, k) - 2*b(i, j, k) + b(i - 1, j, k)) &
                         + 0.125d0*(b(i, j + 1, k) - 2*b(i, j, k) + b(i, j - 1, k)) &
                         + 0.125d0*(b(i, j, k + 1) - 2*b(i, j, k) + b(i, j, k - 1)) + b(i, j, k)
          end do
        end do
      end do
    end do
  end subroutine heat_3d

  subroutine fdtd_2d(steps, ex, ey, hz, source)
    integer, intent(in) :: steps
    real(8), intent(inout) :: ex(:, :), ey(:, :), hz(:, :)
    real(8), intent(in) :: source(:)
    integer :: i, j, t
    do t = 1, steps
      do j = 1, size(ey, 2)
        ey(1, j) = source(t)
      end do
      do j = 1, size(ey, 2)
        do i = 2, size(ey, 1)
          ey(i, j) = ey(i, j) - 0.5d0*(hz(i, j) - hz(i - 1, j))
        end do
      end do
      do j = 2, size(ex, 2)
        do i = 1, size(ex, 1)
          ex(i, j) = ex(i, j) - 0.5d0*(hz(i, j) - hz(i, j - 1))
        end do
      end do
      do j = 1, size(hz, 2) - 1
        do i = 1, size(hz, 1) - 1
          hz(i, j) = hz(i, j) - 0.7d0*(ex(i, j + 1) - ex(i, j) + ey(i + 1, j) - ey(i, j))
        end do
      end do
    end do
  end subroutine fdtd_2d

  subroutine covariance(data, cov, mean)
    real(8), intent(inout) :: data(:, :), cov(:, :), mean(:)
    integer :: i, j, k, n, m
    real(8) :: total
    n = size(data, 1)
    m = size(data, 2)
    do j = 1, m
      mean(j) = 0
      do i = 1, n
        mean(j) = mean(j) + data(i, j)
      end do
      mean(j) = mean(j)/n
    end do
    do j = 1, m
      do i = 1, n
        data(i, j) = data(i, j) - mean(j)
      end do
    end do
    do i = 1, m
      do j = i, m
        total = 0
        do k = 1, n
          total = total + data(k, i)*data(k, j)
        end do
        cov(i, j) = total/(n - 1d0)
        cov(j, i) = cov(i, j)
      end do
    end do
  end subroutine covariance

  subroutine conv2d(out, image, filter)
    real(8), intent(inout) :: out(:, :)
    real(8), intent(in) :: image(:, :), filter(:, :)
    integer :: x, y, dx, dy
    real(8) :: total
    do x = 1, size(out, 2)
      do y = 1, size(out, 1)
        total = 0
        do dx = 1, 3
          do dy = 1, 3
            total = total + filter(dy, dx)*image(y + dy - 1, x + dx - 1)
          end do
        end do
        out(y, x) = total
      end do
    end do
  end subroutine conv2d

  subroutine atax(a, x, y, tmp)
    real(8), intent(in) :: a(:, :), x(:)
    real(8), intent(inout) :: y(:), tmp(:)
    integer :: i, j
    do j = 1, size(a, 2)
      y(j) = 0
    end do
    do i = 1, size(a, 1)
      tmp(i) = 0
      do j = 1, size(a, 2)
        tmp(i) = tmp(i) + a(i, j)*x(j)
      end do
      do j = 1, size(a, 2)
        y(j) = y(j) + a(i, j)*tmp(i)
      end do
    end do
  end subroutine atax

  subroutine floyd_warshall(path)
    real(8), intent(inout) :: path(:, :)
    integer :: i, j, k
    do k = 1, size(path, 1)
      do j = 1, size(path, 1)
        do i = 1, size(path, 1)
          if (path(i, k) + path(k, j) < path(i, j)) path(i, j) = path(i, k) + path(k, j)
        end do
      end do
    end do
  end subroutine floyd_warshall

  subroutine lu(a)
    real(8), intent(inout) :: a(:, :)
    integer :: i, j, k
    do k = 1, size(a, 1)
      do i = k + 1, size(a, 1)
        a(i, k) = a(i, k)/a(k, k)
      end do
      do j = k + 1, size(a, 1)
        do i = k + 1, size(a, 1)
          a(i, j) = a(i, j) - a(i, k)*a(k, j)
        end do
      end do
    end do
  end subroutine lu

  subroutine gemver(alpha, beta, a, u1, v1, u2, v2, w, x, y, z)
    real(8), intent(in) :: alpha, beta, u1(:), v1(:), u2(:), v2(:), y(:), z(:)
    real(8), intent(inout) :: a(:, :), w(:), x(:)
    integer :: i, j, n
    n = size(a, 1)
    do j = 1, n
      do i = 1, n
        a(i, j) = a(i, j) + u1(i)*v1(j) + u2(i)*v2(j)
      end do
    end do
    do i = 1, n
      do j = 1, n
        x(i) = x(i) + beta*a(j, i)*y(j)
      end do
    end do
    do i = 1, n
      x(i) = x(i) + z(i)
    end do
    do j = 1, n
      do i = 1, n
        w(i) = w(i) + alpha*a(i, j)*x(j)
      end do
    end do
  end subroutine gemver

  subroutine mix(hash, x)
    integer(8), intent(inout) :: hash
    real(8), intent(in) :: x
    hash = ieor(ishftc(hash, 7), transfer(x, hash))
    hash = ieor(hash, ishft(hash, -11))
  end subroutine mix

  subroutine report(name, a)
    character(len=*), intent(in) :: name
    real(8), intent(in) :: a(:, :)
    integer(8) :: hash
    integer :: i, j
    hash = 1469598103934665603_8
    do j = 1, size(a, 2)
      do i = 1, size(a, 1)
        call mix(hash, a(i, j))
      end do
    end do
    print '(a,1x,z16.16)', name, hash
  end subroutine report

  subroutine next(state, x)
    integer(8), intent(inout) :: state
    real(8), intent(out) :: x
    state = ieor(state, ishft(state, 13))
    state = ieor(state, ishft(state, -7))
    state = ieor(state, ishft(state, 17))
    x = real(ishft(state, -11), 8)*2d0**(-53)
  end subroutine next

  function random(n, m, seed) result(a)
    integer, intent(in) :: n, m, seed
    real(8), allocatable :: a(:, :)
    integer(8) :: state
    integer :: i, j
    allocate (a(n, m))
    state = 88172645463325252_8 + 977*seed
    do j = 1, m
      do i = 1, n
        call next(state, a(i, j))
      end do
    end do
  end function random

  integer function argument(k, otherwise)
    integer, intent(in) :: k, otherwise
    character(len=32) :: text
    argument = otherwise
    if (k <= command_argument_count()) then
      call get_command_argument(k, text)
      read (text, *) argument
    end if
  end function argument
end module kernels

program main
  use kernels
  implicit none
  integer :: n, m, i
  real(8), allocatable :: a(:, :), b(:, :), c(:, :), v(:, :), g(:, :, :), h(:, :, :)
  n = argument(1, 24)
  m = argument(2, 17)
  a = random(n, m, 1)
  b = random(m, n, 2)
  c = random(n, n, 3)
  call gemm(1.5d0, 1.25d0, c, a, b)
  call report('gemm', c)
  a = random(n, n, 4)
  b = random(n, n, 5)
  call jacobi_2d(3, a, b)
  call report('jacobi-2d', a)
  g = reshape(random(m, m*m, 6), [m, m, m])
  h = reshape(random(m, m*m, 7), [m, m, m])
  call heat_3d(2, g, h)
  call report('heat-3d', reshape(g, [m, m*m]))
  a = random(n, m, 8)
  b = random(n, m, 9)
  c = random(n, m, 10)
  v = random(4, 1, 11)
  call fdtd_2d(4, a, b, c, v(:, 1))
  call report('fdtd-2d', c)
  a = random(n, m, 12)
  c = random(m, m, 13)
  v = random(m, 1, 14)
  call covariance(a, c, v(:, 1))
  call report('covariance', c)
  if (n > 2 .and. m > 2) then
    a = random(n, m, 15)
    b = random(3, 3, 16)
    c = random(n - 2, m - 2, 17)
    call conv2d(c, a, b)
    call report('conv2d', c)
  end if
  a = random(n, m, 18)
  v = random(m, 2, 19)
  c = random(n, 1, 20)
  call atax(a, v(:, 1), v(:, 2), c(:, 1))
  call report('atax', v)
  a = random(n, n, 21)
  call floyd_warshall(a)
  call report('floyd-warshall', a)
  a = random(n, n, 22)
  do i = 1, n
    a(i, i) = a(i, i) + n
  end do
  call lu(a)
  call report('lu', a)
  a = random(n, n, 23)
  v = random(n, 8, 24)
  call gemver(1.5d0, 1.25d0, a, v(:, 1), v(:, 2), v(:, 3), v(:, 4), v(:, 5), v(:, 6), v(:, 7), v(:, 8))
  call report('gemver', v)
end program main
