/* replayed.c - programs whose time under other conditions can be computed by
 * hand; for replayed_test.mjs.
 *
 *     replayed PROGRAM ROUNDS
 *
 * Rank 0 prints the processor time that counts, in nanoseconds: of the rank
 * that computes, between its calls in the rounds. It tells each rank how long
 * to compute, so that it is known who is last. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BYTES = 1000, WORK_NS = 5000000 };

static int rank, size;
static char out[BYTES], in[2][BYTES];

static long long used_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

/* Gives what it used. */
static long long compute(long long ns)
{
    long long from = used_ns(), now = from;

    while (now - from < ns)
        now = used_ns();
    return now - from;
}

static long long stencil(int rounds)
{
    int left = (rank + size - 1) % size, right = (rank + 1) % size;
    long long all = 0;

    for (int i = 0; i < rounds; i++) {
        MPI_Request q[4];
        long long own = compute(rank == 0 ? WORK_NS : 0);
        all += rank == 0 ? own : 0;
        MPI_Irecv(in[0], BYTES, MPI_CHAR, left, 1, MPI_COMM_WORLD, &q[0]);
        MPI_Irecv(in[1], BYTES, MPI_CHAR, right, 2, MPI_COMM_WORLD, &q[1]);
        MPI_Isend(out, BYTES, MPI_CHAR, right, 1, MPI_COMM_WORLD, &q[2]);
        MPI_Isend(out, BYTES, MPI_CHAR, left, 2, MPI_COMM_WORLD, &q[3]);
        MPI_Waitall(4, q, MPI_STATUSES_IGNORE);
    }
    return all;
}

static long long sums(int rounds)
{
    long long all = 0;
    double one = 1, sum;

    for (int i = 0; i < rounds; i++) {
        long long own = compute(rank == 0 ? WORK_NS : 0);
        all += rank == 0 ? own : 0;
        MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    return all;
}

/* The root's part comes after it has got the others': all wait for it. */
static long long trees(int rounds)
{
    long long all = 0;
    double one = 1, sum;

    for (int i = 0; i < rounds; i++) {
        long long own;
        MPI_Reduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
        own = compute(rank == 0 ? WORK_NS : 0);
        all += rank == 0 ? own : 0;
        MPI_Bcast(&sum, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    }
    return all;
}

/* One task at a time for each worker: the master answers whoever comes. */
static long long workers(int rounds)
{
    long long spent[2] = {0, 0}, each;
    MPI_Status status;
    int tasks = rounds, ended = 0, task = 0;

    if (rank == 0) {
        long long most = 0;
        while (ended < size - 1) {
            MPI_Recv(&each, 1, MPI_LONG_LONG, MPI_ANY_SOURCE, MPI_ANY_TAG,
                     MPI_COMM_WORLD, &status);
            task = tasks > 0 ? 1 : 0;
            tasks -= task;
            ended += !task;
            most = !task && each > most ? each : most;
            MPI_Send(&task, 1, MPI_INT, status.MPI_SOURCE, 3, MPI_COMM_WORLD);
        }
        return most;
    }
    do {
        MPI_Send(&spent[0], 1, MPI_LONG_LONG, 0, rank, MPI_COMM_WORLD);
        MPI_Recv(&task, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (task)
            spent[0] += compute(WORK_NS);
    } while (task);
    return 0;
}

/* Between 0 and 1. */
static long long there_and_back(int rounds)
{
    int peer = 1 - rank;

    for (int i = 0; i < rounds && rank < 2; i++) {
        if (rank == 0)
            MPI_Send(out, BYTES, MPI_CHAR, peer, 1, MPI_COMM_WORLD);
        MPI_Recv(in[0], BYTES, MPI_CHAR, peer, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        if (rank == 1)
            MPI_Send(out, BYTES, MPI_CHAR, peer, 1, MPI_COMM_WORLD);
    }
    return 0;
}

static const struct {
    const char *name;
    long long (*run)(int rounds);
} programs[] = {{"stencil", stencil},
                {"sums", sums},
                {"trees", trees},
                {"workers", workers},
                {"there_and_back", there_and_back}};

int main(int argc, char **argv)
{
    long long ns = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (size_t i = 0; i < sizeof(programs) / sizeof(*programs); i++)
        if (argc > 2 && strcmp(argv[1], programs[i].name) == 0)
            ns = programs[i].run(atoi(argv[2]));
    if (rank == 0)
        printf("%lld\n", ns);
    MPI_Finalize();
    return 0;
}
