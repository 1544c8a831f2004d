! fortran_calls.F90 - calls of MPI in all forms, by four ranks; compiled with
! mpif.h, with -DUSE_MPI, and with -DUSE_F08.
#ifdef USE_F08
#define COMM type(MPI_Comm)
#define DATATYPE type(MPI_Datatype)
#define FILE type(MPI_File)
#define GROUP type(MPI_Group)
#define INFO type(MPI_Info)
#define MESSAGE type(MPI_Message)
#define OP type(MPI_Op)
#define REQUEST type(MPI_Request)
#define WIN type(MPI_Win)
#define STATUS(name) type(MPI_Status) :: name
#define STATUSES(name,n) type(MPI_Status) :: name(n)
#define SOURCE_OF(s) s%MPI_SOURCE
#define TAG_OF(s) s%MPI_TAG
#define TAG_IN(s,i) s(i)%MPI_TAG
#define POINTER type(c_ptr)
#define WITH_MPI use mpi_f08; use, intrinsic :: iso_c_binding, only: c_ptr
#define WITHOUT_MODULE
#else
#define COMM integer
#define DATATYPE integer
#define FILE integer
#define GROUP integer
#define INFO integer
#define MESSAGE integer
#define OP integer
#define REQUEST integer
#define WIN integer
#define POINTER integer(MPI_ADDRESS_KIND)
#define STATUS(name) integer :: name(MPI_STATUS_SIZE)
#define STATUSES(name,n) integer :: name(MPI_STATUS_SIZE, n)
#define SOURCE_OF(s) s(MPI_SOURCE)
#define TAG_OF(s) s(MPI_TAG)
#define TAG_IN(s,i) s(MPI_TAG, i)
#ifdef USE_MPI
#define WITH_MPI use mpi
#define WITHOUT_MODULE
#else
#define WITH_MPI
#define WITHOUT_MODULE include 'mpif.h'
#endif
#endif

! A call that is counted; one in each line.
#define DO_(name) call did(__LINE__, 'name'); call name

module shared
  implicit none
  integer :: rank, size, left, right, ie
end module

! --- point to point ---

subroutine blocking
  WITH_MPI
  use counts
  use shared
  implicit none
  WITHOUT_MODULE
  STATUS(st)
  MESSAGE :: m
  REQUEST :: r
  POINTER :: was
  integer :: a(100), b(100), room(1000), n, at
  logical :: flag

  a = rank
  b = -1
  if (rank == 0) then
     call sent(1, 5, 40)
     DO_(MPI_Send)(a, 10, MPI_INTEGER, 1, 5, MPI_COMM_WORLD, ie)
     DO_(MPI_Buffer_attach)(room, 4000, ie)
     call sent(1, 6, 80)
     DO_(MPI_Bsend)(a, 10, MPI_DOUBLE_PRECISION, 1, 6, MPI_COMM_WORLD, ie)
     DO_(MPI_Buffer_detach)(was, n, ie)
     call result_is('detached', n)
     call sent(1, 7, 4)
     DO_(MPI_Ssend)(a, 1, MPI_INTEGER, 1, 7, MPI_COMM_WORLD, ie)
     DO_(MPI_Barrier)(MPI_COMM_WORLD, ie)
     call sent(1, 8, 8)
     DO_(MPI_Rsend)(a, 2, MPI_INTEGER, 1, 8, MPI_COMM_WORLD, ie)
     call sent(1, 9, 0)
     DO_(MPI_Send)(a, 0, MPI_INTEGER, 1, 9, MPI_COMM_WORLD, ie)
     call sent(1, 10, 12)
     DO_(MPI_Send)(a, 3, MPI_INTEGER, 1, 10, MPI_COMM_WORLD, ie)
     call sent(1, 11, 16)
     DO_(MPI_Send)(a, 4, MPI_INTEGER, 1, 11, MPI_COMM_WORLD, ie)
     call sent(1, 12, 20)
     DO_(MPI_Send)(a, 5, MPI_INTEGER, 1, 12, MPI_COMM_WORLD, ie)
  else if (rank == 1) then
     DO_(MPI_Recv)(b, 100, MPI_INTEGER, 0, 5, MPI_COMM_WORLD, st, ie)
     call result_is('source', SOURCE_OF(st))
     call result_is('tag', TAG_OF(st))
     DO_(MPI_Get_count)(st, MPI_INTEGER, n, ie)
     call result_is('count', n)
     DO_(MPI_Get_elements)(st, MPI_INTEGER, n, ie)
     call result_is('elements', n)
     DO_(MPI_Recv)(b, 100, MPI_INTEGER, MPI_ANY_SOURCE, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ie)
     DO_(MPI_Recv)(b, 100, MPI_INTEGER, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ie)
     DO_(MPI_Irecv)(b, 2, MPI_INTEGER, 0, 8, MPI_COMM_WORLD, r, ie)
     DO_(MPI_Barrier)(MPI_COMM_WORLD, ie)
     DO_(MPI_Wait)(r, st, ie)
     call result_is('wait tag', TAG_OF(st))
     DO_(MPI_Probe)(0, 9, MPI_COMM_WORLD, st, ie)
     DO_(MPI_Recv)(b, 100, MPI_INTEGER, 0, MPI_ANY_TAG, MPI_COMM_WORLD, st, ie)
     call result_is('any tag', TAG_OF(st))
     flag = .false.
     do while (.not. flag)
        DO_(MPI_Iprobe)(0, 10, MPI_COMM_WORLD, flag, st, ie)
     end do
     DO_(MPI_Recv)(b, 100, MPI_INTEGER, 0, 10, MPI_COMM_WORLD, st, ie)
     DO_(MPI_Mprobe)(MPI_ANY_SOURCE, 11, MPI_COMM_WORLD, m, st, ie)
     call result_is('mprobe source', SOURCE_OF(st))
     DO_(MPI_Mrecv)(b, 100, MPI_INTEGER, m, MPI_STATUS_IGNORE, ie)
     flag = .false.
     do while (.not. flag)
        DO_(MPI_Improbe)(0, 12, MPI_COMM_WORLD, flag, m, MPI_STATUS_IGNORE, ie)
     end do
     DO_(MPI_Imrecv)(b, 100, MPI_INTEGER, m, r, ie)
     DO_(MPI_Wait)(r, MPI_STATUS_IGNORE, ie)
  else
     DO_(MPI_Barrier)(MPI_COMM_WORLD, ie)
  end if
  call result_is('received', sum(b(1:5)))
  call sent(right, 20, 40)
  DO_(MPI_Sendrecv)(a, 10, MPI_INTEGER, right, 20, b, 10, MPI_INTEGER, left, 20, MPI_COMM_WORLD, st, ie)
  call result_is('sendrecv', SOURCE_OF(st))
  call sent(left, 21, 40)
  DO_(MPI_Sendrecv_replace)(a, 10, MPI_INTEGER, left, 21, right, 21, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ie)
  call result_is('replaced', a(1))
  DO_(MPI_Send)(a, 10, MPI_INTEGER, MPI_PROC_NULL, 1, MPI_COMM_WORLD, ie)
  DO_(MPI_Recv)(a, 10, MPI_INTEGER, MPI_PROC_NULL, 1, MPI_COMM_WORLD, st, ie)
  call result_is('from nobody', SOURCE_OF(st) - MPI_PROC_NULL)
  at = 0
  DO_(MPI_Pack)(a, 3, MPI_INTEGER, room, 4000, at, MPI_COMM_WORLD, ie)
  call result_is('packed', at)
  call sent(right, 22, at)
  DO_(MPI_Sendrecv)(room, at, MPI_PACKED, right, 22, room(500), 100, MPI_PACKED, left, 22, MPI_COMM_WORLD, st, ie)
  at = 0
  DO_(MPI_Unpack)(room(500), 100, at, b, 3, MPI_INTEGER, MPI_COMM_WORLD, ie)
  call result_is('unpacked', b(3))
end subroutine

subroutine requests
  WITH_MPI
  use counts
  use shared
  implicit none
  WITHOUT_MODULE
  STATUS(st)
  STATUSES(sts,4)
  REQUEST :: r(4), none(4)
  POINTER :: was
  integer :: a(100, 4), b(100, 4), i, n, which(4), done
  logical :: flag

  a = rank
  b = -1
  do i = 1, 4
     DO_(MPI_Irecv)(b(1, i), 100, MPI_INTEGER, left, 30 + i, MPI_COMM_WORLD, r(i), ie)
  end do
  do i = 1, 4
     call sent(right, 30 + i, 4 * i)
     DO_(MPI_Send)(a, i, MPI_INTEGER, right, 30 + i, MPI_COMM_WORLD, ie)
  end do
  DO_(MPI_Waitall)(4, r, sts, ie)
  do i = 1, 4
     call result_is('waitall tag', TAG_IN(sts,i))
  end do

  do i = 1, 4
     DO_(MPI_Irecv)(b(1, i), 100, MPI_INTEGER, left, 30 + i, MPI_COMM_WORLD, r(i), ie)
  end do
  do i = 1, 4
     call sent(right, 30 + i, 4 * i)
     DO_(MPI_Send)(a, i, MPI_INTEGER, right, 30 + i, MPI_COMM_WORLD, ie)
  end do
  n = 0
  do i = 1, 4
     DO_(MPI_Waitany)(4, r, which(1), st, ie)
     n = n + TAG_OF(st) * which(1)
  end do
  call result_is('waitany', n)
  DO_(MPI_Waitany)(4, r, which(1), st, ie)
  call result_is('waitany of none', which(1) - MPI_UNDEFINED)

  do i = 1, 4
     DO_(MPI_Irecv)(b(1, i), 100, MPI_INTEGER, MPI_ANY_SOURCE, 30 + i, MPI_COMM_WORLD, r(i), ie)
  end do
  do i = 1, 4
     call sent(right, 30 + i, 4 * i)
     DO_(MPI_Send)(a, i, MPI_INTEGER, right, 30 + i, MPI_COMM_WORLD, ie)
  end do
  done = 0
  n = 0
  do while (done < 4)
     DO_(MPI_Waitsome)(4, r, i, which, sts, ie)
     done = done + i
     n = n + sum(which(1:i))
  end do
  call result_is('waitsome', n)

  do i = 1, 4
     DO_(MPI_Irecv)(b(1, i), 100, MPI_INTEGER, left, 30 + i, MPI_COMM_WORLD, r(i), ie)
  end do
  do i = 1, 4
     call sent(right, 30 + i, 4 * i)
     DO_(MPI_Send)(a, i, MPI_INTEGER, right, 30 + i, MPI_COMM_WORLD, ie)
  end do
  done = 0
  do while (done < 3)
     DO_(MPI_Testsome)(3, r, i, which, MPI_STATUSES_IGNORE, ie)
     done = done + i
  end do
  flag = .false.
  do while (.not. flag)
     DO_(MPI_Testany)(4, r, i, flag, MPI_STATUS_IGNORE, ie)
  end do
  call result_is('testany', i)

  DO_(MPI_Irecv)(b, 100, MPI_INTEGER, left, 40, MPI_COMM_WORLD, r(1), ie)
  DO_(MPI_Irecv)(b(1, 2), 100, MPI_INTEGER, left, 41, MPI_COMM_WORLD, r(2), ie)
  call sent(right, 40, 40)
  DO_(MPI_Isend)(a, 10, MPI_INTEGER, right, 40, MPI_COMM_WORLD, r(3), ie)
  call sent(right, 41, 44)
  DO_(MPI_Issend)(a, 11, MPI_INTEGER, right, 41, MPI_COMM_WORLD, r(4), ie)
  flag = .false.
  do while (.not. flag)
     DO_(MPI_Testall)(4, r, flag, MPI_STATUSES_IGNORE, ie)
  end do
  call result_is('testall', b(1, 1) + b(1, 2))

  DO_(MPI_Irecv)(b, 100, MPI_INTEGER, left, 42, MPI_COMM_WORLD, r(1), ie)
  DO_(MPI_Irecv)(b(1, 2), 100, MPI_INTEGER, left, 43, MPI_COMM_WORLD, r(2), ie)
  DO_(MPI_Barrier)(MPI_COMM_WORLD, ie)
  call sent(right, 42, 40)
  DO_(MPI_Irsend)(a, 10, MPI_INTEGER, right, 42, MPI_COMM_WORLD, r(3), ie)
  DO_(MPI_Buffer_attach)(a(1, 3), 800, ie)
  call sent(right, 43, 12)
  DO_(MPI_Ibsend)(a, 3, MPI_INTEGER, right, 43, MPI_COMM_WORLD, r(4), ie)
  DO_(MPI_Wait)(r(3), st, ie)
  DO_(MPI_Wait)(r(4), MPI_STATUS_IGNORE, ie)
  DO_(MPI_Buffer_detach)(was, n, ie)
  flag = .false.
  do while (.not. flag)
     DO_(MPI_Request_get_status)(r(1), flag, st, ie)
  end do
  flag = .false.
  do while (.not. flag)
     DO_(MPI_Test)(r(1), flag, st, ie)
  end do
  flag = .false.
  do while (.not. flag)
     DO_(MPI_Test)(r(2), flag, MPI_STATUS_IGNORE, ie)
  end do
  call result_is('test', TAG_OF(st))

  DO_(MPI_Irecv)(b, 100, MPI_INTEGER, left, 99, MPI_COMM_WORLD, r(1), ie)
  DO_(MPI_Cancel)(r(1), ie)
  DO_(MPI_Wait)(r(1), st, ie)
  DO_(MPI_Test_cancelled)(st, flag, ie)
  if (flag) call result_is('cancelled', 1)
  call sent(right, 44, 4)
  DO_(MPI_Isend)(a, 1, MPI_INTEGER, right, 44, MPI_COMM_WORLD, r(1), ie)
  DO_(MPI_Request_free)(r(1), ie)
  DO_(MPI_Recv)(b, 1, MPI_INTEGER, left, 44, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ie)

  ! Where there is nothing to wait for.
  none = MPI_REQUEST_NULL
  DO_(MPI_Wait)(none(1), MPI_STATUS_IGNORE, ie)
  DO_(MPI_Startall)(0, none, ie)
  DO_(MPI_Waitall)(0, none, MPI_STATUSES_IGNORE, ie)
  DO_(MPI_Waitall)(4, none, MPI_STATUSES_IGNORE, ie)
  DO_(MPI_Waitany)(0, none, n, MPI_STATUS_IGNORE, ie)
  call result_is('any of 0', n - MPI_UNDEFINED)
  DO_(MPI_Waitsome)(0, none, n, which, MPI_STATUSES_IGNORE, ie)
  call result_is('some of 0', n - MPI_UNDEFINED)
  DO_(MPI_Testall)(0, none, flag, MPI_STATUSES_IGNORE, ie)
  if (flag) call result_is('all of 0', 1)
  DO_(MPI_Testany)(0, none, n, flag, MPI_STATUS_IGNORE, ie)
  if (flag) call result_is('test any of 0', n - MPI_UNDEFINED)
  DO_(MPI_Testsome)(0, none, n, which, MPI_STATUSES_IGNORE, ie)
  call result_is('test some of 0', n - MPI_UNDEFINED)
end subroutine

subroutine persistent
  WITH_MPI
  use counts
  use shared
  implicit none
  WITHOUT_MODULE
  REQUEST :: r(4)
  integer :: a(10), b(10, 4), i, j, which

  a = rank
  b = 0
  DO_(MPI_Recv_init)(b, 10, MPI_INTEGER, left, 50, MPI_COMM_WORLD, r(1), ie)
  DO_(MPI_Recv_init)(b(1, 2), 10, MPI_INTEGER, MPI_ANY_SOURCE, 51, MPI_COMM_WORLD, r(2), ie)
  DO_(MPI_Send_init)(a, 10, MPI_INTEGER, right, 50, MPI_COMM_WORLD, r(3), ie)
  DO_(MPI_Ssend_init)(a, 5, MPI_INTEGER, right, 51, MPI_COMM_WORLD, r(4), ie)
  do i = 1, 3
     call sent(right, 50, 40)
     call sent(right, 51, 20)
     DO_(MPI_Startall)(4, r, ie)
     DO_(MPI_Waitall)(4, r, MPI_STATUSES_IGNORE, ie)
     call result_is('persistent', sum(b(:, 1:2)))
  end do
  do i = 1, 2
     DO_(MPI_Start)(r(1), ie)
     call sent(right, 50, 40)
     DO_(MPI_Start)(r(3), ie)
     do j = 1, 2
        DO_(MPI_Waitany)(4, r, which, MPI_STATUS_IGNORE, ie)
     end do
  end do
  do i = 1, 4
     DO_(MPI_Request_free)(r(i), ie)
  end do
  DO_(MPI_Rsend_init)(a, 1, MPI_INTEGER, right, 52, MPI_COMM_WORLD, r(1), ie)
  DO_(MPI_Bsend_init)(a, 1, MPI_INTEGER, right, 53, MPI_COMM_WORLD, r(2), ie)
  DO_(MPI_Request_free)(r(1), ie)
  DO_(MPI_Request_free)(r(2), ie)
end subroutine

! --- collectives ---

#ifdef USE_F08
subroutine own_op(in, result, n, datatype)
  use mpi_f08
  use, intrinsic :: iso_c_binding
  type(c_ptr), value :: in, result
  integer :: n
  type(MPI_Datatype) :: datatype
  integer, pointer :: a(:), b(:)
  call c_f_pointer(in, a, (/ n /))
  call c_f_pointer(result, b, (/ n /))
  b = a + b
end subroutine
#else
subroutine own_op(a, b, n, datatype)
  integer :: n, a(n), b(n), datatype
  b = a + b
end subroutine
#endif

subroutine collectives
  WITH_MPI
  use counts
  use shared
  implicit none
  WITHOUT_MODULE
  REQUEST :: r
  OP :: own
  DATATYPE :: types(4)
#ifdef USE_F08
  procedure(MPI_User_function) :: own_op
#else
  external own_op
#endif
  integer :: a(16), b(16), n(4), at(4), i
  logical :: flag

  a = (/ (100 * rank + i, i = 1, 16) /)
  b = 0
  n = (/ 1, 2, 3, 4 /)
  at = (/ 0, 4, 8, 12 /)
  DO_(MPI_Barrier)(MPI_COMM_WORLD, ie)
  DO_(MPI_Bcast)(b, 4, MPI_INTEGER, 2, MPI_COMM_WORLD, ie)
  DO_(MPI_Gather)(a, 4, MPI_INTEGER, b, 4, MPI_INTEGER, 1, MPI_COMM_WORLD, ie)
  call result_is('gather', sum(b))
  if (rank == 1) then
     DO_(MPI_Gather)(MPI_IN_PLACE, 4, MPI_INTEGER, b, 4, MPI_INTEGER, 1, MPI_COMM_WORLD, ie)
  else
     DO_(MPI_Gather)(a, 4, MPI_INTEGER, b, 4, MPI_INTEGER, 1, MPI_COMM_WORLD, ie)
  end if
  call result_is('gather in place', sum(b))
  DO_(MPI_Gatherv)(a, n(rank + 1), MPI_INTEGER, b, n, at, MPI_INTEGER, 0, MPI_COMM_WORLD, ie)
  call result_is('gatherv', sum(b))
  DO_(MPI_Scatter)(a, 4, MPI_INTEGER, b, 4, MPI_INTEGER, 3, MPI_COMM_WORLD, ie)
  call result_is('scatter', sum(b))
  DO_(MPI_Scatterv)(a, n, at, MPI_INTEGER, b, n(rank + 1), MPI_INTEGER, 0, MPI_COMM_WORLD, ie)
  call result_is('scatterv', sum(b))
  DO_(MPI_Allgather)(a, 4, MPI_INTEGER, b, 4, MPI_INTEGER, MPI_COMM_WORLD, ie)
  DO_(MPI_Allgather)(MPI_IN_PLACE, 4, MPI_INTEGER, b, 4, MPI_INTEGER, MPI_COMM_WORLD, ie)
  call result_is('allgather', sum(b))
  DO_(MPI_Allgatherv)(a, n(rank + 1), MPI_INTEGER, b, n, at, MPI_INTEGER, MPI_COMM_WORLD, ie)
  DO_(MPI_Alltoall)(a, 4, MPI_INTEGER, b, 4, MPI_INTEGER, MPI_COMM_WORLD, ie)
  call result_is('alltoall', sum(b))
  n = 2
  DO_(MPI_Alltoallv)(a, n, at, MPI_INTEGER, b, n, at, MPI_INTEGER, MPI_COMM_WORLD, ie)
  call result_is('alltoallv', sum(b))
  at = 4 * at
  types = MPI_INTEGER
  DO_(MPI_Alltoallw)(a, n, at, types, b, n, at, types, MPI_COMM_WORLD, ie)
  call result_is('alltoallw', sum(b))
  DO_(MPI_Reduce)(a, b, 16, MPI_INTEGER, MPI_SUM, 2, MPI_COMM_WORLD, ie)
  call result_is('reduce', sum(b))
  DO_(MPI_Allreduce)(a, b, 16, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, ie)
  DO_(MPI_Allreduce)(MPI_IN_PLACE, b, 16, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ie)
  call result_is('allreduce', sum(b))
  DO_(MPI_Scan)(a, b, 16, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ie)
  call result_is('scan', sum(b))
  b = 0
  DO_(MPI_Exscan)(a, b, 16, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ie)
  call result_is('exscan', sum(b))
  n = 4
  DO_(MPI_Reduce_scatter)(a, b, n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ie)
  call result_is('reduce_scatter', sum(b))
  DO_(MPI_Reduce_scatter_block)(a, b, 4, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ie)
  DO_(MPI_Op_create)(own_op, .true., own, ie)
  DO_(MPI_Op_commutative)(own, flag, ie)
  if (flag) call result_is('commutative', 1)
  DO_(MPI_Allreduce)(a, b, 16, MPI_INTEGER, own, MPI_COMM_WORLD, ie)
  call result_is('own operation', sum(b))
  DO_(MPI_Op_free)(own, ie)
  DO_(MPI_Reduce_local)(a, b, 16, MPI_INTEGER, MPI_SUM, ie)
  call result_is('reduce_local', sum(b))
  DO_(MPI_Ibarrier)(MPI_COMM_WORLD, r, ie)
  DO_(MPI_Wait)(r, MPI_STATUS_IGNORE, ie)
  DO_(MPI_Ibcast)(b, 16, MPI_INTEGER, 0, MPI_COMM_WORLD, r, ie)
  DO_(MPI_Wait)(r, MPI_STATUS_IGNORE, ie)
  DO_(MPI_Iallreduce)(a, b, 16, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, r, ie)
  DO_(MPI_Wait)(r, MPI_STATUS_IGNORE, ie)
  call result_is('iallreduce', sum(b))
  DO_(MPI_Iallgather)(a, 4, MPI_INTEGER, b, 4, MPI_INTEGER, MPI_COMM_WORLD, r, ie)
  DO_(MPI_Wait)(r, MPI_STATUS_IGNORE, ie)
  DO_(MPI_Ialltoall)(a, 4, MPI_INTEGER, b, 4, MPI_INTEGER, MPI_COMM_WORLD, r, ie)
  DO_(MPI_Wait)(r, MPI_STATUS_IGNORE, ie)
  call result_is('ialltoall', sum(b))
  DO_(MPI_Ireduce)(a, b, 16, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, r, ie)
  DO_(MPI_Wait)(r, MPI_STATUS_IGNORE, ie)
  DO_(MPI_Igather)(a, 4, MPI_INTEGER, b, 4, MPI_INTEGER, 0, MPI_COMM_WORLD, r, ie)
  DO_(MPI_Wait)(r, MPI_STATUS_IGNORE, ie)
  DO_(MPI_Iscatter)(a, 4, MPI_INTEGER, b, 4, MPI_INTEGER, 0, MPI_COMM_WORLD, r, ie)
  DO_(MPI_Wait)(r, MPI_STATUS_IGNORE, ie)
  DO_(MPI_Iscan)(a, b, 16, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, r, ie)
  DO_(MPI_Wait)(r, MPI_STATUS_IGNORE, ie)
  call result_is('iscan', sum(b))
end subroutine

! --- communicators ---

subroutine communicators
  WITH_MPI
  use counts
  use shared
  implicit none
  WITHOUT_MODULE
  COMM :: c, half, grid, row, graph, inter, merged
  GROUP :: world, some
  INFO :: i
  STATUS(st)
  integer :: n, key, a(4), neighbours(2), dims(2), at(2)
  integer(MPI_ADDRESS_KIND) :: value, got
  logical :: flag, around(2), own_row(2)
  character(MPI_MAX_OBJECT_NAME) :: name
  character(20) :: text

  DO_(MPI_Comm_dup)(MPI_COMM_WORLD, c, ie)
  DO_(MPI_Comm_set_name)(c, 'a copy  ', ie)
  DO_(MPI_Comm_get_name)(c, name, n, ie)
  call result_is('name '//name(1:n), n)
  DO_(MPI_Comm_compare)(c, MPI_COMM_WORLD, n, ie)
  call result_is('congruent', n - MPI_CONGRUENT)
  DO_(MPI_Comm_create_keyval)(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, key, 0_MPI_ADDRESS_KIND, ie)
  value = 1234
  DO_(MPI_Comm_set_attr)(c, key, value, ie)
  DO_(MPI_Comm_get_attr)(c, key, got, flag, ie)
  if (flag) call result_is('attribute', int(got))
  DO_(MPI_Comm_delete_attr)(c, key, ie)
  DO_(MPI_Comm_get_attr)(c, key, got, flag, ie)
  if (.not. flag) call result_is('no attribute', 1)
  DO_(MPI_Comm_free_keyval)(key, ie)
  DO_(MPI_Comm_get_attr)(MPI_COMM_WORLD, MPI_TAG_UB, got, flag, ie)
  if (flag) call result_is('a highest tag', 1)
  DO_(MPI_Comm_free)(c, ie)

  DO_(MPI_Comm_split)(MPI_COMM_WORLD, mod(rank, 2), -rank, half, ie)
  DO_(MPI_Comm_rank)(half, n, ie)
  call result_is('rank in half', n)
  ! Not in MPI_COMM_WORLD, and so not told of.
  DO_(MPI_Sendrecv)(rank, 1, MPI_INTEGER, 1 - n, 3, a, 1, MPI_INTEGER, 1 - n, 3, half, st, ie)
  call result_is('from half', a(1) * 10 + SOURCE_OF(st))
  DO_(MPI_Intercomm_create)(half, 0, MPI_COMM_WORLD, 3 - mod(rank, 2), 17, inter, ie)
  DO_(MPI_Comm_test_inter)(inter, flag, ie)
  if (flag) call result_is('inter', 1)
  DO_(MPI_Comm_remote_size)(inter, n, ie)
  call result_is('remote', n)
  DO_(MPI_Intercomm_merge)(inter, mod(rank, 2) == 1, merged, ie)
  DO_(MPI_Allreduce)(rank, a, 1, MPI_INTEGER, MPI_SUM, merged, ie)
  call result_is('merged', a(1))
  DO_(MPI_Comm_free)(merged, ie)
  DO_(MPI_Comm_free)(inter, ie)
  DO_(MPI_Comm_free)(half, ie)

  DO_(MPI_Comm_group)(MPI_COMM_WORLD, world, ie)
  DO_(MPI_Group_size)(world, n, ie)
  DO_(MPI_Group_incl)(world, 2, (/ 3, 1 /), some, ie)
  DO_(MPI_Group_rank)(some, n, ie)
  DO_(MPI_Group_translate_ranks)(some, 2, (/ 0, 1 /), world, a, ie)
  call result_is('translated', a(1) * 10 + a(2))
  DO_(MPI_Comm_create)(MPI_COMM_WORLD, some, c, ie)
  if (c /= MPI_COMM_NULL) then
     DO_(MPI_Bcast)(a, 2, MPI_INTEGER, 1, c, ie)
     DO_(MPI_Comm_free)(c, ie)
     DO_(MPI_Comm_create_group)(MPI_COMM_WORLD, some, 8, c, ie)
     DO_(MPI_Barrier)(c, ie)
     DO_(MPI_Comm_free)(c, ie)
  end if
  DO_(MPI_Group_free)(some, ie)
  DO_(MPI_Group_free)(world, ie)
  DO_(MPI_Comm_split_type)(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, c, ie)
  DO_(MPI_Comm_size)(c, n, ie)
  call result_is('on this machine', n)
  DO_(MPI_Comm_free)(c, ie)

  dims = 0
  DO_(MPI_Dims_create)(4, 2, dims, ie)
  call result_is('dims', dims(1) * 10 + dims(2))
  around = (/ .true., .false. /)
  DO_(MPI_Cart_create)(MPI_COMM_WORLD, 2, dims, around, .false., grid, ie)
  DO_(MPI_Cart_coords)(grid, rank, 2, at, ie)
  call result_is('coords', at(1) * 10 + at(2))
  DO_(MPI_Cart_rank)(grid, at, n, ie)
  DO_(MPI_Cart_shift)(grid, 0, 1, a(1), a(2), ie)
  call result_is('shift', a(1) * 10 + a(2))
  DO_(MPI_Cart_get)(grid, 2, dims, around, at, ie)
  if (around(1) .and. .not. around(2)) call result_is('periods', 1)
  own_row = (/ .false., .true. /)
  DO_(MPI_Cart_sub)(grid, own_row, row, ie)
  DO_(MPI_Allreduce)(rank, a, 1, MPI_INTEGER, MPI_SUM, row, ie)
  call result_is('row', a(1))
  DO_(MPI_Topo_test)(grid, n, ie)
  call result_is('cartesian', n - MPI_CART)
  DO_(MPI_Neighbor_allgather)(rank, 1, MPI_INTEGER, a, 1, MPI_INTEGER, grid, ie)
  DO_(MPI_Comm_free)(row, ie)
  DO_(MPI_Comm_free)(grid, ie)
  neighbours = (/ left, right /)
  DO_(MPI_Dist_graph_create_adjacent)(MPI_COMM_WORLD, 2, neighbours, MPI_UNWEIGHTED, 2, neighbours, MPI_UNWEIGHTED, MPI_INFO_NULL, .false., graph, ie)
  DO_(MPI_Neighbor_alltoall)((/ rank, -rank /), 1, MPI_INTEGER, a, 1, MPI_INTEGER, graph, ie)
  call result_is('neighbours', a(1) * 100 + a(2))
  DO_(MPI_Comm_free)(graph, ie)

  DO_(MPI_Info_create)(i, ie)
  DO_(MPI_Info_set)(i, 'a key', ' a value ', ie)
  DO_(MPI_Info_get)(i, 'a key ', 20, text, flag, ie)
  if (flag) call result_is('info '//trim(text), 1)
  DO_(MPI_Info_get_nkeys)(i, n, ie)
  call result_is('keys', n)
  DO_(MPI_Info_delete)(i, 'a key', ie)
  DO_(MPI_Info_free)(i, ie)
end subroutine

! --- datatypes ---

subroutine types
  WITH_MPI
  use counts
  use shared
  implicit none
  WITHOUT_MODULE
  DATATYPE :: t, u, pair(2)
#ifdef USE_F08
  type(MPI_Request) :: part
#endif
  STATUS(st)
  integer, target :: a(100), b(100)
  integer :: n
  integer(MPI_ADDRESS_KIND) :: at(2), extent

  a = rank
  b = 0
  DO_(MPI_Type_contiguous)(3, MPI_INTEGER, t, ie)
  DO_(MPI_Type_commit)(t, ie)
  DO_(MPI_Type_size)(t, n, ie)
  call result_is('size', n)
  call sent(right, 60, 24)
  DO_(MPI_Sendrecv)(a, 2, t, right, 60, b, 2, t, left, 60, MPI_COMM_WORLD, st, ie)
  DO_(MPI_Get_count)(st, t, n, ie)
  call result_is('count of type', n)
  DO_(MPI_Type_dup)(t, u, ie)
  DO_(MPI_Type_free)(u, ie)
  DO_(MPI_Type_free)(t, ie)
  DO_(MPI_Type_vector)(3, 2, 5, MPI_INTEGER, t, ie)
  DO_(MPI_Type_commit)(t, ie)
  call sent(right, 61, 24)
  DO_(MPI_Sendrecv)(a, 1, t, right, 61, b, 6, MPI_INTEGER, left, 61, MPI_COMM_WORLD, st, ie)
  call result_is('vector', sum(b))
  DO_(MPI_Type_free)(t, ie)
  DO_(MPI_Type_indexed)(2, (/ 1, 2 /), (/ 0, 4 /), MPI_INTEGER, t, ie)
  DO_(MPI_Type_get_extent)(t, at(1), extent, ie)
  call result_is('extent', int(extent))
  DO_(MPI_Type_create_resized)(t, 0_MPI_ADDRESS_KIND, 40_MPI_ADDRESS_KIND, u, ie)
  DO_(MPI_Type_free)(u, ie)
  DO_(MPI_Type_free)(t, ie)
  DO_(MPI_Type_create_subarray)(2, (/ 10, 10 /), (/ 2, 3 /), (/ 1, 1 /), MPI_ORDER_FORTRAN, MPI_INTEGER, t, ie)
  DO_(MPI_Type_commit)(t, ie)
  call sent(right, 62, 24)
  DO_(MPI_Sendrecv)(a, 1, t, right, 62, b, 1, t, left, 62, MPI_COMM_WORLD, st, ie)
  DO_(MPI_Type_free)(t, ie)
  ! Addresses, from the bottom of memory.
  DO_(MPI_Get_address)(a(5), at(1), ie)
  DO_(MPI_Get_address)(a(50), at(2), ie)
  call result_is('distance', int(at(2) - at(1)))
  pair = MPI_INTEGER
  DO_(MPI_Type_create_struct)(2, (/ 1, 2 /), at, pair, t, ie)
  DO_(MPI_Type_commit)(t, ie)
  call sent(right, 63, 12)
  DO_(MPI_Sendrecv)(MPI_BOTTOM, 1, t, right, 63, b, 3, MPI_INTEGER, left, 63, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ie)
  call result_is('bottom', sum(b(1:3)))
  DO_(MPI_Bcast)(MPI_BOTTOM, 1, t, 0, MPI_COMM_WORLD, ie)
  DO_(MPI_Type_free)(t, ie)
  DO_(MPI_Type_create_hvector)(2, 1, 8_MPI_ADDRESS_KIND, MPI_INTEGER, t, ie)
  DO_(MPI_Type_free)(t, ie)
  DO_(MPI_Type_match_size)(MPI_TYPECLASS_INTEGER, 4, t, ie)
#ifdef USE_F08
  ! Parts of arrays, of which no copy is made where descriptors are passed.
  if (MPI_SUBARRAYS_SUPPORTED) then
     call sent(right, 64, 40)
     DO_(MPI_Isend)(a(1:20:2), 10, MPI_INTEGER, right, 64, MPI_COMM_WORLD, part)
     DO_(MPI_Recv)(b(1:30:3), 10, MPI_INTEGER, left, 64, MPI_COMM_WORLD, st)
     DO_(MPI_Wait)(part, MPI_STATUS_IGNORE)
     call result_is('part', sum(b(1:30:3)))
  end if
#endif
end subroutine

! --- files and windows ---

subroutine files
  WITH_MPI
  use counts
  use shared
  implicit none
  WITHOUT_MODULE
  FILE :: f
  STATUS(st)
  REQUEST :: r
  integer :: a(10), b(10), n
  integer(MPI_OFFSET_KIND) :: at, bytes

  a = rank
  DO_(MPI_File_open)(MPI_COMM_WORLD, 'a file', MPI_MODE_CREATE + MPI_MODE_RDWR, MPI_INFO_NULL, f, ie)
  at = 40 * rank
  DO_(MPI_File_write_at)(f, at, a, 10, MPI_INTEGER, st, ie)
  DO_(MPI_Get_count)(st, MPI_INTEGER, n, ie)
  call result_is('written', n)
  DO_(MPI_File_sync)(f, ie)
  DO_(MPI_Barrier)(MPI_COMM_WORLD, ie)
  DO_(MPI_File_get_size)(f, bytes, ie)
  call result_is('bytes', int(bytes))
  at = 40 * right
  DO_(MPI_File_read_at_all)(f, at, b, 10, MPI_INTEGER, MPI_STATUS_IGNORE, ie)
  call result_is('read', sum(b))
  DO_(MPI_File_iread_at)(f, at, b, 10, MPI_INTEGER, r, ie)
  DO_(MPI_Wait)(r, st, ie)
  DO_(MPI_File_set_view)(f, 0_MPI_OFFSET_KIND, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL, ie)
  DO_(MPI_File_seek)(f, 2_MPI_OFFSET_KIND, MPI_SEEK_SET, ie)
  DO_(MPI_File_read)(f, b, 1, MPI_INTEGER, MPI_STATUS_IGNORE, ie)
  call result_is('first', b(1))
  DO_(MPI_File_close)(f, ie)
  if (rank == 0) then
     DO_(MPI_File_delete)('a file', MPI_INFO_NULL, ie)
  end if
end subroutine

subroutine windows
  WITH_MPI
  use counts
  use shared
  implicit none
  WITHOUT_MODULE
  WIN :: w
  integer, asynchronous :: memory(10)
  integer :: a(10), b(10)
  integer(MPI_ADDRESS_KIND) :: bytes, at
  logical :: flag

  a = rank + 1
  memory = 0
  bytes = 40
  at = 0
  DO_(MPI_Win_create)(memory, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, w, ie)
  DO_(MPI_Win_fence)(0, w, ie)
  DO_(MPI_Put)(a, 4, MPI_INTEGER, right, at, 4, MPI_INTEGER, w, ie)
  DO_(MPI_Win_fence)(0, w, ie)
  call result_is('put', sum(memory))
  DO_(MPI_Barrier)(MPI_COMM_WORLD, ie)
  DO_(MPI_Accumulate)(a, 4, MPI_INTEGER, left, at, 4, MPI_INTEGER, MPI_SUM, w, ie)
  DO_(MPI_Win_fence)(0, w, ie)
  DO_(MPI_Get)(b, 4, MPI_INTEGER, right, at, 4, MPI_INTEGER, w, ie)
  DO_(MPI_Win_fence)(0, w, ie)
  call result_is('get', sum(b(1:4)))
  DO_(MPI_Win_lock)(MPI_LOCK_SHARED, left, 0, w, ie)
  DO_(MPI_Get)(b, 4, MPI_INTEGER, left, at, 4, MPI_INTEGER, w, ie)
  DO_(MPI_Win_unlock)(left, w, ie)
  DO_(MPI_Win_get_attr)(w, MPI_WIN_DISP_UNIT, at, flag, ie)
  if (flag) call result_is('unit', int(at))
  DO_(MPI_Win_free)(w, ie)
end subroutine

! --- the rest ---

subroutine others
  WITH_MPI
  use counts
  use shared
  implicit none
  WITHOUT_MODULE
  integer :: a, n, class
  logical :: flag
  character(MPI_MAX_PROCESSOR_NAME) :: name
  character(MPI_MAX_ERROR_STRING) :: text

  DO_(MPI_Get_processor_name)(name, n, ie)
  call result_is('machine '//name(1:n), n)
  DO_(MPI_Get_version)(n, a, ie)
  call result_is('version', n * 10 + a)
  DO_(MPI_Initialized)(flag, ie)
  if (flag) call result_is('initialized', 1)
  DO_(MPI_Query_thread)(n, ie)
  call result_is('threads', n - MPI_THREAD_SINGLE)
  DO_(MPI_Comm_set_errhandler)(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ie)
  DO_(MPI_Send)(a, 1, MPI_INTEGER, 77, 1, MPI_COMM_WORLD, ie)
  DO_(MPI_Error_class)(ie, class, n)
  call result_is('a rank that is not there', class - MPI_ERR_RANK)
  DO_(MPI_Error_string)(class, text, n, ie)
  call result_is(text(1:min(n, 20)), n)
  DO_(MPI_Comm_set_errhandler)(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL, ie)
end subroutine

program fortran_calls
  WITH_MPI
  use counts
  use shared
  implicit none
  WITHOUT_MODULE

  DO_(MPI_Init)(ie)
  DO_(MPI_Comm_rank)(MPI_COMM_WORLD, rank, ie)
  DO_(MPI_Comm_size)(MPI_COMM_WORLD, size, ie)
  left = mod(rank + size - 1, size)
  right = mod(rank + 1, size)
  call blocking
  call requests
  call persistent
  call collectives
  call communicators
  call types
  call files
  call windows
  call others
  DO_(MPI_Finalize)(ie)
  call tell(rank)
end program
