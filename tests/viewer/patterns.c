/* patterns.c - an MPI program that communicates in one of some patterns, and
 * counts what it sends.
 *
 *     patterns PATTERN ROUNDS FOLDER [LATE]
 *
 * PATTERN: stencil, ring, all or workers. Each rank writes FOLDER/RANK: lines
 * of receiver, messages and bytes. The rank LATE computes longer than others.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MOST 4096 /* bytes of a message */

static int me, count, rounds, late = -1;
static unsigned long long messages[1024], bytes[1024];
static char out[MOST], in[MOST];

static void compute(void)
{
    struct timespec pause = {.tv_nsec = me == late ? 20000000 : 100000};

    if (late >= 0)
        nanosleep(&pause, NULL);
}

static void tell(int to, int size)
{
    MPI_Send(out, size, MPI_CHAR, to, 0, MPI_COMM_WORLD);
    messages[to]++;
    bytes[to] += (unsigned long long)size;
}

static int hear(int from)
{
    MPI_Status status;

    MPI_Recv(in, MOST, MPI_CHAR, from, 0, MPI_COMM_WORLD, &status);
    return status.MPI_SOURCE;
}

/* Begins to send and to receive as many bytes; gives the number of requests. */
static int exchange(MPI_Request *requests, MPI_Comm grid, int with, int size)
{
    static char from_there[8][MOST];
    static int next;

    if (with == MPI_PROC_NULL)
        return 0;
    MPI_Irecv(from_there[next++ % 8], size, MPI_CHAR, with, 0, grid,
              &requests[0]);
    MPI_Isend(out, size, MPI_CHAR, with, 0, grid, &requests[1]);
    messages[with]++;
    bytes[with] += (unsigned long long)size;
    return 2;
}

/* Rows are longer than columns: 800 bytes over a side, 3200 up and down. */
static void stencil(void)
{
    int sides[2] = {0, 0}, open[2] = {0, 0}, low, high;
    MPI_Comm grid;

    MPI_Dims_create(count, 2, sides);
    MPI_Cart_create(MPI_COMM_WORLD, 2, sides, open, 0, &grid);
    for (int i = 0; i < rounds; i++) {
        MPI_Request requests[8];
        double all = 0, mine = me;
        int begun = 0;
        compute();
        for (int dimension = 0; dimension < 2; dimension++) {
            int size = dimension ? 800 : 3200;
            MPI_Cart_shift(grid, dimension, 1, &low, &high);
            begun += exchange(&requests[begun], grid, low, size);
            begun += exchange(&requests[begun], grid, high, size);
        }
        MPI_Waitall(begun, requests, MPI_STATUSES_IGNORE);
        MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    MPI_Comm_free(&grid);
}

static void ring(void)
{
    for (int i = 0; i < rounds; i++) {
        compute();
        MPI_Sendrecv(out, 1000, MPI_CHAR, (me + 1) % count, 0, in, MOST,
                     MPI_CHAR, (me + count - 1) % count, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        messages[(me + 1) % count]++;
        bytes[(me + 1) % count] += 1000;
    }
}

static void all(void)
{
    for (int i = 0; i < rounds; i++)
        for (int step = 1; step < count; step++) {
            int to = (me + step) % count, from = (me + count - step) % count;
            int size = 8 * (1 + (me + to) % 7);
            MPI_Sendrecv(out, size, MPI_CHAR, to, 0, in, MOST, MPI_CHAR, from,
                         0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            messages[to]++;
            bytes[to] += (unsigned long long)size;
        }
}

/* Rank 0 gives work to whoever asks for it; an empty message is the end. */
static void workers(void)
{
    int left = rounds * (count - 1), going = count - 1;

    while (me == 0 && going > 0) {
        int worker = hear(MPI_ANY_SOURCE);
        going -= left == 0;
        tell(worker, left > 0 ? 64 : 1);
        left -= left > 0;
    }
    while (me != 0) {
        MPI_Status status;
        int got;
        tell(0, 16 * me);
        MPI_Recv(in, MOST, MPI_CHAR, 0, 0, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_CHAR, &got);
        if (got == 1)
            return;
        compute();
    }
}

static void write_counts(const char *folder)
{
    char name[4096];
    FILE *file;

    snprintf(name, sizeof(name), "%s/%d", folder, me);
    file = fopen(name, "w");
    for (int i = 0; file && i < count; i++)
        if (messages[i])
            fprintf(file, "%d %llu %llu\n", i, messages[i], bytes[i]);
    if (!file || fclose(file) != 0)
        MPI_Abort(MPI_COMM_WORLD, 1);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } patterns[] = {{"stencil", stencil},
                    {"ring", ring},
                    {"all", all},
                    {"workers", workers}};

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &count);
    if (argc < 4 || count > 1024)
        MPI_Abort(MPI_COMM_WORLD, 2);
    rounds = atoi(argv[2]);
    late = argc > 4 ? atoi(argv[4]) : -1;
    for (size_t i = 0; i < sizeof(patterns) / sizeof(*patterns); i++)
        if (strcmp(patterns[i].name, argv[1]) == 0)
            patterns[i].run();
    write_counts(argv[3]);
    MPI_Finalize();
    return 0;
}
