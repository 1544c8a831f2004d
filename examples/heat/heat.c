/* heat.c - heat in a rod, an MPI program that EventSpace knows nothing of. Each
 * rank has a part of the rod; where it burns, the fire is computed, too.
 *
 *     mpicc -O2 -g heat.c -o heat
 *     mpiexec -n 4 eventspace mpi --output=RUN -- ./heat
 *     eventspace view RUN delay-costs */
#include <math.h>
#include <mpi.h>
#include <stdio.h>

#define CELLS 20000 /* of a rank */
#define STEPS 1000
#define FLAMES 12 /* a fire takes so many times as long as the heat */

static double old[CELLS + 2], new[CELLS + 2];
static int rank, ranks;

static void borders(void)
{
    int left = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    int right = rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL;

    MPI_Sendrecv(&old[1], 1, MPI_DOUBLE, left, 0, &old[CELLS + 1], 1,
                 MPI_DOUBLE, right, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(&old[CELLS], 1, MPI_DOUBLE, right, 1, &old[0], 1, MPI_DOUBLE,
                 left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static double spread(void)
{
    double change = 0;

    for (int i = 1; i <= CELLS; i++) {
        new[i] = old[i] + 0.25 * (old[i - 1] - 2 * old[i] + old[i + 1]);
        change += fabs(new[i] - old[i]);
    }
    return change;
}

static void burn(void)
{
    for (int flame = 0; flame < FLAMES; flame++)
        for (int i = 1; i <= CELLS; i++)
            new[i] += 1e-6 * exp(-fabs(new[i] - flame));
}

int main(int argc, char **argv)
{
    double mine, all = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int i = 0; i <= CELLS + 1; i++)
        old[i] = rank == 2 ? 1 : 0;
    for (int step = 0; step < STEPS; step++) {
        borders();
        mine = spread();
        if (rank == 2)
            burn();
        MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        for (int i = 1; i <= CELLS; i++)
            old[i] = new[i];
    }
    if (rank == 0)
        printf("change of the last step: %.3f\n", all);
    MPI_Finalize();
    return 0;
}
