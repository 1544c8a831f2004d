! kernels.f90 - the kernels of tests/bench/mpi/kernels.c, as a program in Fortran
! would have them: grids are divided by columns, and sections of arrays are sent.
!
!     kernels KERNEL BLOCKS
!
! Each checks what it computes. The median time of a step is printed by rank 0, in
! nanoseconds.
module kernel
  use mpi_f08
  implicit none
  integer, parameter :: real64 = kind(1d0)
  integer, parameter :: side = 256 ! a multiple of the ranks
  integer :: rank, ranks, columns
contains
  subroutine check(is_right, what)
    logical, intent(in) :: is_right
    character(*), intent(in) :: what
    if (is_right) return
    write (0, '(2a)') 'kernels: ', what
    call MPI_Abort(MPI_COMM_WORLD, 1)
  end subroutine

  ! Columns of a rank, with one more on either side.
  subroutine grid_make(grid)
    real(real64), allocatable, intent(out) :: grid(:, :)
    allocate (grid(side, 0:columns + 1))
    grid = 0
  end subroutine

  subroutine edges_exchange(grid)
    real(real64), asynchronous, intent(in out) :: grid(:, 0:)
    type(MPI_Request) :: requests(4)
    integer :: left, right
    left = merge(rank - 1, MPI_PROC_NULL, rank > 0)
    right = merge(rank + 1, MPI_PROC_NULL, rank + 1 < ranks)
    call MPI_Irecv(grid(:, 0), side, MPI_DOUBLE_PRECISION, left, 1, MPI_COMM_WORLD, &
      requests(1))
    call MPI_Irecv(grid(:, columns + 1), side, MPI_DOUBLE_PRECISION, right, 2, &
      MPI_COMM_WORLD, requests(2))
    call MPI_Isend(grid(:, 1), side, MPI_DOUBLE_PRECISION, left, 2, MPI_COMM_WORLD, &
      requests(3))
    call MPI_Isend(grid(:, columns), side, MPI_DOUBLE_PRECISION, right, 1, &
      MPI_COMM_WORLD, requests(4))
    call MPI_Waitall(4, requests, MPI_STATUSES_IGNORE)
  end subroutine
end module

module stencil
  use kernel
  implicit none
  real(real64), allocatable, private, asynchronous :: now(:, :), next(:, :)
  real(real64), private :: change = huge(0d0)
  integer, private :: sweeps = 0
contains
  subroutine stencil_begin()
    call grid_make(now)
    call grid_make(next)
    if (rank == 0) now(:, 0) = 1 ! nobody sends this one
    if (rank == 0) next(:, 0) = 1
  end subroutine

  subroutine stencil_step()
    real(real64) :: largest
    integer :: x, y
    call edges_exchange(now)
    largest = 0
    do x = 1, columns
      do y = 2, side - 1
        next(y, x) = (now(y, x - 1) + now(y, x + 1) + now(y - 1, x) + now(y + 1, x)) / 4
        largest = max(largest, abs(next(y, x) - now(y, x)))
      end do
    end do
    now(:, 1:columns) = next(:, 1:columns)
    sweeps = sweeps + 1
    if (mod(sweeps, 8) /= 0) return
    call MPI_Allreduce(MPI_IN_PLACE, largest, 1, MPI_DOUBLE_PRECISION, MPI_MAX, &
      MPI_COMM_WORLD)
    call check(largest <= change, 'sweeps do not converge')
    change = largest
  end subroutine
end module

module cg
  use kernel
  implicit none
  real(real64), allocatable, private, asynchronous :: direction(:, :)
  real(real64), allocatable, private :: solution(:, :), residual(:, :), product(:, :)
  real(real64), private :: rho
contains
  real(real64) function dot(a, b)
    real(real64), intent(in) :: a(:, 0:), b(:, 0:)
    dot = sum(a(:, 1:columns) * b(:, 1:columns))
    call MPI_Allreduce(MPI_IN_PLACE, dot, 1, MPI_DOUBLE_PRECISION, MPI_SUM, &
      MPI_COMM_WORLD)
  end function

  subroutine cg_again()
    integer :: x, y
    solution = 0
    do x = 1, columns
      do y = 1, side
        residual(y, x) = 1 + mod(x * side + y, 7)
      end do
    end do
    direction(:, 1:columns) = residual(:, 1:columns)
    rho = dot(residual, residual)
  end subroutine

  subroutine cg_begin()
    call grid_make(solution)
    call grid_make(residual)
    call grid_make(direction)
    call grid_make(product)
    call cg_again()
  end subroutine

  subroutine laplacian()
    integer :: x
    do x = 1, columns
      product(:, x) = 4 * direction(:, x) - direction(:, x - 1) - direction(:, x + 1)
      product(2:, x) = product(2:, x) - direction(:side - 1, x)
      product(:side - 1, x) = product(:side - 1, x) - direction(2:, x)
    end do
  end subroutine

  subroutine cg_step()
    real(real64) :: alpha, before
    before = rho
    call edges_exchange(direction)
    call laplacian()
    alpha = rho / dot(direction, product)
    call check(alpha > 0, 'the matrix is not positive')
    solution(:, 1:columns) = solution(:, 1:columns) + alpha * direction(:, 1:columns)
    residual(:, 1:columns) = residual(:, 1:columns) - alpha * product(:, 1:columns)
    rho = dot(residual, residual)
    direction(:, 1:columns) = residual(:, 1:columns) + rho / before * direction(:, 1:columns)
    if (rho < 1d-6) call cg_again()
  end subroutine
end module

module alltoall
  use kernel
  implicit none
  real(real64), allocatable, private :: matrix(:, :), packed(:, :, :), arrived(:, :, :)
  logical, private :: is_turned = .false.
contains
  subroutine alltoall_begin()
    integer :: x, y
    allocate (matrix(side, columns), packed(columns, columns, ranks), &
      arrived(columns, columns, ranks))
    do x = 1, columns
      do y = 1, side
        matrix(y, x) = (rank * columns + x) * side + y
      end do
    end do
  end subroutine

  subroutine alltoall_step()
    integer :: other, own, x, y
    do other = 1, ranks
      packed(:, :, other) = transpose(matrix((other - 1) * columns + 1:other * columns, :))
    end do
    call MPI_Alltoall(packed, columns * columns, MPI_DOUBLE_PRECISION, arrived, &
      columns * columns, MPI_DOUBLE_PRECISION, MPI_COMM_WORLD)
    do other = 1, ranks
      matrix((other - 1) * columns + 1:other * columns, :) = arrived(:, :, other)
    end do
    is_turned = .not. is_turned
    do x = 1, columns, 17
      own = rank * columns + x
      do y = 1, side, 13
        call check(nint(matrix(y, x)) == merge(y * side + own, own * side + y, is_turned), &
          'the matrix is not what it should be')
      end do
    end do
  end subroutine
end module

module wavefront
  use kernel
  implicit none
  integer, parameter, private :: piece = 32 ! rows; side is a multiple
  real(real64), allocatable, private :: table(:, :)
contains
  subroutine wavefront_begin()
    call grid_make(table)
  end subroutine

  ! A cell is one more than the larger of the two that it needs.
  subroutine wavefront_step()
    real(real64) :: above
    integer :: from, x, y
    do from = 1, side, piece
      if (rank > 0) call MPI_Recv(table(from:from + piece - 1, 0), piece, &
        MPI_DOUBLE_PRECISION, rank - 1, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
      do x = 1, columns
        do y = from, from + piece - 1
          above = 0
          if (y > 1) above = table(y - 1, x)
          table(y, x) = 1 + max(above, table(y, x - 1))
        end do
      end do
      if (rank + 1 < ranks) call MPI_Send(table(from:from + piece - 1, columns), piece, &
        MPI_DOUBLE_PRECISION, rank + 1, 6, MPI_COMM_WORLD)
    end do
    call check(nint(table(side, columns)) == (rank + 1) * columns + side - 1, &
      'the last cell is wrong')
  end subroutine
end module

module workers
  use kernel
  implicit none
  integer, parameter, private :: pieces = 16, terms = 20000
contains
  real(real64) function piece_of(number)
    integer, intent(in) :: number
    integer :: i
    piece_of = 0
    do i = 0, terms - 1
      piece_of = piece_of + 1 / (1 + real(number, real64) * terms + i)
    end do
  end function

  subroutine give_out()
    real(real64) :: total, one
    integer :: left, busy, number
    type(MPI_Status) :: status
    total = 0
    left = pieces
    busy = ranks - 1
    do while (busy > 0)
      call MPI_Recv(one, 1, MPI_DOUBLE_PRECISION, MPI_ANY_SOURCE, MPI_ANY_TAG, &
        MPI_COMM_WORLD, status)
      if (status%MPI_TAG == 1) total = total + one
      number = -1
      if (left > 0) then
        left = left - 1
        number = left
      else
        busy = busy - 1
      end if
      call MPI_Send(number, 1, MPI_INTEGER, status%MPI_SOURCE, 3, MPI_COMM_WORLD)
    end do
    call check(abs(total - log(real(pieces * terms, real64)) - 0.57721566d0) < 1d-4, &
      'the sum of the pieces is wrong')
  end subroutine

  subroutine work()
    real(real64) :: one
    integer :: number, tag
    one = 0
    tag = 2 ! it has nothing yet
    do
      call MPI_Send(one, 1, MPI_DOUBLE_PRECISION, 0, tag, MPI_COMM_WORLD)
      call MPI_Recv(number, 1, MPI_INTEGER, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
      if (number < 0) return
      one = piece_of(number)
      tag = 1
    end do
  end subroutine

  subroutine workers_step()
    if (rank == 0) then
      call give_out()
    else
      call work()
    end if
    call MPI_Barrier(MPI_COMM_WORLD)
  end subroutine
end module

program kernels
  use stencil
  use cg
  use alltoall
  use wavefront
  use workers
  implicit none
  character(20) :: name, text
  integer :: blocks, i, k, steps = 0
  real(real64) :: start
  real(real64), allocatable :: times(:)

  call get_command_argument(1, name)
  call get_command_argument(2, text)
  read (text, *) blocks
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call check(ranks > 1 .and. mod(side, ranks) == 0, 'not for that many ranks')
  columns = side / ranks
  select case (name)
  case ('stencil')
    call stencil_begin()
    steps = 40
  case ('cg')
    call cg_begin()
    steps = 20
  case ('alltoall')
    call alltoall_begin()
    steps = 15
  case ('wavefront')
    call wavefront_begin()
    steps = 10
  case ('workers')
    steps = 5
  case default
    call check(.false., 'there is no such kernel')
  end select
  allocate (times(blocks))
  do i = -1, blocks ! two to warm up
    start = MPI_Wtime()
    do k = 1, steps
      select case (name)
      case ('stencil')
        call stencil_step()
      case ('cg')
        call cg_step()
      case ('alltoall')
        call alltoall_step()
      case ('wavefront')
        call wavefront_step()
      case ('workers')
        call workers_step()
      end select
    end do
    if (i > 0) times(i) = (MPI_Wtime() - start) * 1d9 / steps
  end do
  if (rank == 0) print '(f0.1)', median(times)
  call MPI_Barrier(MPI_COMM_WORLD) ! see kernels.c
  call MPI_Finalize()
contains
  real(real64) function median(list)
    real(real64), intent(in) :: list(:)
    integer :: m
    median = list(1)
    do m = 1, size(list)
      if (count(list < list(m)) <= size(list) / 2 .and. &
          count(list <= list(m)) > size(list) / 2) median = list(m)
    end do
  end function
end program
