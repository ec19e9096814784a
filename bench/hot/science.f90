! Hot loops of scientific programs in Fortran: array syntax, derived types, masks, places of extremes, columns of the atmosphere.
module science
  use iso_fortran_env, only: real64
  implicit none
  integer, parameter :: dp = real64

  type vector
    real(dp) :: x, y, z
  end type

  type grid
    integer :: nx, ny
    real(dp) :: dx, dy
    real(dp), allocatable :: u(:, :), v(:, :), p(:, :), div(:, :)
  end type

  type state
    real(dp), allocatable :: density(:), energy(:), pressure(:)
  end type
contains
  ! Explicit steps of the heat equation with array syntax.
  subroutine heat_sections(t, new, nx, ny, steps)
    integer, intent(in) :: nx, ny, steps
    real(dp), intent(inout) :: t(nx, ny), new(nx, ny)
    integer :: s
    do s = 1, steps
      new(2:nx-1, 2:ny-1) = t(2:nx-1, 2:ny-1) + 0.1d0 * (t(1:nx-2, 2:ny-1) + t(3:nx, 2:ny-1) + t(2:nx-1, 1:ny-2) + t(2:nx-1, 3:ny) - 4 * t(2:nx-1, 2:ny-1))
      t = new
    end do
  end subroutine

  ! Moisture that is above saturation condenses.
  subroutine condense(q, qsat, t, rain)
    real(dp), intent(inout) :: q(:, :), t(:, :), rain(:, :)
    real(dp), intent(in) :: qsat(:, :)
    where (q > qsat)
      rain = q - qsat
      t = t + 2.5d0 * rain
      q = qsat
    elsewhere
      rain = 0
    end where
  end subroutine

  ! Forces between particles, in a derived type made by its constructor.
  subroutine vector_forces(r, f, n)
    integer, intent(in) :: n
    type(vector), intent(in) :: r(n)
    type(vector), intent(out) :: f(n)
    type(vector) :: d
    real(dp) :: r2, w
    integer :: i, j
    do i = 1, n
      f(i) = vector(0, 0, 0)
      do j = 1, n
        d = vector(r(j)%x - r(i)%x, r(j)%y - r(i)%y, r(j)%z - r(i)%z)
        r2 = d%x**2 + d%y**2 + d%z**2 + 0.01d0
        w = 1 / (r2 * sqrt(r2))
        f(i) = vector(f(i)%x + w * d%x, f(i)%y + w * d%y, f(i)%z + w * d%z)
      end do
    end do
  end subroutine

  ! Divergence on a grid whose arrays are components.
  subroutine divergence(g)
    type(grid), intent(inout) :: g
    integer :: i, j
    do j = 2, g%ny - 1
      do i = 2, g%nx - 1
        g%div(i, j) = (g%u(i+1, j) - g%u(i-1, j)) / (2 * g%dx) + (g%v(i, j+1) - g%v(i, j-1)) / (2 * g%dy)
      end do
    end do
  end subroutine

  ! Relaxation until the largest change is small.
  subroutine relax(g, limit)
    type(grid), intent(inout) :: g
    integer, intent(in) :: limit
    real(dp), allocatable :: old(:, :)
    integer :: i, j, it
    allocate(old(g%nx, g%ny))
    do it = 1, limit
      old = g%p
      do j = 2, g%ny - 1
        do i = 2, g%nx - 1
          g%p(i, j) = 0.25d0 * (old(i-1, j) + old(i+1, j) + old(i, j-1) + old(i, j+1) - g%dx * g%dy * g%div(i, j))
        end do
      end do
      if (maxval(abs(g%p - old)) < 1d-12) exit
    end do
  end subroutine

  ! The smallest step of all cells, and the cell.
  subroutine time_step(s, dx, dt, cell)
    type(state), intent(in) :: s
    real(dp), intent(in) :: dx
    real(dp), intent(out) :: dt
    integer, intent(out) :: cell
    real(dp) :: d
    integer :: i
    dt = huge(dt)
    cell = 0
    do i = 1, size(s%density)
      d = dx / sqrt(1.4d0 * s%pressure(i) / s%density(i))
      if (d < dt) then
        dt = d
        cell = i
      end if
    end do
  end subroutine

  subroutine equation(s, gamma)
    type(state), intent(inout) :: s
    real(dp), intent(in) :: gamma
    s%pressure = (gamma - 1) * s%density * s%energy
  end subroutine

  ! For each column, the level of the smallest value.
  subroutine tropopause(t, level)
    real(dp), intent(in) :: t(:, :)
    integer, intent(out) :: level(:)
    integer :: j
    do j = 1, size(t, 2)
      level(j) = minloc(t(:, j), 1)
    end do
  end subroutine

  ! Radiation down through the levels of many columns.
  subroutine radiation(ncol, nlev, tau, b, down, up)
    integer, intent(in) :: ncol, nlev
    real(dp), intent(in) :: tau(ncol, nlev), b(ncol, nlev)
    real(dp), intent(out) :: down(ncol, nlev + 1), up(ncol, nlev + 1)
    real(dp) :: tr
    integer :: i, k
    do i = 1, ncol
      down(i, 1) = 0
    end do
    do k = 1, nlev
      do i = 1, ncol
        tr = exp(-1.66d0 * tau(i, k))
        down(i, k+1) = down(i, k) * tr + b(i, k) * (1 - tr)
      end do
    end do
    up(:, nlev+1) = down(:, nlev+1) * 0.3d0
    do k = nlev, 1, -1
      do i = 1, ncol
        tr = exp(-1.66d0 * tau(i, k))
        up(i, k) = up(i, k+1) * tr + b(i, k) * (1 - tr)
      end do
    end do
  end subroutine

  ! Saturation of a column by iteration, ended where it converges.
  subroutine saturation(n, t, p, q)
    integer, intent(in) :: n
    real(dp), intent(inout) :: t(n), q(n)
    real(dp), intent(in) :: p(n)
    real(dp) :: es, qs, d
    integer :: i, it
    do i = 1, n
      do it = 1, 20
        es = 0.611d0 * exp(17.3d0 * t(i) / (t(i) + 237.3d0))
        qs = 0.622d0 * es / (p(i) * 100)
        d = (q(i) - qs) / 3
        q(i) = q(i) - d
        t(i) = t(i) + 2.5d0 * d
        if (abs(d) < 1d-10) exit
      end do
    end do
  end subroutine

  ! Rossby waves with periodic longitude: neighbours by modulo.
  subroutine vorticity(nlon, nlat, psi, zeta)
    integer, intent(in) :: nlon, nlat
    real(dp), intent(in) :: psi(0:nlon-1, nlat)
    real(dp), intent(out) :: zeta(0:nlon-1, nlat)
    integer :: i, j
    do concurrent (j = 2:nlat-1, i = 0:nlon-1)
      zeta(i, j) = psi(modulo(i-1, nlon), j) + psi(modulo(i+1, nlon), j) + psi(i, j-1) + psi(i, j+1) - 4 * psi(i, j)
    end do
    zeta(:, 1) = 0
    zeta(:, nlat) = 0
  end subroutine

  ! Halo cells of a field with any lower bound.
  subroutine halo(f, lo, hi, depth)
    integer, intent(in) :: lo, hi, depth
    real(dp), intent(inout) :: f(lo-depth:hi+depth, lo-depth:hi+depth)
    integer :: j, k
    do k = 1, depth
      do j = lo - depth, hi + depth
        f(lo-k, j) = f(lo+k-1, j)
        f(hi+k, j) = f(hi-k+1, j)
      end do
    end do
  end subroutine

  ! Products of matrices with intrinsics, for each element of a mesh.
  subroutine element_matrices(ne, d, b, ke)
    integer, intent(in) :: ne
    real(dp), intent(in) :: d(3, 3), b(3, 6, ne)
    real(dp), intent(out) :: ke(6, 6, ne)
    integer :: e
    do e = 1, ne
      ke(:, :, e) = matmul(transpose(b(:, :, e)), matmul(d, b(:, :, e)))
    end do
  end subroutine

  ! A dense solver: the product of blocks, by hand.
  subroutine dgemm_like(n, a, lda, b, ldb, c, ldc, alpha, beta)
    integer, intent(in) :: n, lda, ldb, ldc
    real(dp), intent(in) :: a(lda, *), b(ldb, *), alpha, beta
    real(dp), intent(inout) :: c(ldc, *)
    real(dp) :: temp
    integer :: i, j, l
    do j = 1, n
      do i = 1, n
        c(i, j) = beta * c(i, j)
      end do
      do l = 1, n
        temp = alpha * b(l, j)
        do i = 1, n
          c(i, j) = c(i, j) + temp * a(i, l)
        end do
      end do
    end do
  end subroutine

  ! Statistics of a sample under a mask.
  subroutine masked_means(x, mask, mean)
    real(dp), intent(in) :: x(:, :)
    logical, intent(in) :: mask(:, :)
    real(dp), intent(out) :: mean(:)
    integer :: j
    do j = 1, size(x, 2)
      mean(j) = sum(x(:, j), mask=mask(:, j)) / max(1, count(mask(:, j)))
    end do
  end subroutine

  ! Two time levels that move their allocations.
  subroutine wave(u, v, n, steps)
    integer, intent(in) :: n, steps
    real(dp), allocatable, intent(inout) :: u(:), v(:)
    real(dp), allocatable :: w(:)
    integer :: i, s
    do s = 1, steps
      allocate(w(n))
      w(1) = 0
      w(n) = 0
      do i = 2, n - 1
        w(i) = 2 * v(i) - u(i) + 0.3d0 * (v(i-1) - 2 * v(i) + v(i+1))
      end do
      call move_alloc(v, u)
      call move_alloc(w, v)
    end do
  end subroutine

  ! Waves on a grid through pointers that take turns.
  subroutine wave_pointers(a, b, n, m, steps)
    integer, intent(in) :: n, m, steps
    real(dp), intent(inout), target :: a(n, m), b(n, m)
    real(dp), pointer :: now(:, :), next(:, :), t(:, :)
    integer :: i, j, s
    now => a
    next => b
    do s = 1, steps
      do j = 2, m - 1
        do i = 2, n - 1
          next(i, j) = 2 * now(i, j) - next(i, j) + 0.1d0 * (now(i-1, j) + now(i+1, j) + now(i, j-1) + now(i, j+1) - 4 * now(i, j))
        end do
      end do
      t => now
      now => next
      next => t
    end do
  end subroutine

  ! Chemistry: rates of reactions in every cell.
  subroutine chemistry(nc, ns, nr, conc, k, r1, r2, p, dt)
    integer, intent(in) :: nc, ns, nr, r1(nr), r2(nr), p(nr)
    real(dp), intent(inout) :: conc(ns, nc)
    real(dp), intent(in) :: k(nr), dt
    real(dp) :: rate, d(ns)
    integer :: c, r
    do c = 1, nc
      d = 0
      do r = 1, nr
        rate = k(r) * conc(r1(r), c) * conc(r2(r), c)
        d(r1(r)) = d(r1(r)) - rate
        d(r2(r)) = d(r2(r)) - rate
        d(p(r)) = d(p(r)) + rate
      end do
      conc(:, c) = max(conc(:, c) + dt * d, 0d0)
    end do
  end subroutine

  ! Lattice sums of the spins' energies.
  real(dp) function ising_energy(s, n) result(e)
    integer, intent(in) :: n, s(n, n)
    integer :: i, j, total
    total = 0
    do j = 1, n
      do i = 1, n
        total = total - s(i, j) * (s(mod(i, n) + 1, j) + s(i, mod(j, n) + 1))
      end do
    end do
    e = total
  end function
end module

program hot
  use data
  use science
  implicit none
  integer, parameter :: nx = 37, ny = 29
  real(dp) :: a(nx, ny), b(nx, ny), c(nx, ny), r(nx, ny), dt, square(40, 40), m1(40, 40), m2(40, 40), d(3, 3), bm(3, 6, 50), ke(6, 6, 50), x(nx)
  real(dp) :: down(nx, ny + 1), up(nx, ny + 1), mean(ny), conc(8, 60), k(12)
  type(vector) :: p(70), f(70)
  type(grid) :: g
  type(state) :: s
  real(dp), allocatable :: u(:), v(:)
  integer :: cell, level(ny), i, j, r1(12), r2(12), r3(12), spins(30, 30)
  call fill2(a)
  call fill2(b)
  call fill2(c)
  call fill2(r)
  call heat_sections(a, b, nx, ny, 4)
  call show('heat_sections', a)
  call condense(a, b, c, r)
  call show('condense', c)
  do i = 1, 70
    p(i) = vector(uniform(), uniform(), uniform())
  end do
  call vector_forces(p, f, 70)
  call show('vector_forces', f%x + f%y + f%z)
  g%nx = nx
  g%ny = ny
  g%dx = 0.1d0
  g%dy = 0.2d0
  allocate(g%u(nx, ny), g%v(nx, ny), g%p(nx, ny), g%div(nx, ny))
  call fill2(g%u)
  call fill2(g%v)
  call fill2(g%p)
  call fill2(g%div)
  call divergence(g)
  call show('divergence', g%div)
  call relax(g, 5)
  call show('relax', g%p)
  allocate(s%density(500), s%energy(500), s%pressure(500))
  call fill1(s%density)
  call fill1(s%energy)
  call equation(s, 1.4d0)
  call show('equation', s%pressure)
  call time_step(s, 0.1d0, dt, cell)
  call show('time_step', [dt, real(cell, dp)])
  call tropopause(a, level)
  call show('tropopause', level)
  call radiation(nx, ny, a, b, down, up)
  call show('radiation', up)
  x = a(:, 3)
  call saturation(nx, x, b(:, 4), c(:, 5))
  call show('saturation', x)
  call vorticity(nx, ny, a, b)
  call show('vorticity', b)
  call fill2(square)
  call halo(square, 3, 38, 2)
  call show('halo', square)
  call fill2(d)
  call fill3(bm)
  call element_matrices(50, d, bm, ke)
  call show('element_matrices', ke)
  call fill2(m1)
  call fill2(m2)
  call dgemm_like(33, m1, 40, m2, 40, square, 40, 1.5d0, 0.5d0)
  call show('dgemm_like', square)
  call masked_means(a, b > 0.1d0, mean)
  call show('masked_means', mean)
  allocate(u(300), v(300))
  call fill1(u)
  call fill1(v)
  call wave(u, v, 300, 6)
  call show('wave', v)
  call wave_pointers(m1, m2, 40, 40, 5)
  call show('wave_pointers', m1)
  call fill2(conc)
  call fill1(k)
  do i = 1, 12
    r1(i) = 1 + int(8 * uniform())
    r2(i) = 1 + int(8 * uniform())
    r3(i) = 1 + int(8 * uniform())
  end do
  call chemistry(60, 8, 12, conc, k, r1, r2, r3, 0.01d0)
  call show('chemistry', conc)
  do j = 1, 30
    do i = 1, 30
      spins(i, j) = merge(1, -1, uniform() > 0.4d0)
    end do
  end do
  call show('ising_energy', [ising_energy(spins, 30)])
end program
