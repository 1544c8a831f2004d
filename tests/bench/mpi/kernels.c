/* kernels.c - what parts of real programs take, in nanoseconds a step:
 * `kernels NAME [BLOCKS]`, by two ranks or more.
 *
 *   stencil    a Jacobi sweep over the rows of a rank, their edges exchanged
 *              with the neighbors before, and the largest change of all every
 *              8th
 *   cg         a step of conjugate gradients for the 5-point Laplacian, without
 *              a matrix: an exchange of edges and two dot products
 *   alltoall   the transposition of a matrix, of which each rank has rows
 *   wavefront  a table of which each cell needs those above and to the left:
 *              rows by rank, columns in pieces that ranks pass on
 *   workers    rank 0 gives out pieces of work, to whoever asks
 *
 * Each checks what it computes. The median of blocks (250, or as many as are
 * asked for) is printed by rank 0; where programs take turns, what each block
 * takes. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "turns.h"

#define BLOCKS 250
#define MOST_BLOCKS 10000
/* A turn is so many blocks: 10 ms or more. In a shorter one much of what is
 * measured is how a program finds its code and data again after another one has
 * had the processor. */
#define TURN_BLOCKS 5
#define SIDE 256 /* of what is computed with; a multiple of the ranks */

static int rank, ranks, rows;

static void check(int is_right, const char *what)
{
    if (is_right)
        return;
    fprintf(stderr, "kernels: %s\n", what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Rows of a rank, with one more above and below. */
static double *grid_make(void)
{
    double *grid = calloc((size_t)(rows + 2) * SIDE, sizeof(*grid));

    check(grid != NULL, "there is no memory");
    return grid;
}

static double *row_of(double *grid, int row)
{
    return grid + (size_t)row * SIDE;
}

static void edges_exchange(double *grid)
{
    int up = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    int down = rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL;
    MPI_Request requests[4];
    MPI_Status statuses[4];

    MPI_Irecv(row_of(grid, 0), SIDE, MPI_DOUBLE, up, 1, MPI_COMM_WORLD,
              &requests[0]);
    MPI_Irecv(row_of(grid, rows + 1), SIDE, MPI_DOUBLE, down, 2, MPI_COMM_WORLD,
              &requests[1]);
    MPI_Isend(row_of(grid, 1), SIDE, MPI_DOUBLE, up, 2, MPI_COMM_WORLD,
              &requests[2]);
    MPI_Isend(row_of(grid, rows), SIDE, MPI_DOUBLE, down, 1, MPI_COMM_WORLD,
              &requests[3]);
    MPI_Waitall(4, requests, statuses);
}

/* --- stencil --- */

static double *now, *next;
static int sweeps;
static double change = INFINITY;

static void stencil_begin(void)
{
    now = grid_make();
    next = grid_make();
    for (int x = 0; rank == 0 && x < SIDE; x++)
        now[x] = next[x] = 1; /* above all rows: nobody sends this one */
}

static double sweep(void)
{
    double largest = 0, *between;

    for (int y = 1; y <= rows; y++) {
        const double *above = row_of(now, y - 1), *below = row_of(now, y + 1);
        const double *own = row_of(now, y);
        double *out = row_of(next, y);
        for (int x = 1; x < SIDE - 1; x++) {
            double by;
            out[x] = (above[x] + below[x] + own[x - 1] + own[x + 1]) / 4;
            by = fabs(out[x] - own[x]);
            /* No fmax: by where libm happens to lie in memory, a call of it for
             * each cell made of a sweep one of 60 us or of 100. */
            largest = by > largest ? by : largest;
        }
    }
    between = now;
    now = next;
    next = between;
    return largest;
}

static void stencil(void)
{
    double largest;

    edges_exchange(now);
    largest = sweep();
    if (++sweeps % 8)
        return;
    MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPI_DOUBLE, MPI_MAX,
                  MPI_COMM_WORLD);
    check(largest <= change, "sweeps do not converge");
    change = largest;
}

/* --- conjugate gradients --- */

static double *solution, *residual, *direction, *product, rho;

static double dot(double *a, double *b)
{
    double sum = 0;

    for (int i = SIDE; i < (rows + 1) * SIDE; i++)
        sum += a[i] * b[i];
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sum;
}

static void cg_again(void)
{
    memset(solution, 0, (size_t)(rows + 2) * SIDE * sizeof(*solution));
    for (int i = SIDE; i < (rows + 1) * SIDE; i++)
        residual[i] = direction[i] = 1 + i % 7;
    rho = dot(residual, residual);
}

static void cg_begin(void)
{
    solution = grid_make();
    residual = grid_make();
    direction = grid_make();
    product = grid_make();
    cg_again();
}

static void laplacian(void)
{
    for (int y = 1; y <= rows; y++) {
        const double *above = row_of(direction, y - 1);
        const double *below = row_of(direction, y + 1);
        const double *own = row_of(direction, y);
        double *out = row_of(product, y);
        for (int x = 0; x < SIDE; x++)
            out[x] = 4 * own[x] - above[x] - below[x] -
                     (x > 0 ? own[x - 1] : 0) - (x < SIDE - 1 ? own[x + 1] : 0);
    }
}

static void cg(void)
{
    double alpha, before = rho;

    edges_exchange(direction);
    laplacian();
    alpha = rho / dot(direction, product);
    check(alpha > 0, "the matrix is not positive");
    for (int i = SIDE; i < (rows + 1) * SIDE; i++) {
        solution[i] += alpha * direction[i];
        residual[i] -= alpha * product[i];
    }
    rho = dot(residual, residual);
    for (int i = SIDE; i < (rows + 1) * SIDE; i++)
        direction[i] = residual[i] + rho / before * direction[i];
    if (rho < 1e-6)
        cg_again();
}

/* --- all to all --- */

static double *matrix, *packed, *arrived;
static int is_turned;

static void alltoall_begin(void)
{
    matrix = grid_make();
    packed = grid_make();
    arrived = grid_make();
    for (int y = 0; y < rows; y++)
        for (int x = 0; x < SIDE; x++)
            row_of(matrix, y)[x] = (double)(rank * rows + y) * SIDE + x;
}

static void turned_check(void)
{
    for (int y = 0; y < rows; y += 17)
        for (int x = 0; x < SIDE; x += 13) {
            int own = rank * rows + y;
            check(row_of(matrix, y)[x] == (is_turned ? (double)x * SIDE + own
                                                     : (double)own * SIDE + x),
                  "the matrix is not what it should be");
        }
}

static void alltoall(void)
{
    int block = rows * rows;

    for (int to = 0; to < ranks; to++)
        for (int y = 0; y < rows; y++)
            for (int x = 0; x < rows; x++)
                packed[to * block + x * rows + y] =
                    row_of(matrix, y)[to * rows + x];
    MPI_Alltoall(packed, block, MPI_DOUBLE, arrived, block, MPI_DOUBLE,
                 MPI_COMM_WORLD);
    for (int from = 0; from < ranks; from++)
        for (int y = 0; y < rows; y++)
            memcpy(row_of(matrix, y) + from * rows,
                   arrived + from * block + y * rows,
                   (size_t)rows * sizeof(*matrix));
    is_turned = !is_turned;
    turned_check();
}

/* --- master and workers --- */

#define PIECES 16 /* a step */
#define TERMS 20000

static double piece(int number)
{
    double sum = 0;

    for (int i = 0; i < TERMS; i++)
        sum += 1.0 / (1.0 + (double)number * TERMS + i);
    return sum;
}

static void give_out(void)
{
    double sum = 0, one;
    int left = PIECES, busy = ranks - 1, number;
    MPI_Status status;

    while (busy > 0) {
        MPI_Recv(&one, 1, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG,
                 MPI_COMM_WORLD, &status);
        if (status.MPI_TAG == 1)
            sum += one;
        number = left > 0 ? --left : -1;
        busy -= number < 0;
        MPI_Send(&number, 1, MPI_INT, status.MPI_SOURCE, 3, MPI_COMM_WORLD);
    }
    check(fabs(sum - log(PIECES * TERMS) - 0.57721566) < 1e-4,
          "the sum of the pieces is wrong");
}

static void work(void)
{
    double sum = 0;
    int number, tag = 2; /* it has nothing yet */

    for (;;) {
        MPI_Send(&sum, 1, MPI_DOUBLE, 0, tag, MPI_COMM_WORLD);
        MPI_Recv(&number, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (number < 0)
            return;
        sum = piece(number);
        tag = 1;
    }
}

static void workers(void)
{
    if (rank == 0)
        give_out();
    else
        work();
    MPI_Barrier(MPI_COMM_WORLD); /* nobody asks for the next step's work yet */
}

/* --- wavefront --- */

#define PIECE 32 /* columns; SIDE is a multiple */

static double *table;

static void wavefront_begin(void)
{
    table = grid_make();
}

/* A cell is one more than the larger of the two that it needs; outside of the
 * table is 0. So that of row i and column k, from 0, is i + k + 1. */
static void cells(int from)
{
    for (int i = 1; i <= rows; i++) {
        const double *above = row_of(table, i - 1);
        double *row = row_of(table, i);
        for (int k = from; k < from + PIECE; k++) {
            double left = k > 0 ? row[k - 1] : 0;
            row[k] = 1 + (left > above[k] ? left : above[k]);
        }
    }
}

static void wavefront(void)
{
    for (int from = 0; from < SIDE; from += PIECE) {
        if (rank > 0)
            MPI_Recv(row_of(table, 0) + from, PIECE, MPI_DOUBLE, rank - 1, 6,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        cells(from);
        if (rank + 1 < ranks)
            MPI_Send(row_of(table, rows) + from, PIECE, MPI_DOUBLE, rank + 1, 6,
                     MPI_COMM_WORLD);
    }
    check(row_of(table, rows)[SIDE - 1] == (rank + 1) * rows + SIDE - 1,
          "the last cell is wrong");
}

static void nothing(void)
{
}

/* --- all --- */

static const struct {
    const char *name;
    void (*begin)(void);
    void (*step)(void);
    int steps; /* of a block */
    int rows;  /* of all ranks: steps of stencil and cg take about as long */
} kernels[] = {{"stencil", stencil_begin, stencil, 40, 3 * SIDE},
               {"cg", cg_begin, cg, 20, SIDE},
               {"alltoall", alltoall_begin, alltoall, 15, SIDE},
               {"wavefront", wavefront_begin, wavefront, 10, SIDE},
               {"workers", nothing, workers, 5, SIDE}};

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void measure(void (*step)(void), int steps, int count)
{
    static double blocks[MOST_BLOCKS];
    turns turns = turns_open();
    double start;

    if (turns.now)
        steps *= TURN_BLOCKS;
    for (int i = -2; i < count; i++) { /* two to warm up */
        turns_begin(&turns);
        start = MPI_Wtime();
        for (int k = 0; k < steps; k++)
            step();
        if (i >= 0)
            blocks[i] = (MPI_Wtime() - start) * 1e9 / steps;
        turns_end(&turns);
    }
    for (int i = 0; turns.now && rank == 0 && i < count; i++)
        printf("%.1f\n", blocks[i]);
    qsort(blocks, (size_t)count, sizeof(*blocks), ascending);
    if (!turns.now && rank == 0)
        printf("%.1f\n", blocks[count / 2]);
}

int main(int argc, char **argv)
{
    int blocks = argc > 2 ? atoi(argv[2]) : BLOCKS;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    check(ranks > 1 && SIDE % ranks == 0, "not for that many ranks");
    for (size_t k = 0; k < sizeof(kernels) / sizeof(*kernels); k++) {
        if (argc < 2 || strcmp(argv[1], kernels[k].name) != 0)
            continue;
        rows = kernels[k].rows / ranks;
        kernels[k].begin();
        check(blocks > 0 && blocks <= MOST_BLOCKS, "not so many blocks");
        measure(kernels[k].step, kernels[k].steps, blocks);
    }
    /* MPICH 4.0.2 by UCX ends with messages that it has not sent, where a link
     * is slow: then others wait for ever. */
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
