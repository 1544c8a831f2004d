/* mpi_token.c - an MPI program that knows nothing of EventSpace: a token goes
 * around, and whoever has it works while all others wait for it.
 *
 *     mpi_token ROUNDS */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static void work(double seconds)
{
    double end = MPI_Wtime() + seconds;

    while (MPI_Wtime() < end)
        ;
}

int main(int argc, char **argv)
{
    int rank, size, token = 0, rounds = argc > 1 ? atoi(argv[1]) : 10, sum = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < rounds; i++) {
        if (rank > 0 || i > 0)
            MPI_Recv(&token, 1, MPI_INT, (rank + size - 1) % size, 5,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        work(0.002 * (rank + 1));
        token++;
        MPI_Send(&token, 1, MPI_INT, (rank + 1) % size, 5, MPI_COMM_WORLD);
    }
    if (rank == 0)
        MPI_Recv(&token, 1, MPI_INT, size - 1, 5, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Allreduce(&token, &sum, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Finalize();
    if (sum != rounds * size) {
        fprintf(stderr, "mpi_token: %d, not %d\n", sum, rounds * size);
        return 1;
    }
    return 0;
}
