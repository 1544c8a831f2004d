/* loops.c - loops of the kind by which MPI itself is measured (OSU, IMB): the
 * latency and bandwidth of messages, rates, collectives and one-sided
 * communication of growing sizes; for loops_test.mjs.
 *
 *     loops FOLDER
 *
 * FOLDER/RANK.counts has what counting.h says, with the bytes of collectives
 * and of one-sided calls. */
#include "counting.h"

enum { LARGEST = 1 << 20, WINDOW = 16, TAG = 1 };

static char *out, *in; /* WINDOW times as long as the largest */
static long wrong;     /* bytes that came as others than those sent */

#define DO(name, ...) done_with(#name, name(__VA_ARGS__), -1)
#define DO_BYTES(bytes, name, ...) done_with(#name, name(__VA_ARGS__), bytes)

/* Small ones often, large ones less. */
static int times(int bytes)
{
    return bytes <= 1 << 10 ? 20 : 4;
}

static int next_size(int bytes)
{
    return bytes * 16 < LARGEST || bytes == LARGEST ? bytes * 16 : LARGEST;
}

#define EACH_SIZE(bytes)                                                       \
    for (int bytes = 1; bytes <= LARGEST; bytes = next_size(bytes))

static void send_to(int peer, int bytes)
{
    DO(MPI_Send, out, bytes, MPI_CHAR, peer, TAG, MPI_COMM_WORLD);
    note_sent(peer, bytes);
}

static void receive_from(int peer, int bytes)
{
    DO(MPI_Recv, in, LARGEST, MPI_CHAR, peer, TAG, MPI_COMM_WORLD,
       MPI_STATUS_IGNORE);
    note_received(peer, bytes);
    wrong += in[0] != peer + 1 || in[bytes - 1] != peer + 1;
}

/* One of a window of sends that have been started. */
static void start_send(int peer, int bytes, MPI_Request *q)
{
    DO(MPI_Isend, out, bytes, MPI_CHAR, peer, TAG, MPI_COMM_WORLD, q);
    note_sent(peer, bytes);
}

static void start_receive(int peer, int bytes, int place, MPI_Request *q)
{
    DO(MPI_Irecv, in + (long)place * bytes, bytes, MPI_CHAR, peer, TAG,
       MPI_COMM_WORLD, q);
    note_received(peer, bytes);
}

/* --- pairs: rank and peer --- */

static void latency(int peer, int is_first)
{
    EACH_SIZE(bytes)
    for (int i = 0; i < times(bytes); i++) {
        if (is_first)
            send_to(peer, bytes);
        receive_from(peer, bytes);
        if (!is_first)
            send_to(peer, bytes);
    }
}

/* A window of messages, and an answer. */
static void bandwidth(int peer, int is_first)
{
    MPI_Request q[WINDOW];

    EACH_SIZE(bytes)
    for (int i = 0; i < times(bytes); i++) {
        for (int k = 0; k < WINDOW; k++) {
            if (is_first)
                start_send(peer, bytes, &q[k]);
            else
                start_receive(peer, bytes, k, &q[k]);
        }
        DO(MPI_Waitall, WINDOW, q, MPI_STATUSES_IGNORE);
        if (is_first)
            receive_from(peer, 4);
        else
            send_to(peer, 4);
    }
}

/* A window in each direction. */
static void both_ways(int peer)
{
    MPI_Request q[2 * WINDOW];

    EACH_SIZE(bytes)
    for (int i = 0; i < times(bytes); i++) {
        for (int k = 0; k < WINDOW; k++)
            start_receive(peer, bytes, k, &q[k]);
        for (int k = 0; k < WINDOW; k++)
            start_send(peer, bytes, &q[WINDOW + k]);
        DO(MPI_Waitall, 2 * WINDOW, q, MPI_STATUSES_IGNORE);
    }
}

/* Small messages from all to all others, whoever is first. */
static void message_rate(void)
{
    MPI_Request q[2 * PEERS];
    int count, index, left;

    for (int i = 0; i < 200; i++) {
        count = 0;
        for (int peer = 0; peer < size; peer++)
            if (peer != rank)
                start_receive(peer, 8, peer, &q[count++]);
        for (int peer = 0; peer < size; peer++)
            if (peer != rank)
                start_send(peer, 8, &q[count++]);
        for (left = count; left > 0; left--)
            DO(MPI_Waitany, count, q, &index, MPI_STATUS_IGNORE);
    }
}

/* --- all --- */

static void collectives(void)
{
    EACH_SIZE(bytes)
    for (int i = 0; i < times(bytes); i++) {
        int doubles = (bytes + 7) / 8, each = (bytes + size - 1) / size;
        DO_BYTES(doubles * 8L, MPI_Allreduce, out, in, doubles, MPI_DOUBLE,
                 MPI_MAX, MPI_COMM_WORLD);
        DO_BYTES(bytes, MPI_Bcast, in, bytes, MPI_CHAR, i % size,
                 MPI_COMM_WORLD);
        DO_BYTES((long)each * size, MPI_Alltoall, out, each, MPI_CHAR, in, each,
                 MPI_CHAR, MPI_COMM_WORLD);
        DO(MPI_Barrier, MPI_COMM_WORLD);
    }
}

/* --- one-sided --- */

static void fences(int peer, MPI_Win win)
{
    EACH_SIZE(bytes)
    for (int i = 0; i < times(bytes); i++) {
        DO(MPI_Win_fence, 0, win);
        DO_BYTES(bytes, MPI_Put, out, bytes, MPI_CHAR, peer, 0, bytes, MPI_CHAR,
                 win);
        DO(MPI_Win_fence, 0, win);
        DO_BYTES(bytes, MPI_Get, in, bytes, MPI_CHAR, peer, 0, bytes, MPI_CHAR,
                 win);
        DO(MPI_Win_fence, 0, win);
        wrong += in[0] != rank + 1;
    }
}

static void locks(int peer, MPI_Win win)
{
    EACH_SIZE(bytes)
    for (int i = 0; i < times(bytes); i++) {
        DO(MPI_Win_lock, MPI_LOCK_SHARED, peer, 0, win);
        DO_BYTES(bytes, MPI_Put, out, bytes, MPI_CHAR, peer, 0, bytes, MPI_CHAR,
                 win);
        DO(MPI_Win_flush, peer, win);
        DO_BYTES(bytes, MPI_Get, in, bytes, MPI_CHAR, peer, 0, bytes, MPI_CHAR,
                 win);
        DO(MPI_Win_unlock, peer, win);
        wrong += in[bytes - 1] != rank + 1;
    }
}

static void one_sided(int peer)
{
    MPI_Win win;
    char *memory;

    DO(MPI_Win_allocate, LARGEST, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory,
       &win);
    fences(peer, win);
    DO(MPI_Barrier, MPI_COMM_WORLD);
    locks(peer, win);
    DO(MPI_Win_free, &win);
}

/* --- */

int main(int argc, char **argv)
{
    int peer;
    long all = 0;

    folder = argc > 1 ? argv[1] : ".";
    DO(MPI_Init, &argc, &argv);
    DO(MPI_Comm_rank, MPI_COMM_WORLD, &rank);
    DO(MPI_Comm_size, MPI_COMM_WORLD, &size);
    peer = rank ^ 1;
    out = malloc((size_t)LARGEST * WINDOW);
    in = malloc((size_t)LARGEST * WINDOW);
    memset(out, rank + 1, (size_t)LARGEST * WINDOW);
    if (rank < 2) /* the others wait at the next that is for all */
        latency(peer, rank == 0);
    bandwidth(peer, rank < peer);
    both_ways(peer);
    message_rate();
    collectives();
    one_sided(peer);
    DO_BYTES(sizeof(long), MPI_Reduce, &wrong, &all, 1, MPI_LONG, MPI_SUM, 0,
             MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d ranks, %ld wrong\n", size, all);
    DO(MPI_Finalize);
    write_down();
    return 0;
}
