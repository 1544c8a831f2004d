/* ring.c - an MPI program whose ranks send messages round a ring, and count in
 * a file of which they have all come back: what is there when one is killed is
 * what it has done at least.
 *
 *     ring FILE ROUNDS
 *
 * FILE has two numbers of 64 bits for each rank: sends and receives that
 * have ended. The message of round n has n % 1000 + 1 bytes. */
#include <fcntl.h>
#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { BYTES = 1000, EVERY = 100, WORK = 20000 };

typedef struct done {
    _Atomic uint64_t sends, receives;
} done;

/* The file is there, with zeros. */
static done *mine(const char *file, int rank)
{
    int fd = open(file, O_RDWR);
    done *counts = mmap(NULL, (size_t)(rank + 1) * sizeof(done),
                        PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    return counts == MAP_FAILED ? NULL : &counts[rank];
}

static void work(void)
{
    static volatile unsigned x;

    for (int i = 0; i < WORK; i++)
        x = x * 3 + 1;
}

static void turn(done *counts, int round, int to, int from)
{
    static char out[BYTES], in[BYTES];
    MPI_Request q;

    MPI_Isend(out, round % BYTES + 1, MPI_BYTE, to, 1, MPI_COMM_WORLD, &q);
    counts->sends++;
    MPI_Recv(in, BYTES, MPI_BYTE, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    counts->receives++;
    MPI_Wait(&q, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    int rank, size, rounds = argc == 3 ? atoi(argv[2]) : 0, sum;
    done *counts;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    counts = mine(argv[1], rank);
    if (!counts)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = 0; i < rounds; i++) {
        work();
        turn(counts, i, (rank + 1) % size, (rank + size - 1) % size);
        if (i % EVERY == 0)
            MPI_Allreduce(&i, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
