/* ending.c - programs of MPI that end in one way or another; for
 * endings_test.mjs.
 *
 *     ending HOW [WORD...]
 *
 * Each rank sends messages to the next; the n-th of a rank has n + 1 bytes. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROUNDS = 200 };

static int rank, size;

static void talk(int rounds)
{
    static char out[ROUNDS + 1], in[2][ROUNDS + 1];
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    MPI_Request all[4];

    for (int i = 0; i < rounds; i += 2) {
        MPI_Irecv(in[0], sizeof(in[0]), MPI_BYTE, from, 1, MPI_COMM_WORLD,
                  &all[0]);
        MPI_Irecv(in[1], sizeof(in[1]), MPI_BYTE, from, 1, MPI_COMM_WORLD,
                  &all[1]);
        MPI_Isend(out, i + 1, MPI_BYTE, to, 1, MPI_COMM_WORLD, &all[2]);
        MPI_Isend(out, i + 2, MPI_BYTE, to, 1, MPI_COMM_WORLD, &all[3]);
        MPI_Waitall(4, all, MPI_STATUSES_IGNORE);
    }
}

/* A message goes to a receive that nobody waits for. */
static void free_one(void)
{
    static char in[ROUNDS];
    char out[ROUNDS] = "";
    MPI_Request q;

    MPI_Irecv(in, sizeof(in), MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG,
              MPI_COMM_WORLD, &q);
    MPI_Request_free(&q);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Send(out, ROUNDS - 1, MPI_BYTE, (rank + 1) % size, 1, MPI_COMM_WORLD);
}

/* Waits for what nobody sends. */
static void wait_for_ever(void)
{
    char in;

    MPI_Recv(&in, 1, MPI_BYTE, (rank + 1) % size, 2, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
}

static void end_early(const char *how)
{
    if (rank != 1)
        wait_for_ever();
    if (strcmp(how, "killed") == 0)
        raise(SIGKILL);
    MPI_Abort(MPI_COMM_WORLD, 5);
}

/* Others, that inherit what this one was started with. */
static void have_children(char **words)
{
    pid_t child = fork();
    int status;

    if (child == 0) {
        execv(words[0], words);
        _exit(127);
    }
    waitpid(child, &status, 0);
    if (status != 0 || system("sh -c 'exit 3'") != 3 << 8)
        MPI_Abort(MPI_COMM_WORLD, 6);
    child = fork();
    if (child == 0)
        exit(0); /* as this program would */
    waitpid(child, &status, 0);
}

int main(int argc, char **argv)
{
    const char *how = argv[1];

    if (strcmp(how, "elsewhere") == 0 && chdir("/") != 0)
        return 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (strcmp(how, "freed") == 0)
        free_one();
    talk(ROUNDS);
    MPI_Barrier(MPI_COMM_WORLD); /* launchers kill those that are left */
    if (strcmp(how, "killed") == 0 || strcmp(how, "aborted") == 0)
        end_early(how);
    if (strcmp(how, "left") == 0) {
        printf("%d leaves\n", rank);
        exit(3);
    }
    if (strcmp(how, "children") == 0)
        have_children(argv + 2);
    talk(ROUNDS / 2);
    printf("%d of %d\n", rank, size);
    MPI_Finalize();
    return strcmp(how, "failing") == 0 ? 4 : 0;
}
