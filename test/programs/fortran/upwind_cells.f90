! Donor cells: the sign of a flow chooses among a cell's neighbours, in rows and in columns of arrays whose bounds are arguments. What is chosen is between
! sums of a counter that do not wrap for these bounds.
! ARGS: 2 9 2 7
! ARGS: -3 20 5 38
! ARGS: 1 1 1 1
! OFFLOAD: yes
! KERNELS: _QMdonorsPalong_rows _QMdonorsPalong_columns _QMdonorsPalong_either
module donors
  implicit none
contains
  subroutine along_rows(x_min, x_max, y_min, y_max, width, density, flow, volume, moved)
    integer, intent(in) :: x_min, x_max, y_min, y_max
    real(8), intent(in) :: width(x_min-2:x_max+3)
    real(8), intent(in), dimension(x_min-2:x_max+2, y_min-2:y_max+2) :: density
    real(8), intent(in), dimension(x_min-2:x_max+3, y_min-2:y_max+2) :: flow
    real(8), intent(in), dimension(x_min-2:x_max+3, y_min-2:y_max+3) :: volume
    real(8), intent(inout), dimension(x_min-2:x_max+3, y_min-2:y_max+2) :: moved
    integer :: j, k, up, donor, down, other
    real(8) :: share, before, behind
    do k = y_min, y_max
      do j = x_min, x_max + 2
        if (flow(j, k) > 0.0d0) then
          up = j - 2
          donor = j - 1
          down = j
          other = donor
        else
          up = min(j + 1, x_max + 2)
          donor = j
          down = j - 1
          other = up
        end if
        share = abs(flow(j, k)) / volume(donor, k) * (width(j) / width(other))
        before = density(donor, k) - density(up, k)
        behind = density(down, k) - density(donor, k)
        moved(j, k) = flow(j, k) * (density(donor, k) + 0.5d0 * (1.0d0 - share) * (behind - before))
      end do
    end do
  end subroutine

  subroutine along_columns(x_min, x_max, y_min, y_max, height, density, flow, volume, moved)
    integer, intent(in) :: x_min, x_max, y_min, y_max
    real(8), intent(in) :: height(y_min-2:y_max+3)
    real(8), intent(in), dimension(x_min-2:x_max+2, y_min-2:y_max+2) :: density
    real(8), intent(in), dimension(x_min-2:x_max+2, y_min-2:y_max+3) :: flow
    real(8), intent(in), dimension(x_min-2:x_max+3, y_min-2:y_max+3) :: volume
    real(8), intent(inout), dimension(x_min-2:x_max+2, y_min-2:y_max+3) :: moved
    integer :: j, k, up, donor, down
    do k = y_min, y_max + 2
      do j = x_min, x_max
        if (flow(j, k) > 0.0d0) then
          up = k - 2
          donor = k - 1
          down = k
        else
          up = min(k + 1, y_max + 2)
          donor = k
          down = k - 1
        end if
        moved(j, k) = flow(j, k) / volume(j, donor) * (height(k) / height(donor)) &
          * (density(j, donor) + 0.25d0 * (density(j, up) - density(j, down)))
      end do
    end do
  end subroutine

  ! Which way is told by numbers that are unequal, one way or the other: no condition on them belongs to the view of an array.
  subroutine along_either(way, rows, columns, x_min, x_max, y_min, y_max, width, density, flow, volume, moved)
    integer, intent(in) :: way, rows, columns, x_min, x_max, y_min, y_max
    real(8), intent(in) :: width(x_min-2:x_max+3)
    real(8), intent(in), dimension(x_min-2:x_max+2, y_min-2:y_max+2) :: density
    real(8), intent(in), dimension(x_min-2:x_max+3, y_min-2:y_max+3) :: flow
    real(8), intent(inout), dimension(x_min-2:x_max+3, y_min-2:y_max+3) :: volume
    real(8), intent(inout), dimension(x_min-2:x_max+3, y_min-2:y_max+2) :: moved
    integer :: j, k, donor, up
    if (way == rows) then
      do k = y_min - 2, y_max + 2
        do j = x_min - 2, x_max + 2
          volume(j, k) = volume(j, k) + 0.125d0 * (flow(j + 1, k) - flow(j, k))
        end do
      end do
    else if (way == columns) then
      do k = y_min - 2, y_max + 2
        do j = x_min - 2, x_max + 2
          volume(j, k) = volume(j, k) + 0.125d0 * (flow(j, k + 1) - flow(j, k))
        end do
      end do
      do k = y_min, y_max + 2
        do j = x_min, x_max
          if (flow(j, k) > 0.0d0) then
            donor = k - 1
            up = k - 2
          else
            donor = k
            up = min(k + 1, y_max + 2)
          end if
          moved(j, k) = flow(j, k) / volume(j, donor) * (density(j, donor) - 0.25d0 * density(j, up))
        end do
      end do
      do k = y_min, y_max
        do j = x_min, x_max
          volume(j, k) = volume(j, k) + width(j) * (moved(j, k) - moved(j, k + 1))
        end do
      end do
    end if
  end subroutine
end module

program main
  use donors
  implicit none
  character(32) :: text
  integer :: x0, x1, y0, y1
  real(8), allocatable :: width(:), height(:), density(:, :), along(:, :), across(:, :), volume(:, :), &
    moved(:, :), lifted(:, :), &
    swept(:, :), field(:, :)
  call get_command_argument(1, text)
  read (text, *) x0
  call get_command_argument(2, text)
  read (text, *) x1
  call get_command_argument(3, text)
  read (text, *) y0
  call get_command_argument(4, text)
  read (text, *) y1
  allocate (width(x0-2:x1+3), height(y0-2:y1+3), density(x0-2:x1+2, y0-2:y1+2), along(x0-2:x1+3, y0-2:y1+2), &
    across(x0-2:x1+2, y0-2:y1+3), volume(x0-2:x1+3, y0-2:y1+3), moved(x0-2:x1+3, y0-2:y1+2), &
    lifted(x0-2:x1+2, y0-2:y1+3), swept(x0-2:x1+3, y0-2:y1+2), field(x0-2:x1+3, y0-2:y1+3))
  call fill(width, size(width), 1.0d0)
  call fill(height, size(height), 1.0d0)
  call fill(density, size(density), 1.0d0)
  call fill(along, size(along), -0.5d0)
  call fill(across, size(across), -0.5d0)
  call fill(volume, size(volume), 2.0d0)
  call fill(field, size(field), -0.5d0)
  moved = 0.0d0
  swept = 0.0d0
  lifted = 0.0d0
  call along_rows(x0, x1, y0, y1, width, density, along, volume, moved)
  call along_columns(x0, x1, y0, y1, height, density, across, volume, lifted)
  call along_either(2, 1, 2, x0, x1, y0, y1, width, density, field, volume, swept)
  call along_either(3, 5, 3, x0, x1, y0, y1, width, density, field, volume, swept)
  call along_either(1, 1, 2, x0, x1, y0, y1, width, density, field, volume, swept)
  print *, moved
  print *, lifted
  print *, swept
  print *, volume
contains
  subroutine fill(a, n, low)
    integer, intent(in) :: n
    real(8), intent(out) :: a(n)
    real(8), intent(in) :: low
    integer, save :: seed = 12345
    integer :: i
    do i = 1, n
      seed = mod(seed * 75 + 74, 65537)
      a(i) = low + seed / 65537.0d0
    end do
  end subroutine
end program
