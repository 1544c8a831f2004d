/* record.c - what `eventspace mpi` adds to calls of an MPI program.
 *
 *   mpi.call        to a call that does next to nothing; the limit is what a
 *                   bare interposer adds (two stamps and 36 bytes)
 *   mpi.pingpong    8 bytes in shared memory, recorded; the limit is with the
 *                   bare interposer
 *   mpi.allreduce8  the same of an all-reduce of two ranks
 *   mpi.eztrace.*   what is added to these, beside what EZTrace adds
 *   mpi.kernel.*    parts of real programs (mpi/kernels.c), recorded; the limit
 *                   is without
 *
 * Each course runs the program in each way, one after the other: as it is, with
 * the bare interposer, recorded, by EZTrace. The medians of all courses are
 * told. EZTrace has its buffer as it is, which is the largest that OTF2 allows.
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/bench/bench.h"

#define COURSES 15

#ifndef RECORD_OPENMPI_BENCH
#define RECORD_OPENMPI_BENCH NULL
#define RECORD_OPENMPI_KERNELS NULL
#define RECORD_OPENMPI_BARE NULL
#define RECORD_OPENMPI_RUN NULL
#endif
#ifndef RECORD_MPICH_BENCH
#define RECORD_MPICH_BENCH NULL
#define RECORD_MPICH_KERNELS NULL
#define RECORD_MPICH_BARE NULL
#define RECORD_MPICH_RUN NULL
#endif

typedef enum way { PLAIN, BARE, RECORDED, EZTRACE, WAYS } way;

typedef struct library {
    const char *name, *bench, *kernels, *bare, *launcher, *arguments, *preload;
} library;

static const library libraries[] = {
    {"openmpi", RECORD_OPENMPI_BENCH, RECORD_OPENMPI_KERNELS,
     RECORD_OPENMPI_BARE, RECORD_OPENMPI_RUN,
     "--allow-run-as-root --oversubscribe --bind-to none --mca pml ob1 "
     "--mca btl self,vader",
     "-x LD_PRELOAD="},
    {"mpich", RECORD_MPICH_BENCH, RECORD_MPICH_KERNELS, RECORD_MPICH_BARE,
     RECORD_MPICH_RUN, "", "-genv LD_PRELOAD "},
};

/* What stands before the program. */
static void way_write(char *out, size_t capacity, const library *l, way how)
{
    switch (how) {
    case RECORDED:
        snprintf(out, capacity,
                 EVENTSPACE " mpi --replace --output=recorded --");
        break;
    case EZTRACE:
        snprintf(out, capacity, "eztrace -t %s -o eztraced", l->name);
        break;
    default:
        *out = 0;
    }
}

/* NAN: it printed no number. */
static double run(const library *l, const char *program, const char *operation,
                  int ranks, way how)
{
    char command[4096], way_text[512], line[64];
    double ns = NAN;
    FILE *in;

    way_write(way_text, sizeof(way_text), l, how);
    snprintf(command, sizeof(command), "%s %s -n %d %s%s %s %s %s 2>/dev/null",
             l->launcher, l->arguments, ranks, how == BARE ? l->preload : "",
             how == BARE ? l->bare : "", way_text, program, operation);
    in = popen(command, "r");
    while (in && isnan(ns) && fgets(line, sizeof(line), in))
        if (sscanf(line, "%lf", &ns) != 1)
            ns = NAN; /* EZTrace says what it does */
    while (in && fgets(line, sizeof(line), in))
        ;
    if (in)
        pclose(in);
    return ns;
}

typedef struct times {
    double ns[WAYS][COURSES];
} times;

/* Courses in these ways, one after the other. */
static void courses(times *t, const library *l, const char *program,
                    const char *operation, int ranks, unsigned ways)
{
    for (int i = 0; i < COURSES; i++)
        for (int how = 0; how < WAYS; how++)
            t->ns[how][i] = ways & 1u << how
                                ? run(l, program, operation, ranks, (way)how)
                                : NAN;
}

static double median_of(const times *t, way how)
{
    times copy = *t; /* it is sorted */

    return bench_median(copy.ns[how], COURSES);
}

/* What one adds to the program as it is: the machine may be faster in one
 * course than in another, so each is compared with its own. */
static double median_added(const times *t, way how)
{
    double added[COURSES];

    for (int i = 0; i < COURSES; i++)
        added[i] = t->ns[how][i] - t->ns[PLAIN][i];
    return bench_median(added, COURSES);
}

static bool name_wanted(char *out, size_t capacity, const char *group,
                        const char *operation, const library *l)
{
    snprintf(out, capacity, "mpi.%s%s.%s", group, operation, l->name);
    return bench_wants(out);
}

static void call_measure(const library *l)
{
    times t;
    char name[64];

    if (!name_wanted(name, sizeof(name), "", "call", l))
        return;
    courses(&t, l, l->bench, "call", 1,
            1u << PLAIN | 1u << BARE | 1u << RECORDED);
    bench_print_beside(name, median_added(&t, RECORDED), "ns",
                       median_added(&t, BARE), "bare interposer");
}

static void communication_measure(const library *l, const char *operation,
                                  bool has_eztrace)
{
    times t;
    char name[64], beside[64];
    bool is_wanted = name_wanted(name, sizeof(name), "", operation, l);
    unsigned ways = 1u << PLAIN | 1u << BARE | 1u << RECORDED;

    has_eztrace &=
        name_wanted(beside, sizeof(beside), "eztrace.", operation, l);
    if (!is_wanted && !has_eztrace)
        return;
    courses(&t, l, l->bench, operation, 2,
            has_eztrace ? ways | 1u << EZTRACE : ways);
    if (is_wanted)
        bench_print_beside(name, median_of(&t, RECORDED), "ns",
                           median_of(&t, BARE), "bare interposer");
    if (has_eztrace)
        bench_print_beside(beside, median_added(&t, RECORDED), "ns",
                           median_added(&t, EZTRACE), "EZTrace");
}

static void kernel_measure(const library *l, const char *kernel)
{
    times t;
    char name[64];

    if (!name_wanted(name, sizeof(name), "kernel.", kernel, l))
        return;
    courses(&t, l, l->kernels, kernel, 2, 1u << PLAIN | 1u << RECORDED);
    bench_print_beside(name, median_of(&t, RECORDED) / 1e3, "us",
                       median_of(&t, PLAIN) / 1e3, "as it is");
}

void bench_record(void)
{
    static const char *const kernels[] = {"stencil", "cg", "alltoall",
                                          "workers"};
    bool has_eztrace = system("command -v eztrace >/dev/null") == 0;

    if (!has_eztrace)
        fprintf(stderr, "bench: EZTrace is not installed\n");
    for (size_t i = 0; i < sizeof(libraries) / sizeof(*libraries); i++) {
        const library *l = &libraries[i];
        if (!l->bench) {
            fprintf(stderr, "bench: %s is not installed\n", l->name);
            continue;
        }
        call_measure(l);
        communication_measure(l, "pingpong", has_eztrace);
        communication_measure(l, "allreduce8", has_eztrace);
        for (size_t k = 0; k < sizeof(kernels) / sizeof(*kernels); k++)
            kernel_measure(l, kernels[k]);
    }
}
