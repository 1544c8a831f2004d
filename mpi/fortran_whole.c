/* fortran_whole.c - calls of Fortran that do not always come to their function
 * of C (fortran.c), and so are recorded here.
 *
 * Some of a binding never do, as what they are about differs in Fortran:
 * attributes and handlers of errors; or the function of C has been removed. The
 * others do not if there is nothing to wait for. None of them has a peer or
 * bytes. All have at most six arguments, which are addresses: for those that
 * have fewer, more are passed on than there are, which nobody looks at. */
#include "mpi/interpose.h"
#include "mpi/words.h"

#define ARGUMENTS 6

typedef void binding(void *, void *, void *, void *, void *, void *);

extern char mpi__way_open[] __attribute__((visibility("hidden")));

static void pass(mpi_way *way, void *const a[ARGUMENTS])
{
    ((binding *)mpi__way_to(way))(a[0], a[1], a[2], a[3], a[4], a[5]);
}

/* `error` is the address of ierror, which programs may leave out. */
static void whole(mpi_way *way, const void *from, void *const a[ARGUMENTS],
                  const MPI_Fint *error)
{
    mpi_call call;
    bool is_on = mpi__call_begin(&call, way->number, from);

    pass(way, a);
    if (is_on) {
        mpi__call_end(&call);
        mpi__note_local(&call, error ? *error : MPI_SUCCESS, 0);
        mpi__call_leave(&call);
    }
}

/* With `count` arguments, of which the last is ierror. */
#define SYMBOL(call, symbol, count, before)                                    \
    void symbol(void *, void *, void *, void *, void *, void *);               \
    __attribute__((visibility("default"))) void symbol(                        \
        void *a0, void *a1, void *a2, void *a3, void *a4, void *a5)            \
    {                                                                          \
        static mpi_way way = {mpi__way_open, #symbol, MPI__CALL_##call};       \
        void *const a[ARGUMENTS] = {a0, a1, a2, a3, a4, a5};                   \
        before(call)                                                           \
            whole(&way, __builtin_return_address(0), a, a[(count)-1]);         \
    }
#define BOTH(call, name, count, before)                                        \
    SYMBOL(call, name##_, count, before)                                       \
    SYMBOL(call, name##_f08_, count, before)

#define ALWAYS(call)
/* Else it comes to C, by the note. */
#define WITHOUT_REQUESTS(call)                                                 \
    if (*(const MPI_Fint *)a0 > 0) {                                           \
        extern const mpi_way mpi__way_P##call                                  \
            __attribute__((visibility("hidden")));                             \
        mpi__note = (mpi_note){&mpi__way_P##call,                              \
                               (uintptr_t)__builtin_return_address(0)};        \
        pass(&way, a);                                                         \
        return;                                                                \
    }

BOTH(MPI_Attr_get, mpi_attr_get, 5, ALWAYS)
BOTH(MPI_Attr_put, mpi_attr_put, 4, ALWAYS)
BOTH(MPI_Comm_create_errhandler, mpi_comm_create_errhandler, 3, ALWAYS)
BOTH(MPI_Comm_create_keyval, mpi_comm_create_keyval, 5, ALWAYS)
BOTH(MPI_Comm_get_attr, mpi_comm_get_attr, 5, ALWAYS)
BOTH(MPI_Comm_set_attr, mpi_comm_set_attr, 4, ALWAYS)
BOTH(MPI_File_create_errhandler, mpi_file_create_errhandler, 3, ALWAYS)
BOTH(MPI_Keyval_create, mpi_keyval_create, 5, ALWAYS)
BOTH(MPI_Type_create_keyval, mpi_type_create_keyval, 5, ALWAYS)
BOTH(MPI_Type_get_attr, mpi_type_get_attr, 5, ALWAYS)
BOTH(MPI_Type_match_size, mpi_type_match_size, 4, ALWAYS)
BOTH(MPI_Type_set_attr, mpi_type_set_attr, 4, ALWAYS)
BOTH(MPI_Win_create_errhandler, mpi_win_create_errhandler, 3, ALWAYS)
BOTH(MPI_Win_create_keyval, mpi_win_create_keyval, 5, ALWAYS)
BOTH(MPI_Win_get_attr, mpi_win_get_attr, 5, ALWAYS)
BOTH(MPI_Win_set_attr, mpi_win_set_attr, 4, ALWAYS)

BOTH(MPI_Testall, mpi_testall, 5, WITHOUT_REQUESTS)
BOTH(MPI_Testany, mpi_testany, 6, WITHOUT_REQUESTS)
BOTH(MPI_Testsome, mpi_testsome, 6, WITHOUT_REQUESTS)
BOTH(MPI_Waitall, mpi_waitall, 4, WITHOUT_REQUESTS)
BOTH(MPI_Waitany, mpi_waitany, 5, WITHOUT_REQUESTS)
BOTH(MPI_Waitsome, mpi_waitsome, 6, WITHOUT_REQUESTS)

#ifdef OPEN_MPI
SYMBOL(MPI_Address, mpi_address_, 3, ALWAYS)
SYMBOL(MPI_Errhandler_create, mpi_errhandler_create_, 3, ALWAYS)
SYMBOL(MPI_Errhandler_get, mpi_errhandler_get_, 3, ALWAYS)
SYMBOL(MPI_Errhandler_set, mpi_errhandler_set_, 3, ALWAYS)
SYMBOL(MPI_Type_extent, mpi_type_extent_, 3, ALWAYS)
SYMBOL(MPI_Type_hindexed, mpi_type_hindexed_, 6, ALWAYS)
SYMBOL(MPI_Type_hvector, mpi_type_hvector_, 6, ALWAYS)
SYMBOL(MPI_Type_lb, mpi_type_lb_, 3, ALWAYS)
SYMBOL(MPI_Type_struct, mpi_type_struct_, 6, ALWAYS)
SYMBOL(MPI_Type_ub, mpi_type_ub_, 3, ALWAYS)
#endif
