/* heat_mpi.c - a program that is not written for EventSpace: heat in a rod, by
 * MPI ranks that exchange the ends of their parts in every step.
 *
 *     mpirun -n 2 heat_mpi CELLS STEPS
 *
 * Rank 0 prints the sum of all cells, which no step changes. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, ranks;
    long cells, steps;
    double *now, *next, sum = 0, all = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    cells = argc > 2 ? atol(argv[1]) : 0;
    steps = argc > 2 ? atol(argv[2]) : 0;
    if (cells < 1 || steps < 1) {
        fprintf(stderr, "usage: heat_mpi CELLS STEPS\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    /* One cell of each neighbour at the ends; the rod is a ring. */
    now = calloc((size_t)cells + 2, sizeof(*now));
    next = calloc((size_t)cells + 2, sizeof(*next));
    if (!now || !next)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (long i = 1; i <= cells; i++)
        now[i] = (double)((rank * cells + i) % 1000);
    for (long step = 0; step < steps; step++) {
        int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
        double *swap;
        MPI_Sendrecv(&now[1], 1, MPI_DOUBLE, left, 0, &now[cells + 1], 1,
                     MPI_DOUBLE, right, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Sendrecv(&now[cells], 1, MPI_DOUBLE, right, 1, &now[0], 1,
                     MPI_DOUBLE, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (long i = 1; i <= cells; i++)
            next[i] = now[i] + 0.25 * (now[i - 1] - 2 * now[i] + now[i + 1]);
        swap = now;
        now = next;
        next = swap;
    }
    for (long i = 1; i <= cells; i++)
        sum += now[i];
    MPI_Reduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%.6g\n", all);
    free(now);
    free(next);
    MPI_Finalize();
    return 0;
}
