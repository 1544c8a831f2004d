/* rarer.c - a program of MPI that makes the calls that counts.c does not, and
 * counts them and their bytes; for counts_test.mjs.
 *
 *     rarer FOLDER
 *     rarer FOLDER child
 *
 * Which it has made is in FOLDER (counting.h). The second is what the first
 * spawns, and counts nothing. */
#include <unistd.h>

#include "counting.h"

static int to, from; /* neighbors in a ring */

#define DO(name, ...) done_with(#name, name(__VA_ARGS__), 0)
#define BYTES(bytes, name, ...) done_with(#name, name(__VA_ARGS__), bytes)
#define WAIT(request) DO(MPI_Wait, request, MPI_STATUS_IGNORE)

static int x[64], y[64], z[64];

/* --- collectives that nobody waits in --- */

static int counts[16], places[16], byte_places[16];
static MPI_Datatype types[16];
static MPI_Aint far_places[16];
#ifdef MPICH_VERSION
static MPI_Count many[16];
static MPI_Aint wide_places[16];
#endif

#define LATER(bytes, name, ...)                                                \
    do {                                                                       \
        MPI_Request its;                                                       \
        BYTES(bytes, name, __VA_ARGS__, &its);                                 \
        WAIT(&its);                                                            \
    } while (0)

static void collectives(MPI_Comm c)
{
    const int two = 2 * sizeof(int);

    LATER(two, MPI_Ibcast, y, 2, MPI_INT, 0, c);
    LATER(two, MPI_Ireduce, x, y, 2, MPI_INT, MPI_SUM, 0, c);
    LATER(two, MPI_Igather, x, 2, MPI_INT, z, 2, MPI_INT, 0, c);
    LATER(two, MPI_Igatherv, x, 2, MPI_INT, z, counts, places, MPI_INT, 0, c);
    LATER(two, MPI_Iscatter, z, 2, MPI_INT, y, 2, MPI_INT, 0, c);
    LATER(two, MPI_Iscatterv, z, counts, places, MPI_INT, y, 2, MPI_INT, 0, c);
    LATER(two, MPI_Iallgather, x, 2, MPI_INT, z, 2, MPI_INT, c);
    LATER(two, MPI_Iallreduce, x, y, 2, MPI_INT, MPI_SUM, c);
    LATER(two, MPI_Iscan, x, y, 2, MPI_INT, MPI_SUM, c);
    LATER(two * size, MPI_Ialltoall, z, 2, MPI_INT, y, 2, MPI_INT, c);
    LATER(two * size, MPI_Ialltoallv, z, counts, places, MPI_INT, y, counts,
          places, MPI_INT, c);
    LATER(two * size, MPI_Ialltoallw, z, counts, byte_places, types, y, counts,
          byte_places, types, c);
    LATER(two * size, MPI_Ireduce_scatter, z, y, counts, MPI_INT, MPI_SUM, c);
    LATER(two * size, MPI_Ireduce_scatter_block, z, y, 2, MPI_INT, MPI_SUM, c);
    LATER(0, MPI_Ialltoallv, MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, y,
          counts, places, MPI_INT, c);
    LATER(0, MPI_Ibarrier, c);
}

/* In one direction there is one neighbor, or there are two. */
static void neighbors(MPI_Comm c, int out)
{
    const int two = 2 * sizeof(int);

    BYTES(two * out, MPI_Neighbor_alltoall, z, 2, MPI_INT, y, 2, MPI_INT, c);
    BYTES(two * out, MPI_Neighbor_alltoallv, z, counts, places, MPI_INT, y,
          counts, places, MPI_INT, c);
    BYTES(two * out, MPI_Neighbor_alltoallw, z, counts, far_places, types, y,
          counts, far_places, types, c);
    BYTES(two, MPI_Neighbor_allgather, x, 2, MPI_INT, y, 2, MPI_INT, c);
    LATER(two * out, MPI_Ineighbor_alltoall, z, 2, MPI_INT, y, 2, MPI_INT, c);
    LATER(two * out, MPI_Ineighbor_alltoallv, z, counts, places, MPI_INT, y,
          counts, places, MPI_INT, c);
    LATER(two * out, MPI_Ineighbor_alltoallw, z, counts, far_places, types, y,
          counts, far_places, types, c);
    LATER(two, MPI_Ineighbor_allgatherv, x, 2, MPI_INT, y, counts, places,
          MPI_INT, c);
#ifdef MPICH_VERSION
    BYTES(two, MPI_Neighbor_allgatherv_c, x, 2, MPI_INT, y, many, wide_places,
          MPI_INT, c);
    BYTES(two * out, MPI_Neighbor_alltoallv_c, z, many, wide_places, MPI_INT, y,
          many, wide_places, MPI_INT, c);
    BYTES(two * out, MPI_Neighbor_alltoallw_c, z, many, far_places, types, y,
          many, far_places, types, c);
    LATER(two, MPI_Ineighbor_allgatherv_c, x, 2, MPI_INT, y, many, wide_places,
          MPI_INT, c);
    LATER(two * out, MPI_Ineighbor_alltoallv_c, z, many, wide_places, MPI_INT,
          y, many, wide_places, MPI_INT, c);
    LATER(two * out, MPI_Ineighbor_alltoallw_c, z, many, far_places, types, y,
          many, far_places, types, c);
#endif
}

static void topologies(void)
{
    int dims[1] = {size}, periods[1] = {1}, one = 1;
    MPI_Comm comm;

    DO(MPI_Cart_create, MPI_COMM_WORLD, 1, dims, periods, 0, &comm);
    neighbors(comm, 2);
    DO(MPI_Comm_free, &comm);
    DO(MPI_Dist_graph_create_adjacent, MPI_COMM_WORLD, 1, &from, &one, 1, &to,
       &one, MPI_INFO_NULL, 0, &comm);
    neighbors(comm, 1);
    DO(MPI_Comm_free, &comm);
}

/* --- partitions --- */

#ifdef MPICH_VERSION
static void partitioned(void)
{
    MPI_Request q[2];
    int flag = 0, list[] = {2, 3};
    const int each = 2 * sizeof(int);

    BYTES(4 * each, MPI_Psend_init, x, 4, 2, MPI_INT, to, 5, MPI_COMM_WORLD,
          MPI_INFO_NULL, &q[0]);
    BYTES(4 * each, MPI_Precv_init, y, 4, 2, MPI_INT, from, 5, MPI_COMM_WORLD,
          MPI_INFO_NULL, &q[1]);
    for (int i = 0; i < 3; i++) {
        DO(MPI_Start, &q[0]);
        DO(MPI_Start, &q[1]);
        DO(MPI_Pready, 0, q[0]);
        DO(MPI_Pready_range, 1, 1, q[0]);
        DO(MPI_Pready_list, 2, list, q[0]);
        DO(MPI_Parrived, q[1], 3, &flag);
        DO(MPI_Waitall, 2, q, MPI_STATUSES_IGNORE);
    }
    DO(MPI_Request_free, &q[0]);
    DO(MPI_Request_free, &q[1]);
}
#endif

/* --- files --- */

static MPI_File file;

/* Of calls that say how much: an int, or an MPI_Count. */
#define OF_FILES(C)                                                            \
    do {                                                                       \
        const MPI_Offset at = 64 * rank;                                       \
        const int n = 3, bytes = 3 * sizeof(int);                              \
        MPI_Status s;                                                          \
        BYTES(bytes, MPI_File_write##C, file, x, n, MPI_INT, &s);              \
        BYTES(bytes, MPI_File_write_all##C, file, x, n, MPI_INT, &s);          \
        BYTES(bytes, MPI_File_write_at##C, file, at, x, n, MPI_INT, &s);       \
        BYTES(bytes, MPI_File_write_at_all##C, file, at, x, n, MPI_INT, &s);   \
        BYTES(bytes, MPI_File_write_shared##C, file, x, n, MPI_INT, &s);       \
        BYTES(bytes, MPI_File_write_ordered##C, file, x, n, MPI_INT, &s);      \
        BYTES(bytes, MPI_File_write_ordered_begin##C, file, x, n, MPI_INT);    \
        DO(MPI_File_write_ordered_end, file, x, &s);                           \
        BYTES(bytes, MPI_File_write_all_begin##C, file, x, n, MPI_INT);        \
        DO(MPI_File_write_all_end, file, x, &s);                               \
        BYTES(bytes, MPI_File_write_at_all_begin##C, file, at, x, n, MPI_INT); \
        DO(MPI_File_write_at_all_end, file, x, &s);                            \
        LATER(bytes, MPI_File_iwrite##C, file, x, n, MPI_INT);                 \
        LATER(bytes, MPI_File_iwrite_at##C, file, at, x, n, MPI_INT);          \
        LATER(bytes, MPI_File_iwrite_all##C, file, x, n, MPI_INT);             \
        LATER(bytes, MPI_File_iwrite_at_all##C, file, at, x, n, MPI_INT);      \
        LATER(bytes, MPI_File_iwrite_shared##C, file, x, n, MPI_INT);          \
        /* What is read is there: Open MPI 4.1.4 may wait for ever else. */    \
        DO(MPI_File_set_size, file, 8192);                                     \
        DO(MPI_File_seek, file, 0, MPI_SEEK_SET);                              \
        DO(MPI_File_seek_shared, file, 0, MPI_SEEK_SET);                       \
        BYTES(bytes, MPI_File_read##C, file, y, n, MPI_INT, &s);               \
        BYTES(bytes, MPI_File_read_all##C, file, y, n, MPI_INT, &s);           \
        BYTES(bytes, MPI_File_read_at##C, file, at, y, n, MPI_INT, &s);        \
        BYTES(bytes, MPI_File_read_at_all##C, file, at, y, n, MPI_INT, &s);    \
        BYTES(bytes, MPI_File_read_shared##C, file, y, n, MPI_INT, &s);        \
        BYTES(bytes, MPI_File_read_ordered##C, file, y, n, MPI_INT, &s);       \
        BYTES(bytes, MPI_File_read_ordered_begin##C, file, y, n, MPI_INT);     \
        DO(MPI_File_read_ordered_end, file, y, &s);                            \
        BYTES(bytes, MPI_File_read_all_begin##C, file, y, n, MPI_INT);         \
        DO(MPI_File_read_all_end, file, y, &s);                                \
        BYTES(bytes, MPI_File_read_at_all_begin##C, file, at, y, n, MPI_INT);  \
        DO(MPI_File_read_at_all_end, file, y, &s);                             \
        LATER(bytes, MPI_File_iread##C, file, y, n, MPI_INT);                  \
        LATER(bytes, MPI_File_iread_at##C, file, at, y, n, MPI_INT);           \
        LATER(bytes, MPI_File_iread_all##C, file, y, n, MPI_INT);              \
        LATER(bytes, MPI_File_iread_at_all##C, file, at, y, n, MPI_INT);       \
        LATER(bytes, MPI_File_iread_shared##C, file, y, n, MPI_INT);           \
    } while (0)

static void files(void)
{
    MPI_Offset place;
    MPI_Aint extent;
    MPI_Group group;
    MPI_Info info;
    MPI_Datatype one, other;
    char name[4096], how[MPI_MAX_DATAREP_STRING];

    snprintf(name, sizeof(name), "%s/file", folder);
    DO(MPI_File_open, MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR,
       MPI_INFO_NULL, &file);
    DO(MPI_File_get_group, file, &group);
    DO(MPI_Group_free, &group);
    DO(MPI_File_get_info, file, &info);
    DO(MPI_File_set_info, file, info);
    DO(MPI_Info_free, &info);
    DO(MPI_File_get_view, file, &place, &one, &other, how);
    DO(MPI_File_get_byte_offset, file, 4, &place);
    DO(MPI_File_get_type_extent, file, MPI_INT, &extent);
    OF_FILES();
#ifdef MPICH_VERSION
    OF_FILES(_c);
#endif
    DO(MPI_File_get_position_shared, file, &place);
    DO(MPI_File_close, &file);
}

/* --- windows --- */

#define OF_WINDOWS(C)                                                          \
    do {                                                                       \
        const int bytes = 2 * sizeof(int);                                     \
        BYTES(bytes, MPI_Put##C, x, 2, MPI_INT, to, 0, 2, MPI_INT, win);       \
        DO(MPI_Win_flush, to, win);                                            \
        BYTES(bytes, MPI_Get##C, y, 2, MPI_INT, to, 0, 2, MPI_INT, win);       \
        DO(MPI_Win_flush, to, win);                                            \
        BYTES(bytes, MPI_Accumulate##C, x, 2, MPI_INT, to, 0, 2, MPI_INT,      \
              MPI_SUM, win);                                                   \
        DO(MPI_Win_flush, to, win);                                            \
        BYTES(bytes, MPI_Get_accumulate##C, x, 2, MPI_INT, y, 2, MPI_INT, to,  \
              0, 2, MPI_INT, MPI_SUM, win);                                    \
        DO(MPI_Win_flush, to, win);                                            \
        LATER(bytes, MPI_Rput##C, x, 2, MPI_INT, to, 0, 2, MPI_INT, win);      \
        DO(MPI_Win_flush, to, win);                                            \
        LATER(bytes, MPI_Rget##C, y, 2, MPI_INT, to, 0, 2, MPI_INT, win);      \
        LATER(bytes, MPI_Raccumulate##C, x, 2, MPI_INT, to, 0, 2, MPI_INT,     \
              MPI_SUM, win);                                                   \
        DO(MPI_Win_flush, to, win);                                            \
        LATER(bytes, MPI_Rget_accumulate##C, x, 2, MPI_INT, y, 2, MPI_INT, to, \
              0, 2, MPI_INT, MPI_SUM, win);                                    \
    } while (0)

static void windows(void)
{
    MPI_Group group, peer;
    MPI_Win win;
    int *memory, flag = 0;

    DO(MPI_Win_allocate, 64, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD,
       &memory, &win);
    DO(MPI_Win_lock_all, 0, win);
    OF_WINDOWS();
#ifdef MPICH_VERSION
    OF_WINDOWS(_c);
#endif
    DO(MPI_Win_unlock_all, win);
    BYTES(0, MPI_Barrier, MPI_COMM_WORLD);
    DO(MPI_Win_get_group, win, &group);
    DO(MPI_Group_incl, group, 1, &from, &peer);
    DO(MPI_Win_post, peer, 0, win);
    DO(MPI_Group_free, &peer);
    DO(MPI_Group_incl, group, 1, &to, &peer);
    DO(MPI_Win_start, peer, 0, win);
    DO(MPI_Group_free, &peer);
    DO(MPI_Group_free, &group);
    DO(MPI_Win_complete, win);
    while (!flag)
        DO(MPI_Win_test, win, &flag);
    DO(MPI_Win_free, &win);
#ifdef MPICH_VERSION
    MPI_Aint bytes, unit;
    int *other;
    DO(MPI_Win_allocate_c, 64, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    DO(MPI_Win_free, &win);
    DO(MPI_Win_create_c, y, sizeof(y), 4, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    DO(MPI_Win_free, &win);
    DO(MPI_Win_allocate_shared_c, 64, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &memory,
       &win);
    DO(MPI_Win_shared_query_c, win, 0, &bytes, &unit, &other);
    DO(MPI_Win_free, &win);
#endif
}

/* --- processes of elsewhere, whose messages are calls with bytes --- */

#ifdef OPEN_MPI /* Debian's MPICH 4.0.2 has none: not with UCX */
static void talk(MPI_Comm inter, int is_first)
{
    int in;

    if (is_first)
        BYTES(4, MPI_Send, x, 1, MPI_INT, 0, 1, inter);
    else
        BYTES(4, MPI_Recv, &in, 1, MPI_INT, 0, 1, inter, MPI_STATUS_IGNORE);
}

static void child(void)
{
    MPI_Comm parent, merged;
    int in;

    MPI_Comm_get_parent(&parent);
    MPI_Recv(&in, 1, MPI_INT, 0, 1, parent, MPI_STATUS_IGNORE);
    MPI_Intercomm_merge(parent, 1, &merged);
    MPI_Barrier(merged);
    MPI_Comm_free(&merged);
    MPI_Comm_disconnect(&parent);
}

static void spawn(const char *program)
{
    char *words[] = {(char *)folder, "child", NULL}, **all[] = {words},
         *programs[] = {(char *)program};
    int codes[1], one = 1;
    MPI_Info none = MPI_INFO_NULL;
    MPI_Comm children, merged;

    for (int i = 0; i < 2; i++) {
        if (i)
            DO(MPI_Comm_spawn_multiple, 1, programs, all, &one, &none, 0,
               MPI_COMM_WORLD, &children, codes);
        else
            DO(MPI_Comm_spawn, programs[0], words, 1, MPI_INFO_NULL, 0,
               MPI_COMM_WORLD, &children, codes);
        if (rank == 0)
            talk(children, 1);
        DO(MPI_Intercomm_merge, children, 0, &merged);
        DO(MPI_Barrier, merged);
        DO(MPI_Comm_free, &merged);
        DO(MPI_Comm_disconnect, &children);
    }
}

static void ports(void)
{
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm other;

    if (rank == 0)
        DO(MPI_Open_port, MPI_INFO_NULL, port);
    BYTES(sizeof(port), MPI_Bcast, port, sizeof(port), MPI_CHAR, 0,
          MPI_COMM_WORLD);
    if (rank == 0)
        DO(MPI_Comm_accept, port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &other);
    if (rank == 1)
        DO(MPI_Comm_connect, port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &other);
    if (rank < 2) {
        talk(other, rank == 0);
        DO(MPI_Comm_disconnect, &other);
    }
    if (rank == 0)
        DO(MPI_Close_port, port);
}
#endif

/* --- */

int main(int argc, char **argv)
{
    int provided;

    DO(MPI_Init_thread, &argc, &argv, MPI_THREAD_SERIALIZED, &provided);
    folder = argv[1];
#ifdef OPEN_MPI
    if (argc > 2) {
        child();
        MPI_Finalize();
        return 0;
    }
#endif
    DO(MPI_Comm_rank, MPI_COMM_WORLD, &rank);
    DO(MPI_Comm_size, MPI_COMM_WORLD, &size);
    to = (rank + 1) % size;
    from = (rank + size - 1) % size;
    for (int i = 0; i < 16; i++) {
        counts[i] = 2;
        places[i] = 2 * i;
        far_places[i] = byte_places[i] = 8 * i;
        types[i] = MPI_INT;
#ifdef MPICH_VERSION
        many[i] = 2;
        wide_places[i] = 2 * i;
#endif
    }
    collectives(MPI_COMM_WORLD);
    topologies();
#ifdef MPICH_VERSION
    partitioned();
#endif
    files();
    windows();
#ifdef OPEN_MPI
    spawn(argv[0]);
    ports();
#endif
    if (rank == 0)
        printf("%d\n", size);
    DO(MPI_Finalize);
    write_down();
    return 0;
}
