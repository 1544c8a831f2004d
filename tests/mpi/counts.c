/* counts.c - a program of MPI that makes nearly all calls there are, and counts
 * them; for counts_test.mjs.
 *
 *     counts FOLDER
 *
 * Which it has made is in FOLDER (counting.h). On its output is only what does
 * not depend on who was faster. */
#include <unistd.h>

#include "counting.h"

static int to, from; /* neighbors in a ring */

enum { TAG = 7 };

static long sum; /* of all that was received */

#define DO(name, ...) done_with(#name, name(__VA_ARGS__), -1)
#define WAIT(request) DO(MPI_Wait, request, MPI_STATUS_IGNORE)
#define SENT(count) note_sent(to, (count) * (long)sizeof(int))
#define RECEIVED(count) note_received(from, (count) * (long)sizeof(int))

static int x[64], y[64], z[64], w[64];

static void add(const int *numbers, int count)
{
    for (int i = 0; i < count; i++)
        sum = sum * 31 + numbers[i];
}

/* --- point to point --- */

static void blocking(MPI_Comm comm)
{
    MPI_Request q, two[2];
    int flag = 0;

    DO(MPI_Isend, x, 3, MPI_INT, to, TAG, comm, &q);
    DO(MPI_Recv, y, 64, MPI_INT, from, TAG, comm, MPI_STATUS_IGNORE);
    WAIT(&q);
    DO(MPI_Irecv, y, 64, MPI_INT, MPI_ANY_SOURCE, TAG, comm, &q);
    DO(MPI_Send, x, 4, MPI_INT, to, TAG, comm);
    WAIT(&q);
    DO(MPI_Irecv, y, 64, MPI_INT, from, MPI_ANY_TAG, comm, &q);
    DO(MPI_Ssend, x, 5, MPI_INT, to, TAG, comm);
    while (!flag)
        DO(MPI_Test, &q, &flag, MPI_STATUS_IGNORE);
    SENT(12), RECEIVED(0);
    sent[to].messages += 2, received[from].messages += 2;
    received[from].bytes += 12 * 4;
    for (int i = 0; i < 2; i++) {
        DO(MPI_Irecv, y, 64, MPI_INT, from, TAG, comm, &two[0]);
        DO(MPI_Barrier, comm);
        if (i)
            DO(MPI_Irsend, x, 6, MPI_INT, to, TAG, comm, &two[1]);
        else
            DO(MPI_Rsend, x, 6, MPI_INT, to, TAG, comm),
                two[1] = MPI_REQUEST_NULL;
        DO(MPI_Waitall, 2, two, MPI_STATUSES_IGNORE);
        SENT(6), RECEIVED(6);
    }
    add(y, 6);
}

static void buffered(MPI_Comm comm)
{
    static char room[8192];
    void *back;
    MPI_Request q;
    int bytes;

    DO(MPI_Buffer_attach, room, sizeof(room));
    DO(MPI_Bsend, x, 2, MPI_INT, to, TAG, comm);
    DO(MPI_Recv, y, 64, MPI_INT, from, TAG, comm, MPI_STATUS_IGNORE);
    DO(MPI_Ibsend, x, 2, MPI_INT, to, TAG, comm, &q);
    DO(MPI_Recv, y, 64, MPI_INT, from, TAG, comm, MPI_STATUS_IGNORE);
    WAIT(&q);
    DO(MPI_Bsend_init, x, 2, MPI_INT, to, TAG, comm, &q);
    for (int i = 0; i < 3; i++) {
        DO(MPI_Start, &q);
        DO(MPI_Recv, y, 64, MPI_INT, from, TAG, comm, MPI_STATUS_IGNORE);
        WAIT(&q);
        SENT(2), RECEIVED(2);
    }
    DO(MPI_Request_free, &q);
    DO(MPI_Buffer_detach, &back, &bytes);
    SENT(2), SENT(2), RECEIVED(2), RECEIVED(2);
    add(y, 2);
}

static void persistent(MPI_Comm comm)
{
    MPI_Request all[6];
    MPI_Status statuses[6];
    int flag, few, index, indexes[6];

    DO(MPI_Recv_init, y, 8, MPI_INT, from, 1, comm, &all[0]);
    DO(MPI_Recv_init, y + 8, 8, MPI_INT, MPI_ANY_SOURCE, 2, comm, &all[1]);
    DO(MPI_Recv_init, y + 16, 8, MPI_INT, from, 3, comm, &all[2]);
    DO(MPI_Send_init, x, 1, MPI_INT, to, 1, comm, &all[3]);
    DO(MPI_Ssend_init, x, 2, MPI_INT, to, 2, comm, &all[4]);
    DO(MPI_Rsend_init, x, 3, MPI_INT, to, 3, comm, &all[5]);
    for (int way = 0; way < 8; way++) {
        DO(MPI_Startall, 3, all);
        DO(MPI_Barrier, comm);
        DO(MPI_Startall, 2, all + 3);
        DO(MPI_Start, &all[5]);
        SENT(1), SENT(2), SENT(3), RECEIVED(1), RECEIVED(2), RECEIVED(3);
        flag = few = index = 0;
        for (int left = 6; left > 0; left -= few) {
            flag = 0, few = 0;
            switch (way) {
            case 0:
                DO(MPI_Waitall, 6, all, statuses);
                few = 6;
                break;
            case 1:
                DO(MPI_Waitany, 6, all, &index, MPI_STATUS_IGNORE);
                few = 1;
                break;
            case 2:
                DO(MPI_Waitsome, 6, all, &few, indexes, MPI_STATUSES_IGNORE);
                break;
            case 3:
                DO(MPI_Testall, 6, all, &flag, MPI_STATUSES_IGNORE);
                few = flag ? 6 : 0;
                break;
            case 4:
                DO(MPI_Testany, 6, all, &index, &flag, statuses);
                few = flag;
                break;
            case 5:
                DO(MPI_Testsome, 6, all, &few, indexes, statuses);
                break;
            case 6:
                DO(MPI_Wait, &all[left - 1], statuses);
                few = 1;
                break;
            default:
                DO(MPI_Test, &all[left - 1], &few, MPI_STATUS_IGNORE);
            }
        }
    }
    for (int i = 0; i < 6; i++)
        DO(MPI_Request_free, &all[i]);
    add(y, 17);
}

static void probed(MPI_Comm comm)
{
    MPI_Request q, r;
    MPI_Message m;
    MPI_Status status;
    int flag = 0;

    DO(MPI_Isend, x, 3, MPI_INT, to, TAG, comm, &q);
    DO(MPI_Probe, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status);
    DO(MPI_Mprobe, MPI_ANY_SOURCE, TAG, comm, &m, MPI_STATUS_IGNORE);
    DO(MPI_Mrecv, y, 64, MPI_INT, &m, MPI_STATUS_IGNORE);
    WAIT(&q);
    DO(MPI_Isend, x, 3, MPI_INT, to, TAG, comm, &q);
    while (!flag)
        DO(MPI_Iprobe, from, TAG, comm, &flag, &status);
    for (flag = 0; !flag;)
        DO(MPI_Improbe, from, TAG, comm, &flag, &m, MPI_STATUS_IGNORE);
    DO(MPI_Imrecv, y, 64, MPI_INT, &m, &r);
    WAIT(&r);
    WAIT(&q);
    SENT(3), SENT(3), RECEIVED(3), RECEIVED(3);
    DO(MPI_Mprobe, MPI_PROC_NULL, TAG, comm, &m, MPI_STATUS_IGNORE);
    DO(MPI_Mrecv, y, 64, MPI_INT, &m, MPI_STATUS_IGNORE);
}

static int query(void *state, MPI_Status *status)
{
    (void)state;
    MPI_Status_set_elements(status, MPI_INT, 0);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = status->MPI_TAG = 0;
    return MPI_SUCCESS;
}

static int nothing(void *state)
{
    (void)state;
    return MPI_SUCCESS;
}

static int no_cancel(void *state, int complete)
{
    (void)state, (void)complete;
    return MPI_SUCCESS;
}

static void odd(MPI_Comm comm)
{
    MPI_Request q;
    MPI_Status status;
    MPI_Count elements;
    int flag, count;

    DO(MPI_Sendrecv, x, 2, MPI_INT, to, 1, y, 64, MPI_INT, MPI_ANY_SOURCE,
       MPI_ANY_TAG, comm, &status);
    DO(MPI_Get_count, &status, MPI_INT, &count);
    DO(MPI_Get_elements, &status, MPI_INT, &count);
    DO(MPI_Get_elements_x, &status, MPI_INT, &elements);
    add(&count, 1);
    DO(MPI_Sendrecv_replace, y, 2, MPI_INT, to, 1, from, 1, comm,
       MPI_STATUS_IGNORE);
    SENT(2), SENT(2), RECEIVED(2), RECEIVED(2);
    DO(MPI_Irecv, y, 1, MPI_INT, from, 999, comm, &q);
    DO(MPI_Request_get_status, q, &flag, MPI_STATUS_IGNORE);
    DO(MPI_Cancel, &q);
    DO(MPI_Wait, &q, &status);
    DO(MPI_Test_cancelled, &status, &flag);
    add(&flag, 1);
    DO(MPI_Isend, x, 1, MPI_INT, to, 2, comm, &q);
    DO(MPI_Request_free, &q);
    DO(MPI_Recv, y, 1, MPI_INT, from, 2, comm, MPI_STATUS_IGNORE);
    SENT(1), RECEIVED(1);
    DO(MPI_Grequest_start, query, nothing, no_cancel, NULL, &q);
    DO(MPI_Grequest_complete, q);
    WAIT(&q);
    DO(MPI_Status_set_elements, &status, MPI_INT, 2);
    DO(MPI_Status_set_elements_x, &status, MPI_INT, 2);
    DO(MPI_Status_set_cancelled, &status, 0);
    DO(MPI_Send, x, 1, MPI_INT, MPI_PROC_NULL, 0, comm);
    DO(MPI_Recv, y, 1, MPI_INT, MPI_PROC_NULL, 0, comm, &status);
    DO(MPI_Irecv, y, 1, MPI_INT, MPI_PROC_NULL, 0, comm, &q);
    WAIT(&q);
    DO(MPI_Sendrecv, x, 1, MPI_INT, MPI_PROC_NULL, 0, y, 1, MPI_INT,
       MPI_PROC_NULL, 0, comm, MPI_STATUS_IGNORE);
}

#ifdef MPICH_VERSION
static void large(MPI_Comm comm)
{
    static char room[8192];
    MPI_Request q, r;
    MPI_Status status;
    MPI_Message m;
    MPI_Count bytes, count;
    void *back;

    DO(MPI_Isend_c, x, 3, MPI_INT, to, TAG, comm, &q);
    DO(MPI_Recv_c, y, 64, MPI_INT, from, TAG, comm, &status);
    WAIT(&q);
    DO(MPI_Get_count_c, &status, MPI_INT, &count);
    DO(MPI_Get_elements_c, &status, MPI_INT, &count);
    DO(MPI_Irecv_c, y, 64, MPI_INT, from, TAG, comm, &r);
    DO(MPI_Send_c, x, 3, MPI_INT, to, TAG, comm);
    WAIT(&r);
    DO(MPI_Irecv_c, y, 64, MPI_INT, from, TAG, comm, &r);
    DO(MPI_Ssend_c, x, 3, MPI_INT, to, TAG, comm);
    WAIT(&r);
    DO(MPI_Issend_c, x, 3, MPI_INT, to, TAG, comm, &q);
    DO(MPI_Mprobe, from, TAG, comm, &m, &status);
    DO(MPI_Mrecv_c, y, 64, MPI_INT, &m, &status);
    WAIT(&q);
    DO(MPI_Issend_c, x, 3, MPI_INT, to, TAG, comm, &q);
    DO(MPI_Mprobe, from, TAG, comm, &m, &status);
    DO(MPI_Imrecv_c, y, 64, MPI_INT, &m, &r);
    WAIT(&r);
    WAIT(&q);
    DO(MPI_Buffer_attach_c, room, sizeof(room));
    DO(MPI_Bsend_c, x, 3, MPI_INT, to, TAG, comm);
    DO(MPI_Recv, y, 64, MPI_INT, from, TAG, comm, &status);
    DO(MPI_Ibsend_c, x, 3, MPI_INT, to, TAG, comm, &q);
    DO(MPI_Recv, y, 64, MPI_INT, from, TAG, comm, &status);
    WAIT(&q);
    for (int i = 0; i < 5; i++) {
        if (i == 0)
            DO(MPI_Send_init_c, x, 3, MPI_INT, to, TAG, comm, &q);
        else if (i == 1)
            DO(MPI_Ssend_init_c, x, 3, MPI_INT, to, TAG, comm, &q);
        else if (i == 2)
            DO(MPI_Bsend_init_c, x, 3, MPI_INT, to, TAG, comm, &q);
        else
            DO(MPI_Rsend_init_c, x, 3, MPI_INT, to, TAG, comm, &q);
        DO(MPI_Recv_init_c, y, 64, MPI_INT, from, TAG, comm, &r);
        DO(MPI_Start, &r);
        DO(MPI_Barrier, comm);
        DO(MPI_Start, &q);
        WAIT(&r);
        WAIT(&q);
        DO(MPI_Request_free, &r);
        DO(MPI_Request_free, &q);
    }
    DO(MPI_Buffer_detach_c, &back, &bytes);
    for (int i = 0; i < 2; i++) {
        DO(MPI_Irecv, y, 64, MPI_INT, from, TAG, comm, &r);
        DO(MPI_Barrier, comm);
        if (i)
            DO(MPI_Rsend_c, x, 3, MPI_INT, to, TAG, comm);
        else {
            DO(MPI_Irsend_c, x, 3, MPI_INT, to, TAG, comm, &q);
            WAIT(&q);
        }
        WAIT(&r);
    }
    DO(MPI_Sendrecv_c, x, 3, MPI_INT, to, 1, y, 64, MPI_INT, from, 1, comm,
       MPI_STATUS_IGNORE);
    DO(MPI_Sendrecv_replace_c, y, 3, MPI_INT, to, 1, from, 1, comm,
       MPI_STATUS_IGNORE);
    DO(MPI_Isendrecv, x, 3, MPI_INT, to, 1, y, 64, MPI_INT, from, 1, comm, &q);
    WAIT(&q);
    DO(MPI_Isendrecv_c, x, 3, MPI_INT, to, 1, y, 64, MPI_INT, from, 1, comm,
       &q);
    WAIT(&q);
    DO(MPI_Isendrecv_replace, y, 3, MPI_INT, to, 1, from, 1, comm, &q);
    WAIT(&q);
    DO(MPI_Isendrecv_replace_c, y, 3, MPI_INT, to, 1, from, 1, comm, &q);
    WAIT(&q);
    for (int i = 0; i < 20; i++)
        SENT(3), RECEIVED(3);
    add(y, 3);
}

static void partitioned(MPI_Comm comm)
{
    MPI_Request q[2];
    int list[] = {3}, flag;

    DO(MPI_Psend_init, x, 4, 2, MPI_INT, to, 5, comm, MPI_INFO_NULL, &q[0]);
    DO(MPI_Precv_init, y, 4, 2, MPI_INT, from, 5, comm, MPI_INFO_NULL, &q[1]);
    DO(MPI_Startall, 2, q);
    DO(MPI_Pready, 0, q[0]);
    DO(MPI_Pready_range, 1, 2, q[0]);
    DO(MPI_Pready_list, 1, list, q[0]);
    DO(MPI_Parrived, q[1], 0, &flag);
    DO(MPI_Waitall, 2, q, MPI_STATUSES_IGNORE);
    DO(MPI_Request_free, &q[0]);
    DO(MPI_Request_free, &q[1]);
    add(y, 8);
}
#endif

/* --- collectives --- */

static int counts[16], places[16], byte_places[16];
static MPI_Datatype types[16];
static MPI_Aint far_places[16];

#define BOTH(Name, name, ...)                                                  \
    do {                                                                       \
        MPI_Request its;                                                       \
        DO(MPI_##Name, __VA_ARGS__);                                           \
        DO(MPI_I##name, __VA_ARGS__, &its);                                    \
        WAIT(&its);                                                            \
    } while (0)
#ifdef MPICH_VERSION
static MPI_Count many[16];
#define AGAIN(Name, ...)                                                       \
    do {                                                                       \
        MPI_Request its;                                                       \
        DO(MPI_##Name, __VA_ARGS__, MPI_INFO_NULL, &its);                      \
        DO(MPI_Start, &its); /* once: 4.0.2 fails the second time */           \
        WAIT(&its);                                                            \
        DO(MPI_Request_free, &its);                                            \
    } while (0)
#define EACH(Name, name, ...)                                                  \
    do {                                                                       \
        BOTH(Name, name, __VA_ARGS__);                                         \
        AGAIN(Name##_init, __VA_ARGS__);                                       \
    } while (0)
#define LARGE(Name, name, ...)                                                 \
    do {                                                                       \
        BOTH(Name##_c, name##_c, __VA_ARGS__);                                 \
        AGAIN(Name##_init_c, __VA_ARGS__);                                     \
    } while (0)
#else
#define EACH BOTH
#define LARGE(...)
#endif
#define ANY(Name, name, ...)                                                   \
    do {                                                                       \
        EACH(Name, name, __VA_ARGS__);                                         \
        LARGE(Name, name, __VA_ARGS__);                                        \
    } while (0)

static void collectives(MPI_Comm c)
{
    EACH(Barrier, barrier, c);
    ANY(Bcast, bcast, y, 4, MPI_INT, size - 1, c);
    ANY(Gather, gather, x, 2, MPI_INT, z, 2, MPI_INT, 0, c);
    ANY(Scatter, scatter, z, 2, MPI_INT, y, 2, MPI_INT, 0, c);
    ANY(Allgather, allgather, x, 2, MPI_INT, z, 2, MPI_INT, c);
    ANY(Alltoall, alltoall, z, 2, MPI_INT, w, 2, MPI_INT, c);
    ANY(Reduce, reduce, x, y, 2, MPI_INT, MPI_SUM, size - 1, c);
    ANY(Allreduce, allreduce, x, y, 2, MPI_INT, MPI_SUM, c);
    ANY(Reduce_scatter_block, reduce_scatter_block, z, y, 2, MPI_INT, MPI_MAX,
        c);
    ANY(Scan, scan, x, y, 2, MPI_INT, MPI_SUM, c);
    ANY(Exscan, exscan, x, y, 2, MPI_INT, MPI_SUM, c);
    EACH(Gatherv, gatherv, x, 2, MPI_INT, z, counts, places, MPI_INT, 0, c);
    EACH(Scatterv, scatterv, z, counts, places, MPI_INT, y, 2, MPI_INT, 0, c);
    EACH(Allgatherv, allgatherv, x, 2, MPI_INT, z, counts, places, MPI_INT, c);
    EACH(Alltoallv, alltoallv, z, counts, places, MPI_INT, w, counts, places,
         MPI_INT, c);
    EACH(Alltoallw, alltoallw, z, counts, byte_places, types, w, counts,
         byte_places, types, c);
    EACH(Reduce_scatter, reduce_scatter, z, y, counts, MPI_INT, MPI_SUM, c);
#ifdef MPICH_VERSION
    MPI_Aint ints[16];
    for (int i = 0; i < 16; i++)
        ints[i] = places[i];
    LARGE(Gatherv, gatherv, x, 2, MPI_INT, z, many, ints, MPI_INT, 0, c);
    LARGE(Scatterv, scatterv, z, many, ints, MPI_INT, y, 2, MPI_INT, 0, c);
    LARGE(Allgatherv, allgatherv, x, 2, MPI_INT, z, many, ints, MPI_INT, c);
    LARGE(Alltoallv, alltoallv, z, many, ints, MPI_INT, w, many, ints, MPI_INT,
          c);
    LARGE(Alltoallw, alltoallw, z, many, far_places, types, w, many, far_places,
          types, c);
    LARGE(Reduce_scatter, reduce_scatter, z, y, many, MPI_INT, MPI_SUM, c);
#endif
    add(w, 2 * size);
    add(z, 2 * size);
}

static void in_place(MPI_Comm c)
{
    for (int i = 0; i < 2 * size; i++)
        z[i] = rank + i;
    BOTH(Allreduce, allreduce, MPI_IN_PLACE, y, 2, MPI_INT, MPI_MAX, c);
    BOTH(Allgather, allgather, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, z, 2,
         MPI_INT, c);
    BOTH(Allgatherv, allgatherv, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, z, counts,
         places, MPI_INT, c);
    DO(MPI_Alltoall, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, z, 2, MPI_INT, c);
    DO(MPI_Alltoallv, MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, z, counts,
       places, MPI_INT, c);
    DO(MPI_Alltoallw, MPI_IN_PLACE, NULL, NULL, NULL, z, counts, byte_places,
       types, c);
    DO(MPI_Scan, MPI_IN_PLACE, y, 2, MPI_INT, MPI_SUM, c);
    DO(MPI_Reduce_scatter_block, MPI_IN_PLACE, w, 2, MPI_INT, MPI_MAX, c);
    DO(MPI_Reduce_scatter, MPI_IN_PLACE, w, counts, MPI_INT, MPI_MAX, c);
    if (rank == 0) {
        DO(MPI_Reduce, MPI_IN_PLACE, y, 2, MPI_INT, MPI_MAX, 0, c);
        DO(MPI_Gather, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, z, 2, MPI_INT, 0, c);
        DO(MPI_Scatter, z, 2, MPI_INT, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, 0,
           c);
    } else {
        DO(MPI_Reduce, y, NULL, 2, MPI_INT, MPI_MAX, 0, c);
        DO(MPI_Gather, x, 2, MPI_INT, NULL, 0, MPI_DATATYPE_NULL, 0, c);
        DO(MPI_Scatter, NULL, 0, MPI_DATATYPE_NULL, z, 2, MPI_INT, 0, c);
    }
    DO(MPI_Reduce_local, x, y, 2, MPI_INT, MPI_SUM);
    add(z, 2 * size);
}

static void between(MPI_Comm c)
{
    int root = rank % 2 ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
    MPI_Group group;
    MPI_Comm merged, other;
    int others;

    DO(MPI_Comm_remote_size, c, &others);
    DO(MPI_Comm_remote_group, c, &group);
    DO(MPI_Group_free, &group);
    BOTH(Barrier, barrier, c);
    BOTH(Bcast, bcast, y, 3, MPI_INT, root, c);
    BOTH(Gather, gather, x, 2, MPI_INT, z, 2, MPI_INT, root, c);
    BOTH(Scatter, scatter, z, 2, MPI_INT, y, 2, MPI_INT, root, c);
    BOTH(Reduce, reduce, x, y, 2, MPI_INT, MPI_SUM, root, c);
    BOTH(Allreduce, allreduce, x, y, 2, MPI_INT, MPI_SUM, c);
    BOTH(Allgather, allgather, x, 2, MPI_INT, z, 2, MPI_INT, c);
    BOTH(Alltoall, alltoall, z, 2, MPI_INT, w, 2, MPI_INT, c);
    BOTH(Alltoallv, alltoallv, z, counts, places, MPI_INT, w, counts, places,
         MPI_INT, c);
    BOTH(Alltoallw, alltoallw, z, counts, byte_places, types, w, counts,
         byte_places, types, c);
    DO(MPI_Sendrecv, x, 2, MPI_INT, rank / 2, 3, y, 2, MPI_INT, rank / 2, 3, c,
       MPI_STATUS_IGNORE);
    note_sent(rank ^ 1, 8), note_received(rank ^ 1, 8);
    DO(MPI_Comm_dup, c, &other);
    DO(MPI_Comm_free, &other);
    DO(MPI_Intercomm_merge, c, rank % 2, &merged);
    DO(MPI_Allreduce, x, y, 1, MPI_INT, MPI_SUM, merged);
    DO(MPI_Comm_free, &merged);
}

static void neighbours(MPI_Comm c)
{
    EACH(Neighbor_allgather, neighbor_allgather, x, 2, MPI_INT, z, 2, MPI_INT,
         c);
    EACH(Neighbor_allgatherv, neighbor_allgatherv, x, 2, MPI_INT, z, counts,
         places, MPI_INT, c);
    EACH(Neighbor_alltoall, neighbor_alltoall, x, 2, MPI_INT, z, 2, MPI_INT, c);
    EACH(Neighbor_alltoallv, neighbor_alltoallv, x, counts, places, MPI_INT, z,
         counts, places, MPI_INT, c);
    EACH(Neighbor_alltoallw, neighbor_alltoallw, x, counts, far_places, types,
         z, counts, far_places, types, c);
    LARGE(Neighbor_allgather, neighbor_allgather, x, 2, MPI_INT, z, 2, MPI_INT,
          c);
    LARGE(Neighbor_alltoall, neighbor_alltoall, x, 2, MPI_INT, z, 2, MPI_INT,
          c);
    add(z, 4);
}

/* --- communicators --- */

static void communicators(MPI_Comm c)
{
    MPI_Comm made, half, inter;
    MPI_Group all, group;
    MPI_Request q;
    MPI_Info info;
    char name[MPI_MAX_OBJECT_NAME];
    int result, length, ranges[1][3] = {{0, size - 1, 1}}, ranks[16], flag;

    for (int i = 0; i < size; i++)
        ranks[i] = i;
    DO(MPI_Comm_dup, c, &made);
    DO(MPI_Comm_set_name, made, "duplicate");
    DO(MPI_Comm_get_name, made, name, &length);
    DO(MPI_Comm_compare, c, made, &result);
    blocking(made);
    DO(MPI_Comm_free, &made);
    DO(MPI_Info_create, &info);
    DO(MPI_Comm_dup_with_info, c, info, &made);
    DO(MPI_Comm_set_info, made, info);
    DO(MPI_Info_free, &info);
    DO(MPI_Comm_get_info, made, &info);
    DO(MPI_Info_free, &info);
    DO(MPI_Barrier, made);
    DO(MPI_Comm_disconnect, &made);
    DO(MPI_Comm_idup, c, &made, &q);
    WAIT(&q);
    blocking(made);
    DO(MPI_Comm_free, &made);
#ifdef MPICH_VERSION
    DO(MPI_Comm_idup_with_info, c, MPI_INFO_NULL, &made, &q);
    WAIT(&q);
    blocking(made);
    DO(MPI_Comm_free, &made);
#endif
    DO(MPI_Comm_split_type, c, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL,
       &made);
    DO(MPI_Barrier, made);
    DO(MPI_Comm_free, &made);
    DO(MPI_Comm_split, c, rank % 2 ? MPI_UNDEFINED : 0, rank, &made);
    if (made != MPI_COMM_NULL)
        DO(MPI_Comm_free, &made);
    DO(MPI_Comm_group, c, &all);
    DO(MPI_Group_incl, all, size, ranks, &group);
    DO(MPI_Comm_create, c, group, &made);
    blocking(made);
    DO(MPI_Comm_free, &made);
    for (int i = 0; i < 2; i++) { /* of one tag */
        DO(MPI_Comm_create_group, c, group, 5, &made);
        blocking(made);
        DO(MPI_Comm_free, &made);
    }
    DO(MPI_Group_free, &group);
    DO(MPI_Group_range_incl, all, 1, ranges, &group);
    DO(MPI_Group_free, &group);
    DO(MPI_Group_free, &all);
    DO(MPI_Comm_split, c, rank % 2, rank, &half);
    DO(MPI_Intercomm_create, half, 0, c, 1 - rank % 2, 9, &inter);
    DO(MPI_Comm_test_inter, inter, &flag);
    between(inter);
    DO(MPI_Comm_free, &inter);
    DO(MPI_Comm_free, &half);
    DO(MPI_Comm_get_parent, &made);
}

static void topologies(MPI_Comm c)
{
    MPI_Comm cart, line, graph;
    int dims[1] = {0}, periods[1] = {1}, coords[1], keep[1] = {1}, status, own,
        left, right, count, edges, in, out, weighted;
    int index[16], neighbours_of[32],
        sources[2] = {from, to}, targets[2] = {from, to}, weights[2] = {1, 1},
        degrees[1] = {2};

    DO(MPI_Dims_create, size, 1, dims);
    DO(MPI_Cart_create, c, 1, dims, periods, 0, &cart);
    DO(MPI_Cartdim_get, cart, &count);
    DO(MPI_Cart_get, cart, 1, dims, periods, coords);
    DO(MPI_Cart_rank, cart, coords, &own);
    DO(MPI_Cart_coords, cart, own, 1, coords);
    DO(MPI_Cart_shift, cart, 0, 1, &left, &right);
    DO(MPI_Cart_map, c, 1, dims, periods, &own);
    DO(MPI_Topo_test, cart, &status);
    DO(MPI_Cart_sub, cart, keep, &line);
    neighbours(cart);
    blocking(line);
    DO(MPI_Comm_free, &line);
    DO(MPI_Comm_free, &cart);
    for (int i = 0; i < size; i++) {
        index[i] = 2 * (i + 1);
        neighbours_of[2 * i] = (i + size - 1) % size;
        neighbours_of[2 * i + 1] = (i + 1) % size;
    }
    DO(MPI_Graph_create, c, size, index, neighbours_of, 0, &graph);
    DO(MPI_Graphdims_get, graph, &count, &edges);
    DO(MPI_Graph_get, graph, size, 2 * size, index, neighbours_of);
    DO(MPI_Graph_neighbors_count, graph, rank, &count);
    DO(MPI_Graph_neighbors, graph, rank, count, neighbours_of);
    DO(MPI_Graph_map, c, size, index, neighbours_of, &own);
    blocking(graph);
    DO(MPI_Comm_free, &graph);
    DO(MPI_Dist_graph_create_adjacent, c, 2, sources, weights, 2, targets,
       weights, MPI_INFO_NULL, 0, &graph);
    DO(MPI_Dist_graph_neighbors_count, graph, &in, &out, &weighted);
    DO(MPI_Dist_graph_neighbors, graph, 2, sources, weights, 2, targets,
       weights);
    neighbours(graph);
    blocking(graph);
    DO(MPI_Comm_free, &graph);
    DO(MPI_Dist_graph_create, c, 1, &rank, degrees, targets, weights,
       MPI_INFO_NULL, 0, &graph);
    DO(MPI_Barrier, graph);
    DO(MPI_Comm_free, &graph);
}

/* --- types, operations, groups, attributes, errors --- */

static void datatypes(void)
{
    MPI_Datatype t, u, v[2] = {MPI_INT, MPI_DOUBLE};
    int blocks[2] = {1, 2}, at[2] = {0, 2}, bytes, ints, addresses, count,
        combiner, where = 0;
    MPI_Aint far_at[2] = {0, 16}, low, extent, packed;
    MPI_Count bytes_x, low_x, extent_x;
    char name[MPI_MAX_OBJECT_NAME], room[256];
    int sizes[2] = {4, 4}, parts[2] = {2, 2}, starts[2] = {1, 1};

    DO(MPI_Type_contiguous, 3, MPI_INT, &t);
    DO(MPI_Type_commit, &t);
    DO(MPI_Type_size, t, &bytes);
    DO(MPI_Type_size_x, t, &bytes_x);
    DO(MPI_Type_get_extent, t, &low, &extent);
    DO(MPI_Type_get_extent_x, t, &low_x, &extent_x);
    DO(MPI_Type_get_true_extent, t, &low, &extent);
    DO(MPI_Type_get_true_extent_x, t, &low_x, &extent_x);
    DO(MPI_Type_set_name, t, "three");
    DO(MPI_Type_get_name, t, name, &count);
    DO(MPI_Type_get_envelope, t, &ints, &addresses, &count, &combiner);
    DO(MPI_Type_dup, t, &u);
    DO(MPI_Type_free, &u);
    DO(MPI_Sendrecv, x, 2, t, to, 1, y, 2, t, from, 1, MPI_COMM_WORLD,
       MPI_STATUS_IGNORE);
    SENT(6), RECEIVED(6);
    DO(MPI_Pack_size, 1, t, MPI_COMM_WORLD, &bytes);
    DO(MPI_Pack, x, 1, t, room, sizeof(room), &where, MPI_COMM_WORLD);
    where = 0;
    DO(MPI_Unpack, room, sizeof(room), &where, y, 1, t, MPI_COMM_WORLD);
    DO(MPI_Pack_external_size, "external32", 1, t, &packed);
    packed = 0;
    DO(MPI_Pack_external, "external32", x, 1, t, room, sizeof(room), &packed);
    packed = 0;
    DO(MPI_Unpack_external, "external32", room, sizeof(room), &packed, y, 1, t);
    DO(MPI_Type_free, &t);
    DO(MPI_Type_vector, 2, 1, 2, MPI_INT, &t);
    DO(MPI_Type_free, &t);
    DO(MPI_Type_create_hvector, 2, 1, 8, MPI_INT, &t);
    DO(MPI_Type_free, &t);
    DO(MPI_Type_indexed, 2, blocks, at, MPI_INT, &t);
    DO(MPI_Type_free, &t);
    DO(MPI_Type_create_hindexed, 2, blocks, far_at, MPI_INT, &t);
    DO(MPI_Type_free, &t);
    DO(MPI_Type_create_indexed_block, 2, 1, at, MPI_INT, &t);
    DO(MPI_Type_free, &t);
    DO(MPI_Type_create_hindexed_block, 2, 1, far_at, MPI_INT, &t);
    DO(MPI_Type_free, &t);
    DO(MPI_Type_create_struct, 2, blocks, far_at, v, &t);
    DO(MPI_Type_free, &t);
    DO(MPI_Type_create_resized, MPI_INT, 0, 8, &t);
    DO(MPI_Type_free, &t);
    DO(MPI_Type_create_subarray, 2, sizes, parts, starts, MPI_ORDER_C, MPI_INT,
       &t);
    DO(MPI_Type_free, &t);
    DO(MPI_Type_match_size, MPI_TYPECLASS_INTEGER, 4, &t);
    DO(MPI_Get_address, x, &low);
}

static void add_up(void *in, void *out, int *count, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *count; i++)
        ((int *)out)[i] += ((int *)in)[i];
}

static void operations(void)
{
    MPI_Op op;
    int commutes;
    MPI_Info info, copy;
    char value[64];
    int keys, flag, length;

    DO(MPI_Op_create, add_up, 1, &op);
    DO(MPI_Op_commutative, op, &commutes);
    DO(MPI_Allreduce, x, y, 2, MPI_INT, op, MPI_COMM_WORLD);
    DO(MPI_Op_free, &op);
    DO(MPI_Info_create, &info);
    DO(MPI_Info_set, info, "key", "value");
    DO(MPI_Info_dup, info, &copy);
    DO(MPI_Info_get, copy, "key", sizeof(value) - 1, value, &flag);
    DO(MPI_Info_get_valuelen, copy, "key", &length, &flag);
    DO(MPI_Info_get_nkeys, copy, &keys);
    DO(MPI_Info_get_nthkey, copy, 0, value);
    DO(MPI_Info_delete, copy, "key");
    DO(MPI_Info_free, &copy);
    DO(MPI_Info_free, &info);
}

static void groups(void)
{
    MPI_Group world, one, other, made;
    int zero = 0, own, count, result;

    DO(MPI_Comm_group, MPI_COMM_WORLD, &world);
    DO(MPI_Group_size, world, &count);
    DO(MPI_Group_rank, world, &own);
    DO(MPI_Group_incl, world, 1, &zero, &one);
    DO(MPI_Group_excl, world, 1, &zero, &other);
    DO(MPI_Group_union, one, other, &made);
    DO(MPI_Group_compare, world, made, &result);
    DO(MPI_Group_free, &made);
    DO(MPI_Group_intersection, one, world, &made);
    DO(MPI_Group_translate_ranks, made, 1, &zero, world, &own);
    DO(MPI_Group_free, &made);
    DO(MPI_Group_difference, world, one, &made);
    DO(MPI_Group_free, &made);
    DO(MPI_Group_free, &one);
    DO(MPI_Group_free, &other);
    DO(MPI_Group_free, &world);
}

static void on_error(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
}

static void attributes(void)
{
    MPI_Errhandler handler;
    MPI_Comm own;
    int key, flag, class, code, length;
    char text[MPI_MAX_ERROR_STRING];
    void *value;

    DO(MPI_Comm_create_keyval, MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN,
       &key, NULL);
    DO(MPI_Comm_dup, MPI_COMM_WORLD, &own);
    DO(MPI_Comm_set_attr, own, key, x);
    DO(MPI_Comm_get_attr, own, key, &value, &flag);
    DO(MPI_Comm_delete_attr, own, key);
    DO(MPI_Comm_free_keyval, &key);
    DO(MPI_Comm_create_errhandler, on_error, &handler);
    DO(MPI_Comm_set_errhandler, own, handler);
    DO(MPI_Comm_call_errhandler, own, MPI_ERR_OTHER);
    DO(MPI_Errhandler_free, &handler);
    DO(MPI_Comm_get_errhandler, own, &handler);
    DO(MPI_Errhandler_free, &handler);
    DO(MPI_Comm_free, &own);
    DO(MPI_Error_class, MPI_ERR_TAG, &class);
    DO(MPI_Error_string, MPI_ERR_TAG, text, &length);
    DO(MPI_Add_error_class, &class);
    DO(MPI_Add_error_code, class, &code);
    DO(MPI_Add_error_string, code, "own");
}

static void environment(void)
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int a, b;
    void *memory;

    DO(MPI_Get_version, &a, &b);
    DO(MPI_Get_library_version, text, &a);
    DO(MPI_Get_processor_name, text, &a);
    DO(MPI_Initialized, &a);
    DO(MPI_Finalized, &a);
    DO(MPI_Query_thread, &a);
    DO(MPI_Is_thread_main, &a);
    DO(MPI_Alloc_mem, 64, MPI_INFO_NULL, &memory);
    DO(MPI_Free_mem, memory);
#ifdef MPICH_VERSION
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    DO(MPI_Session_init, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    DO(MPI_Session_get_num_psets, session, MPI_INFO_NULL, &a);
    DO(MPI_Group_from_session_pset, session, "mpi://WORLD", &group);
    DO(MPI_Comm_create_from_group, group, "own", MPI_INFO_NULL,
       MPI_ERRORS_ARE_FATAL, &comm);
    blocking(comm);
    DO(MPI_Comm_free, &comm);
    DO(MPI_Group_free, &group);
    DO(MPI_Session_finalize, &session);
#endif
}

/* --- one-sided, and files --- */

static void windows(void)
{
    int *memory, *other, result;
    MPI_Win win;
    MPI_Group group, peers;
    MPI_Request q;
    MPI_Aint bytes;
    int unit, flag;
    char name[MPI_MAX_OBJECT_NAME];

    DO(MPI_Win_allocate, 64 * sizeof(int), sizeof(int), MPI_INFO_NULL,
       MPI_COMM_WORLD, &memory, &win);
    memset(memory, 0, 64 * sizeof(int));
    DO(MPI_Win_set_name, win, "window");
    DO(MPI_Win_get_name, win, name, &flag);
    DO(MPI_Win_get_group, win, &group);
    DO(MPI_Win_fence, 0, win);
    DO(MPI_Put, x, 2, MPI_INT, to, 0, 2, MPI_INT, win);
    DO(MPI_Win_fence, 0, win);
    DO(MPI_Get, y, 2, MPI_INT, to, 0, 2, MPI_INT, win);
    DO(MPI_Win_fence, 0, win);
    DO(MPI_Accumulate, x, 2, MPI_INT, to, 0, 2, MPI_INT, MPI_SUM, win);
    DO(MPI_Win_fence, 0, win);
    add(memory, 2);
    DO(MPI_Win_lock_all, 0, win);
    DO(MPI_Rput, x, 2, MPI_INT, to, 4, 2, MPI_INT, win, &q);
    WAIT(&q);
    DO(MPI_Win_flush, to, win);
    DO(MPI_Rget, y, 2, MPI_INT, to, 4, 2, MPI_INT, win, &q);
    WAIT(&q);
    DO(MPI_Raccumulate, x, 1, MPI_INT, to, 6, 1, MPI_INT, MPI_SUM, win, &q);
    WAIT(&q);
    DO(MPI_Rget_accumulate, x, 1, MPI_INT, y, 1, MPI_INT, to, 6, 1, MPI_INT,
       MPI_SUM, win, &q);
    WAIT(&q);
    DO(MPI_Get_accumulate, x, 1, MPI_INT, y, 1, MPI_INT, to, 6, 1, MPI_INT,
       MPI_SUM, win);
    DO(MPI_Fetch_and_op, x, &result, MPI_INT, to, 7, MPI_SUM, win);
    DO(MPI_Compare_and_swap, x, x, &result, MPI_INT, to, 8, win);
    DO(MPI_Win_flush_all, win);
    DO(MPI_Win_flush_local, to, win);
    DO(MPI_Win_flush_local_all, win);
    DO(MPI_Win_sync, win);
    DO(MPI_Win_unlock_all, win);
    DO(MPI_Win_lock, MPI_LOCK_EXCLUSIVE, to, 0, win);
    DO(MPI_Put, x, 1, MPI_INT, to, 9, 1, MPI_INT, win);
    DO(MPI_Win_unlock, to, win);
    DO(MPI_Barrier, MPI_COMM_WORLD);
    DO(MPI_Group_incl, group, 1, &from, &peers);
    DO(MPI_Win_post, peers, 0, win);
    DO(MPI_Group_free, &peers);
    DO(MPI_Group_incl, group, 1, &to, &peers);
    DO(MPI_Win_start, peers, 0, win);
    DO(MPI_Group_free, &peers);
    DO(MPI_Put, x, 1, MPI_INT, to, 10, 1, MPI_INT, win);
    DO(MPI_Win_complete, win);
    DO(MPI_Win_wait, win);
    DO(MPI_Group_free, &group);
    DO(MPI_Win_free, &win);
    DO(MPI_Win_create, y, sizeof(y), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD,
       &win);
    DO(MPI_Win_fence, 0, win);
    DO(MPI_Win_free, &win);
    DO(MPI_Win_allocate_shared, 64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory,
       &win);
    DO(MPI_Win_shared_query, win, 0, &bytes, &unit, &other);
    DO(MPI_Win_free, &win);
    DO(MPI_Win_create_dynamic, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    DO(MPI_Win_attach, win, x, sizeof(x));
    DO(MPI_Win_detach, win, x);
    DO(MPI_Win_free, &win);
}

static void files(void)
{
    MPI_File file;
    MPI_Offset at = rank * 64, place;
    MPI_Request q;
    MPI_Status s;
    char name[4096];
    int flag;

    snprintf(name, sizeof(name), "%s/file", folder);
    DO(MPI_File_open, MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR,
       MPI_INFO_NULL, &file);
    DO(MPI_File_set_view, file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
    DO(MPI_File_write_at, file, at, x, 2, MPI_INT, &s);
    DO(MPI_File_write_at_all, file, at, x, 2, MPI_INT, &s);
    DO(MPI_File_iwrite_at, file, at, x, 2, MPI_INT, &q);
    WAIT(&q);
    DO(MPI_File_seek, file, at, MPI_SEEK_SET);
    DO(MPI_File_write, file, x, 2, MPI_INT, MPI_STATUS_IGNORE);
    DO(MPI_File_write_all, file, x, 2, MPI_INT, MPI_STATUS_IGNORE);
    DO(MPI_File_iwrite, file, x, 2, MPI_INT, &q);
    WAIT(&q);
    DO(MPI_File_get_position, file, &place);
    DO(MPI_File_sync, file);
    DO(MPI_Barrier, MPI_COMM_WORLD);
    DO(MPI_File_read_at, file, at, y, 2, MPI_INT, &s);
    DO(MPI_File_read_at_all, file, at, y, 2, MPI_INT, &s);
    DO(MPI_File_iread_at, file, at, y, 2, MPI_INT, &q);
    WAIT(&q);
    DO(MPI_File_seek, file, at, MPI_SEEK_SET);
    DO(MPI_File_read, file, y, 2, MPI_INT, MPI_STATUS_IGNORE);
    DO(MPI_File_read_all, file, y + 2, 2, MPI_INT, MPI_STATUS_IGNORE);
    DO(MPI_File_iread, file, y + 4, 2, MPI_INT, &q);
    WAIT(&q);
    DO(MPI_File_write_at_all_begin, file, at, x, 2, MPI_INT);
    DO(MPI_File_write_at_all_end, file, x, &s);
    DO(MPI_File_read_at_all_begin, file, at, y, 2, MPI_INT);
    DO(MPI_File_read_at_all_end, file, y, &s);
    DO(MPI_File_get_size, file, &place);
    DO(MPI_File_set_size, file, 8192);
    DO(MPI_File_preallocate, file, 8192);
    DO(MPI_File_get_amode, file, &flag);
    DO(MPI_File_set_atomicity, file, 0);
    DO(MPI_File_get_atomicity, file, &flag);
    DO(MPI_File_close, &file);
    DO(MPI_Barrier, MPI_COMM_WORLD);
    if (rank == 0)
        DO(MPI_File_delete, name, MPI_INFO_NULL);
    add(y, 6);
}

int main(int argc, char **argv)
{
    long sums[PEERS] = {0};

    DO(MPI_Init, &argc, &argv);
    folder = argv[1];
    DO(MPI_Comm_rank, MPI_COMM_WORLD, &rank);
    DO(MPI_Comm_size, MPI_COMM_WORLD, &size);
    to = (rank + 1) % size;
    from = (rank + size - 1) % size;
    for (int i = 0; i < 64; i++) {
        x[i] = 100 * rank + i;
        y[i] = z[i] = w[i] = i;
    }
    for (int i = 0; i < 16; i++) {
        counts[i] = 2;
        places[i] = 2 * i;
        far_places[i] = byte_places[i] = 8 * i;
        types[i] = MPI_INT;
#ifdef MPICH_VERSION
        many[i] = 2;
#endif
    }
    blocking(MPI_COMM_WORLD);
    buffered(MPI_COMM_WORLD);
    persistent(MPI_COMM_WORLD);
    probed(MPI_COMM_WORLD);
    odd(MPI_COMM_WORLD);
#ifdef MPICH_VERSION
    large(MPI_COMM_WORLD);
    partitioned(MPI_COMM_WORLD);
#endif
    collectives(MPI_COMM_WORLD);
    in_place(MPI_COMM_WORLD);
    communicators(MPI_COMM_WORLD);
    topologies(MPI_COMM_WORLD);
    datatypes();
    operations();
    groups();
    attributes();
    environment();
    windows();
    files();
    DO(MPI_Gather, &sum, 1, MPI_LONG, sums, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    if (rank == 0)
        for (int i = 0; i < size; i++)
            printf("%d: %ld\n", i, sums[i]);
    DO(MPI_Finalize);
    write_down();
    return 0;
}
