! What the programs in Fortran share: random data, and one line for each loop with a hash of what it wrote. The same numbers come in every run.
module data
  use iso_fortran_env, only: int64, real64
  implicit none
  integer(int64), private :: state = 88172645463325252_int64
  interface show
    module procedure show1, show2, show3, show_integers
  end interface
contains
  real(real64) function uniform()
    state = ieor(state, ishft(state, 13))
    state = ieor(state, ishft(state, -7))
    state = ieor(state, ishft(state, 17))
    uniform = real(ishft(state, -11), real64) * 2.0_real64**(-53)
  end function

  subroutine fill1(a)
    real(real64), intent(out) :: a(:)
    integer :: i
    do i = 1, size(a)
      a(i) = 0.5d0 + uniform()
    end do
  end subroutine

  subroutine fill2(a)
    real(real64), intent(out) :: a(:, :)
    integer :: j
    do j = 1, size(a, 2)
      call fill1(a(:, j))
    end do
  end subroutine

  subroutine fill3(a)
    real(real64), intent(out) :: a(:, :, :)
    integer :: k
    do k = 1, size(a, 3)
      call fill2(a(:, :, k))
    end do
  end subroutine

  integer(int64) function mixed(h, x)
    integer(int64), intent(in) :: h
    real(real64), intent(in) :: x
    mixed = ieor(ishftc(h, 7), transfer(x, h))
  end function

  subroutine show1(name, a)
    character(*), intent(in) :: name
    real(real64), intent(in) :: a(:)
    integer(int64) :: h
    integer :: i
    h = 1234567_int64
    do i = 1, size(a)
      h = mixed(h, a(i))
    end do
    print '(a, 1x, z16.16)', name, h
  end subroutine

  subroutine show2(name, a)
    character(*), intent(in) :: name
    real(real64), intent(in) :: a(:, :)
    call show1(name, reshape(a, [size(a)]))
  end subroutine

  subroutine show3(name, a)
    character(*), intent(in) :: name
    real(real64), intent(in) :: a(:, :, :)
    call show1(name, reshape(a, [size(a)]))
  end subroutine

  subroutine show_integers(name, a)
    character(*), intent(in) :: name
    integer, intent(in) :: a(:)
    call show1(name, real(a, real64))
  end subroutine
end module
