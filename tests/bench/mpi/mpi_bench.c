/* mpi_bench.c - the time of a collective operation of MPI.
 *
 *     mpirun -n 8 mpi_bench allreduce8
 *
 * Operations: `allreduce8` and `allreduce4k` add up 1 or 512 doubles of each
 * rank, `barrier` is one. Rank 0 prints
 *
 *     median_us 12.345
 *
 * the median, over several batches, of the time of one operation in
 * microseconds. Batches begin after a barrier and have as many operations as
 * take some 2 ms or more; between operations a rank does nothing but look at
 * what came back. There are fewer batches when they take very long, as they
 * may where ranks that spin share a processor.
 *
 * Compiled by the compiler wrappers of Open MPI and of MPICH; beyond C11 it
 * needs nothing but MPI. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORDS 512 /* of the longer sum */
#define BATCHES 41
#define BATCHES_MIN 3
#define BATCH_SECONDS 0.002
#define WARM_UP_SECONDS 0.05
#define SECONDS_MAX 2.0 /* for all batches, once there are the least */
#define BATCH_MAX 1000000

typedef struct bench {
    int words; /* 0: a barrier */
    int rank, ranks;
    double mine[WORDS], sum[WORDS];
} bench;

static void wrong(const bench *b, int word)
{
    fprintf(stderr, "mpi_bench: rank %d: the sum of word %d is %g\n", b->rank,
            word, b->sum[word]);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Rank r contributes r + word + round, so that each round has another sum. All
 * of these are whole numbers, and added exactly. */
static double expected(const bench *b, int word, int round)
{
    return b->ranks * (b->ranks - 1) / 2.0 +
           (double)b->ranks * (word + round % 1000);
}

static void round_run(bench *b, int round)
{
    if (b->words == 0) {
        MPI_Barrier(MPI_COMM_WORLD);
        return;
    }
    b->mine[0] = b->rank + round % 1000;
    MPI_Allreduce(b->mine, b->sum, b->words, MPI_DOUBLE, MPI_SUM,
                  MPI_COMM_WORLD);
    if (b->sum[0] != expected(b, 0, round))
        wrong(b, 0);
}

/* Seconds that a batch takes; the other words are the same in each round. */
static double batch_run(bench *b, int rounds)
{
    double begin, seconds;

    MPI_Barrier(MPI_COMM_WORLD);
    begin = MPI_Wtime();
    for (int round = 0; round < rounds; round++)
        round_run(b, round);
    seconds = MPI_Wtime() - begin;
    for (int word = 1; word < b->words; word++)
        if (b->sum[word] != expected(b, word, 0))
            wrong(b, word);
    return seconds;
}

/* What rank 0 says holds for all. */
static int agree(int value)
{
    MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return value;
}

/* Warms up, and finds how many rounds a batch has. */
static int rounds_find(bench *b)
{
    double begin = MPI_Wtime();
    int rounds = 1;

    for (;;) {
        double seconds = batch_run(b, rounds);
        int is_long = seconds >= BATCH_SECONDS || rounds >= BATCH_MAX;
        if (agree(is_long)) {
            if (agree(MPI_Wtime() - begin >= WARM_UP_SECONDS))
                return rounds;
        } else {
            rounds *= 2;
        }
    }
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void measure(bench *b)
{
    double us[BATCHES], begin;
    int rounds = rounds_find(b), count = 0;

    begin = MPI_Wtime();
    do {
        us[count++] = batch_run(b, rounds) / rounds * 1e6;
    } while (agree(count < BATCHES &&
                   (count < BATCHES_MIN || MPI_Wtime() - begin < SECONDS_MAX)));
    qsort(us, (size_t)count, sizeof(us[0]), ascending);
    if (b->rank == 0)
        printf("median_us %.3f\n", us[count / 2]);
    fflush(stdout); /* MPI_Finalize may take its time */
}

static int words_of(const char *operation)
{
    if (strcmp(operation, "allreduce8") == 0)
        return 1;
    if (strcmp(operation, "allreduce4k") == 0)
        return WORDS;
    return strcmp(operation, "barrier") == 0 ? 0 : -1;
}

int main(int argc, char **argv)
{
    static bench b;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &b.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &b.ranks);
    b.words = argc == 2 ? words_of(argv[1]) : -1;
    if (b.words < 0) {
        if (b.rank == 0)
            fprintf(stderr,
                    "usage: mpi_bench allreduce8|allreduce4k|barrier\n");
        MPI_Finalize();
        return 1;
    }
    for (int word = 0; word < b.words; word++)
        b.mine[word] = b.rank + word;
    measure(&b);
    MPI_Finalize();
    return 0;
}
