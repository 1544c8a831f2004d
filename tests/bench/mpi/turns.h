/* turns.h - programs that take turns, block by block.
 *
 * A machine that others use may be a third faster in one second than in the
 * next. So the programs that are compared run at the same time, but only one of
 * them at once: the others sleep. BENCH_TURNS is FILE:OWN:ALL; the word in FILE
 * counts the blocks of all of them, of which every ALLth from the OWNth on is
 * one of this program. Without it, blocks follow each other. */
#ifndef TESTS_BENCH_MPI_TURNS_H
#define TESTS_BENCH_MPI_TURNS_H

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <mpi.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define TURNS_SECONDS 60 /* so long another one may take */

typedef struct turns {
    _Atomic uint32_t *now; /* NULL: alone */
    uint32_t next, all;
} turns;

static void turns_fail(const char *what)
{
    fprintf(stderr, "turns: %s\n", what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static turns turns_open(void)
{
    const char *told = getenv("BENCH_TURNS");
    turns t = {0};
    char file[256];
    void *at;
    int fd;

    if (!told)
        return t;
    if (sscanf(told, "%255[^:]:%u:%u", file, &t.next, &t.all) != 3)
        turns_fail("BENCH_TURNS is not FILE:OWN:ALL");
    fd = open(file, O_RDWR);
    at = fd < 0 ? MAP_FAILED
                : mmap(NULL, sizeof(*t.now), PROT_READ | PROT_WRITE, MAP_SHARED,
                       fd, 0);
    if (at == MAP_FAILED)
        turns_fail("the file cannot be mapped");
    close(fd);
    t.now = at;
    return t;
}

/* By all ranks: returns when it is this program's turn, to all at once. */
static void turns_begin(turns *t)
{
    struct timespec longest = {TURNS_SECONDS, 0};
    uint32_t now;

    while (t->now && (now = atomic_load(t->now)) != t->next)
        if (syscall(SYS_futex, t->now, FUTEX_WAIT, now, &longest, NULL, 0) &&
            errno == ETIMEDOUT)
            turns_fail("another program does not come to an end");
    t->next += t->all;
    MPI_Barrier(MPI_COMM_WORLD);
}

/* By all ranks: it is the next program's. */
static void turns_end(turns *t)
{
    int rank;

    if (!t->now)
        return;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank)
        return;
    atomic_fetch_add(t->now, 1);
    syscall(SYS_futex, t->now, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

#endif
