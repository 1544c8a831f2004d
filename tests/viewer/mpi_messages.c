/* mpi_messages.c - an MPI program that knows nothing of EventSpace: it sends
 * messages in all sorts of ways, each of another length, which so tells which
 * it is: modulo the number of ranks, the rank that sent it. Receives check
 * that.
 *
 *     mpi_messages ROUNDS */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define ROOM 100000

static int rank, size, sent;
static char out[ROOM], in[ROOM];

static int length(void)
{
    return ++sent * size + rank;
}

/* From whom a message is, whatever the communicator. */
static void check(const MPI_Status *status, int from)
{
    int bytes;

    MPI_Get_count(status, MPI_BYTE, &bytes);
    if (bytes % size == from)
        return;
    fprintf(stderr, "rank %d: %d bytes are not from %d\n", rank, bytes, from);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Rank 0 takes what comes first, whoever sends with whatever tag, and answers.
 */
static void any(int rounds)
{
    MPI_Status status;

    for (int i = 0; i < rounds * (size - 1) && rank == 0; i++) {
        MPI_Recv(in, ROOM, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG,
                 MPI_COMM_WORLD, &status);
        check(&status, status.MPI_SOURCE);
        MPI_Ssend(out, length(), MPI_BYTE, status.MPI_SOURCE,
                  status.MPI_TAG + 1000, MPI_COMM_WORLD);
    }
    for (int i = 0; i < rounds && rank > 0; i++) {
        int tag = (i * 7 + rank) % 900; /* more than have elements each */
        MPI_Send(out, length(), MPI_BYTE, 0, tag, MPI_COMM_WORLD);
        MPI_Recv(in, ROOM, MPI_BYTE, 0, tag + 1000, MPI_COMM_WORLD, &status);
        check(&status, 0);
    }
}

/* Around the ring backwards, in a communicator in which ranks are the other way
 * round; two at once, of which the second is received first. */
static void turned(int rounds)
{
    MPI_Comm ring;
    MPI_Request requests[2];
    MPI_Status status;
    int own;

    MPI_Comm_split(MPI_COMM_WORLD, 0, size - rank, &ring);
    MPI_Comm_rank(ring, &own);
    for (int i = 0; i < rounds; i++) {
        for (int k = 0; k < 2; k++)
            MPI_Isend(out, length(), MPI_BYTE, (own + 1) % size, k, ring,
                      &requests[k]);
        for (int k = 1; k >= 0; k--) {
            MPI_Recv(in, ROOM, MPI_BYTE, (own + size - 1) % size, k, ring,
                     &status);
            check(&status, (rank + 1) % size);
        }
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        MPI_Allreduce(&rank, &own, 1, MPI_INT, MPI_MAX, ring);
        MPI_Comm_rank(ring, &own);
    }
    MPI_Comm_free(&ring);
}

/* What one sends in MPI_Sendrecv the other one receives in MPI_Recv, and what
 * it sends in MPI_Send, in MPI_Sendrecv. */
static void crossed(int rounds)
{
    MPI_Status status;
    int other = 1 - rank;

    for (int i = 0; i < rounds && rank == 0; i++) {
        MPI_Sendrecv(out, length(), MPI_BYTE, other, 2000, in, ROOM, MPI_BYTE,
                     other, 2001, MPI_COMM_WORLD, &status);
        check(&status, other);
        MPI_Send(out, length(), MPI_BYTE, other, 2000, MPI_COMM_WORLD);
    }
    for (int i = 0; i < rounds && rank == 1; i++) {
        MPI_Recv(in, ROOM, MPI_BYTE, other, 2000, MPI_COMM_WORLD, &status);
        check(&status, other);
        MPI_Sendrecv(out, length(), MPI_BYTE, other, 2001, in, ROOM, MPI_BYTE,
                     other, 2000, MPI_COMM_WORLD, &status);
        check(&status, other);
    }
}

/* The message of the duplicate was sent second and is received first. */
static void duplicated(int rounds)
{
    MPI_Comm comms[2] = {MPI_COMM_WORLD};
    MPI_Status status;

    MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
    for (int i = 0; i < rounds; i++) {
        for (int k = 0; k < 2 && rank == 0; k++)
            MPI_Send(out, length(), MPI_BYTE, 1, 2002, comms[k]);
        for (int k = 1; k >= 0 && rank == 1; k--) {
            MPI_Recv(in, ROOM, MPI_BYTE, 0, 2002, comms[k], &status);
            check(&status, 0);
        }
    }
    MPI_Comm_free(&comms[1]);
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 10;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    any(rounds);
    turned(rounds);
    crossed(rounds);
    duplicated(rounds);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
