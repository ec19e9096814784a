! Arrays in one COMMON block with bounds that are arguments or in another block, and maxima in a dummy argument and in an element.
! ARGS: 40 38
! ARGS: 7 38
! ARGS: 1 1
! OFFLOAD: yes
! KERNELS: doubled_ halved_ _QQmain
subroutine doubled(m, n)
  integer :: m, n, i, j
  real(8) :: a(40,38), b(40,38)
  common /fields/ a, b
  do j = 1, n
    do i = 1, m
      b(i,j) = 2*a(i,j)
    end do
  end do
end subroutine
subroutine halved
  integer :: m, n, i, j
  real(8) :: a(40,38), b(40,38)
  common /fields/ a, b
  common /sizes/ m, n
  do j = 1, n
    do i = 1, m
      a(i,j) = a(i,j) - b(i,j)/2 + i
    end do
  end do
end subroutine
subroutine norm(n, a, r)
  integer :: n, i
  real(8) :: a(n), r
  r = 0
  do i = 1, n
    r = max(r, abs(a(i)))
  end do
end subroutine
subroutine element(n, a, r)
  integer :: n, i
  real(8) :: a(n), r(2)
  r(1) = 1e30
  do i = 1, n
    r(1) = min(r(1), a(i))
  end do
end subroutine
program common_blocks
  integer :: m, n, i, j
  real(8) :: a(40,38), b(40,38), r(3)
  character(len=16) :: word
  common /fields/ a, b
  common /sizes/ m, n
  call get_command_argument(1, word)
  read(word, *) m
  call get_command_argument(2, word)
  read(word, *) n
  do j = 1, 38
    do i = 1, 40
      a(i,j) = mod(i*7 + j*3, 11) - 5.5d0
      b(i,j) = 1
    end do
  end do
  call doubled(m, n)
  call halved
  call norm(40*38, b, r(3))
  call element(40*38, a, r)
  print '(3(es24.16))', sum(a), r(1), r(3)
  print '(2(es24.16))', b(1,1), b(m,n)
end program
