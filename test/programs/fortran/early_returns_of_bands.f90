! A band matrix is factorised with pivots; where one is zero the subroutine returns with its number, which a loop before that computes, too.
! ARGS: 60 3 2
! ARGS: 17 1 4
! ARGS: 40 2 2 23
! ARGS: 9 0 0
! OFFLOAD: yes
module bands
  implicit none
contains
  subroutine factorise(n, ml, mu, a, pivot, info)
    integer, intent(in) :: n, ml, mu
    real(8), intent(inout) :: a(2*ml+mu+1, n)
    integer, intent(out) :: pivot(n), info
    integer :: j, k, l, lm, m, mm, ju, jz
    real(8) :: temp
    m = ml + mu + 1
    info = 0
    do jz = mu + 2, min(n, m) - 1
      a(m+1-jz:ml, jz) = 0
    end do
    jz = min(n, m) - 1
    ju = 0
    do k = 1, n - 1
      jz = jz + 1
      if (jz <= n) a(1:ml, jz) = 0
      lm = min(ml, n - k)
      l = m
      do j = m + 1, m + lm
        if (abs(a(l, k)) < abs(a(j, k))) l = j
      end do
      pivot(k) = l + k - m
      if (a(l, k) == 0) then
        info = k
        return
      end if
      if (l /= m) then
        temp = a(l, k)
        a(l, k) = a(m, k)
        a(m, k) = temp
      end if
      a(m+1:m+lm, k) = -a(m+1:m+lm, k) / a(m, k)
      ju = min(max(ju, mu + pivot(k)), n)
      mm = m
      do j = k + 1, ju
        l = l - 1
        mm = mm - 1
        if (l /= mm) then
          temp = a(l, j)
          a(l, j) = a(mm, j)
          a(mm, j) = temp
        end if
        a(mm+1:mm+lm, j) = a(mm+1:mm+lm, j) + a(mm, j) * a(m+1:m+lm, k)
      end do
    end do
    pivot(n) = n
    if (a(m, n) == 0) info = n
  end subroutine
end module

program early_returns_of_bands
  use bands
  implicit none
  character(20) :: word
  integer :: n, ml, mu, zero, i, j, info
  real(8), allocatable :: a(:, :)
  integer, allocatable :: pivot(:)
  n = argument(1)
  ml = argument(2)
  mu = argument(3)
  zero = argument(4)
  allocate (a(2*ml+mu+1, n), pivot(n))
  pivot = 0
  do j = 1, n
    do i = 1, 2*ml + mu + 1
      a(i, j) = mod(i * 37 + j * 61 + i * j * 13, 101) - 50.5d0
    end do
    if (j >= zero .and. j < zero + ml + mu + 1) a(:, j) = 0
  end do
  call factorise(n, ml, mu, a, pivot, info)
  print *, info
  print *, pivot
  do j = 1, n
    print *, a(:, j)
  end do
contains
  integer function argument(k)
    integer, intent(in) :: k
    argument = 1000000
    if (command_argument_count() < k) return
    call get_command_argument(k, word)
    read (word, *) argument
  end function
end program
