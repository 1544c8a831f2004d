! fortran_counts.f90 - what a program of these tests says of itself: which calls
! it has made in which line, and which messages it has sent. Each rank writes
! that, and what it has computed, into files of its own.
module counts
  implicit none
  integer, parameter, private :: most = 4000
  integer, private :: messages = 0, results = 0
  integer, private :: calls(most) = 0 ! by line
  integer, private :: message_parts(3, most), numbers(most)
  character(40), private :: names(most), texts(most)
contains
  ! A call that comes next.
  subroutine did(line, name)
    integer, intent(in) :: line
    character(*), intent(in) :: name
    calls(line) = calls(line) + 1
    names(line) = name
  end subroutine

  ! A message that the next call sends, in MPI_COMM_WORLD.
  subroutine sent(to, tag, bytes)
    integer, intent(in) :: to, tag, bytes
    messages = messages + 1
    message_parts(:, messages) = (/ to, tag, bytes /)
  end subroutine

  ! What must not depend on being recorded.
  subroutine result_is(text, number)
    character(*), intent(in) :: text
    integer, intent(in) :: number
    results = results + 1
    texts(results) = text
    numbers(results) = number
  end subroutine

  subroutine tell(rank)
    integer, intent(in) :: rank
    integer :: i
    character(8) :: number
    write (number, '(i0)') rank
    open (11, file='calls.'//trim(number))
    do i = 1, most
       if (calls(i) > 0) write (11, '(a,2(1x,i0))') trim(names(i)), i, calls(i)
    end do
    close (11)
    open (11, file='messages.'//trim(number))
    write (11, '(i0,1x,i0,1x,i0)') (message_parts(:, i), i = 1, messages)
    close (11)
    open (11, file='results.'//trim(number))
    write (11, '(a,1x,i0)') (trim(texts(i)), numbers(i), i = 1, results)
    close (11)
  end subroutine
end module
