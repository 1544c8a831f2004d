/* record_bench.c - what calls take, in nanoseconds: `record_bench OPERATION`.
 *
 *   call        one that does next to nothing
 *   pingpong    8 bytes there and back, half of it
 *   allreduce8  one double of all ranks
 *
 * What a block takes is printed by rank 0, of each. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "turns.h"

#define BLOCKS 41

static int rank;
static double blocks[BLOCKS];

static void call(int count)
{
    MPI_Status status;
    int got;

    memset(&status, 0, sizeof(status));
    for (int i = 0; i < count; i++)
        MPI_Get_count(&status, MPI_INT, &got);
}

static void pingpong(int count)
{
    double value = rank;

    for (int i = 0; i < count; i++) {
        if (rank == 0) {
            MPI_Send(&value, 1, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);
            MPI_Recv(&value, 1, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        } else if (rank == 1) {
            MPI_Recv(&value, 1, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
            MPI_Send(&value, 1, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD);
        }
    }
}

static void allreduce8(int count)
{
    double value = rank, sum;

    for (int i = 0; i < count; i++)
        MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static const struct {
    const char *name;
    void (*run)(int count);
    int count, shares;
} operations[] = {{"call", call, 20000, 1},
                  {"pingpong", pingpong, 5000, 2},
                  {"allreduce8", allreduce8, 5000, 1}};

int main(int argc, char **argv)
{
    turns turns;
    double start;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    turns = turns_open();
    for (size_t k = 0; k < sizeof(operations) / sizeof(*operations); k++) {
        if (argc < 2 || strcmp(argv[1], operations[k].name) != 0)
            continue;
        for (int i = 0; i < BLOCKS; i++) {
            turns_begin(&turns);
            start = MPI_Wtime();
            operations[k].run(operations[k].count);
            blocks[i] = (MPI_Wtime() - start) * 1e9 / operations[k].count /
                        operations[k].shares;
            turns_end(&turns);
        }
        for (int i = 0; rank == 0 && i < BLOCKS; i++)
            printf("%.2f\n", blocks[i]);
    }
    MPI_Finalize();
    return 0;
}
