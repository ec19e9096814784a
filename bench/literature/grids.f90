! Stencils of Fortran: array expressions, do concurrent, time as the last subscript, merge; bench/literature/fortran.c calls them.
subroutine heat_sections(steps, n, a, b) bind(c)
  use iso_c_binding
  integer(c_int), value :: steps, n
  real(c_float) :: a(n, n), b(n, n)
  integer :: t
  do t = 1, steps
    b(2:n-1, 2:n-1) = a(2:n-1, 2:n-1) + 0.1 * (a(1:n-2, 2:n-1) + a(3:n, 2:n-1) + a(2:n-1, 1:n-2) + a(2:n-1, 3:n) - 4 * a(2:n-1, 2:n-1))
    a(2:n-1, 2:n-1) = b(2:n-1, 2:n-1)
  end do
end subroutine

subroutine heat_concurrent(steps, n, u) bind(c)
  use iso_c_binding
  integer(c_int), value :: steps, n
  real(c_double) :: u(n, n, n, 0:1)
  integer :: t, i, j, k, now, next
  do t = 0, steps - 1
    now = mod(t, 2)
    next = 1 - now
    do concurrent (k = 2:n-1, j = 2:n-1, i = 2:n-1)
      u(i, j, k, next) = u(i, j, k, now) + 0.1d0 * (u(i-1, j, k, now) + u(i+1, j, k, now) + u(i, j-1, k, now) + u(i, j+1, k, now) + &
                         u(i, j, k-1, now) + u(i, j, k+1, now) - 6 * u(i, j, k, now))
    end do
  end do
end subroutine

! Order four, coefficients in a table, a loop over the radius.
subroutine wave_radius(steps, n, c, u, v, m) bind(c)
  use iso_c_binding
  integer(c_int), value :: steps, n
  real(c_float) :: c(0:2), u(n, n), v(n, n), m(n, n), lap
  integer :: t, i, j, r
  do t = 1, steps
    do j = 3, n - 2
      do i = 3, n - 2
        lap = 2 * c(0) * u(i, j)
        do r = 1, 2
          lap = lap + c(r) * (u(i - r, j) + u(i + r, j) + u(i, j - r) + u(i, j + r))
        end do
        v(i, j) = 2 * u(i, j) - v(i, j) + m(i, j) * lap
      end do
    end do
    do j = 3, n - 2
      do i = 3, n - 2
        lap = 2 * c(0) * v(i, j)
        do r = 1, 2
          lap = lap + c(r) * (v(i - r, j) + v(i + r, j) + v(i, j - r) + v(i, j + r))
        end do
        u(i, j) = 2 * v(i, j) - u(i, j) + m(i, j) * lap
      end do
    end do
  end do
end subroutine

! Upwind by merge, with max and min of neighbours as limits.
subroutine upwind_merge(steps, n, q, new, u) bind(c)
  use iso_c_binding
  integer(c_int), value :: steps, n
  real(c_double) :: q(n, n), new(n, n), u(n, n), slope
  integer :: t, i, j
  do t = 1, steps
    do j = 2, n - 1
      do i = 2, n - 1
        slope = merge(q(i, j) - q(i - 1, j), q(i + 1, j) - q(i, j), u(i, j) > 0)
        new(i, j) = max(min(q(i, j) - 0.2d0 * u(i, j) * slope, max(q(i - 1, j), q(i, j), q(i + 1, j))), min(q(i - 1, j), q(i, j), q(i + 1, j)))
      end do
    end do
    q(2:n-1, 2:n-1) = new(2:n-1, 2:n-1)
  end do
end subroutine
