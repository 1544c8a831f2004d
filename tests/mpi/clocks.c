/* clocks.c - how messages and collectives go between ranks, for clocks:
 *
 *     clocks SHAPE ROUNDS
 *
 * It computes a little between them, each rank another while. */
#include <mpi.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BYTES 64
#define BUSY 20000

static int rank, size, rounds;
static char out[BYTES], in[4 * BYTES];

static void compute(int round)
{
    volatile double sum = 0;

    for (int i = 0; i < BUSY * (1 + (rank + round) % 3); i++)
        sum += i;
}

static void send(int to, int tag, MPI_Comm comm)
{
    MPI_Send(out, BYTES, MPI_BYTE, to, tag, comm);
}

static void receive(int from, int tag, MPI_Comm comm)
{
    MPI_Recv(in, BYTES, MPI_BYTE, from, tag, comm, MPI_STATUS_IGNORE);
}

/* There and back between neighbours in the line of ranks. */
static void both(int round)
{
    (void)round;
    if (rank > 0) {
        receive(rank - 1, 1, MPI_COMM_WORLD);
        send(rank - 1, 2, MPI_COMM_WORLD);
    }
    if (rank + 1 < size) {
        send(rank + 1, 1, MPI_COMM_WORLD);
        receive(rank + 1, 2, MPI_COMM_WORLD);
    }
}

/* From rank 0 to the others only. */
static void one(int round)
{
    (void)round;
    for (int to = 1; rank == 0 && to < size; to++)
        send(to, 1, MPI_COMM_WORLD);
    if (rank > 0)
        receive(0, 1, MPI_COMM_WORLD);
}

/* From the others to rank 0 only. */
static void back(int round)
{
    (void)round;
    for (int from = 1; rank == 0 && from < size; from++)
        receive(from, 1, MPI_COMM_WORLD);
    if (rank > 0)
        send(0, 1, MPI_COMM_WORLD);
}

static void barrier(int round)
{
    (void)round;
    MPI_Barrier(MPI_COMM_WORLD);
}

static void sums(int round)
{
    double mine = round, all;

    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

/* From a root, and to one, called in two places. */
static void rooted(int round)
{
    double mine = round, all[16];

    if (round % 2)
        MPI_Bcast(&mine, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    else
        MPI_Bcast(&mine, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    MPI_Gather(&mine, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}

/* Of no bytes: nobody has to wait for anybody. */
static void empty(int round)
{
    double none[1];

    compute(round * 7);
    MPI_Bcast(none, 0, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    MPI_Reduce(none, none + 1, 0, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Allreduce(none, none + 1, 0, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

/* Receives that are posted early, from anybody, with tags that overtake each
 * other, in two communicators, and completed by several kinds of calls. */
static void mixed(int round)
{
    static MPI_Comm other = MPI_COMM_NULL;
    MPI_Request requests[4];
    int peer = rank ^ 1, index;

    if (other == MPI_COMM_NULL)
        MPI_Comm_dup(MPI_COMM_WORLD, &other);
    if (peer < size) {
        MPI_Irecv(in, BYTES, MPI_BYTE, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD,
                  &requests[0]);
        MPI_Irecv(in + BYTES, BYTES, MPI_BYTE, peer, 2, MPI_COMM_WORLD,
                  &requests[1]);
        MPI_Irecv(in + 2 * BYTES, BYTES, MPI_BYTE, peer, MPI_ANY_TAG, other,
                  &requests[2]);
        MPI_Isend(out, BYTES, MPI_BYTE, peer, 2, MPI_COMM_WORLD, &requests[3]);
        compute(round);
        send(peer, 3, other);
        send(peer, 1, MPI_COMM_WORLD);
        MPI_Waitany(4, requests, &index, MPI_STATUS_IGNORE);
        MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
        MPI_Send(out, BYTES, MPI_BYTE, peer, 4, other);
        MPI_Recv(in, BYTES, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, other,
                 MPI_STATUS_IGNORE);
    }
}

/* A receive is freed before its message is sent: when that has come nobody
 * knows. */
static void freed(int round)
{
    static char late[BYTES];
    MPI_Request request;

    if (rank == 1) {
        MPI_Irecv(late, BYTES, MPI_BYTE, 0, 9, MPI_COMM_WORLD, &request);
        MPI_Request_free(&request);
        send(0, 1, MPI_COMM_WORLD);
        receive(0, 2, MPI_COMM_WORLD);
    } else if (rank == 0) {
        receive(1, 1, MPI_COMM_WORLD);
        compute(round);
        send(1, 9, MPI_COMM_WORLD);
        send(1, 2, MPI_COMM_WORLD);
    }
}

/* One way between a rank and another one. */
static void from_to(int from, int to)
{
    if (rank == from)
        send(to, 5, MPI_COMM_WORLD);
    if (rank == to)
        receive(from, 5, MPI_COMM_WORLD);
}

/* There and back in each of two pairs, and from the first to the second; then
 * also from the second to the first, but between others. */
static void pairs(int round)
{
    (void)round;
    from_to(0, 1);
    from_to(1, 0);
    from_to(2, 3);
    from_to(3, 2);
    from_to(1, 2);
}

static void around(int round)
{
    pairs(round);
    from_to(3, 0);
}

/* Each of two threads with a communicator of its own. */
static MPI_Comm of_thread[2];

static void *thread_talks(void *argument)
{
    MPI_Comm comm = *(MPI_Comm *)argument;
    int peer = rank ^ 1;

    for (int i = 0; i < rounds && peer < size; i++) {
        if (rank % 2) {
            receive(peer, 1, comm);
            send(peer, 2, comm);
        } else {
            send(peer, 1, comm);
            receive(peer, 2, comm);
        }
    }
    return NULL;
}

static void threads(void)
{
    pthread_t other;

    for (int i = 0; i < 2; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &of_thread[i]);
    pthread_create(&other, NULL, thread_talks, &of_thread[1]);
    thread_talks(&of_thread[0]);
    pthread_join(other, NULL);
}

/* Each to the next one. */
static void ring(int round)
{
    (void)round;
    for (int from = 0; from < size; from++)
        from_to(from, (from + 1) % size);
}

static void nothing(int round)
{
    (void)round;
}

static const struct {
    const char *name;
    void (*round)(int round);
} shapes[] = {{"both", both},       {"one", one},       {"back", back},
              {"barrier", barrier}, {"sums", sums},     {"rooted", rooted},
              {"empty", empty},     {"mixed", mixed},   {"nothing", nothing},
              {"pairs", pairs},     {"around", around}, {"freed", freed},
              {"ring", ring},       {"fast", both},     {NULL, NULL}};

int main(int argc, char **argv)
{
    bool has_threads = argc == 3 && strcmp(argv[1], "threads") == 0;
    int provided;

    if (argc != 3)
        return 2;
    MPI_Init_thread(&argc, &argv,
                    has_threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE,
                    &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    rounds = atoi(argv[2]);
    if (has_threads && provided == MPI_THREAD_MULTIPLE)
        threads();
    for (int s = 0; shapes[s].name; s++) {
        if (strcmp(argv[1], shapes[s].name) != 0)
            continue;
        for (int i = 0; i < rounds; i++) {
            if (strcmp(argv[1], "fast") != 0)
                compute(i);
            shapes[s].round(i);
        }
    }
    MPI_Finalize();
    return 0;
}
