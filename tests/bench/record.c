/* record.c - what `eventspace mpi` adds to calls of an MPI program.
 *
 *   mpi.call        to a call that does next to nothing; the limit is what a
 *                   bare interposer adds (two stamps and 36 bytes)
 *   mpi.pingpong    8 bytes in shared memory, recorded; the limit is with the
 *                   bare interposer
 *   mpi.allreduce8  the same of an all-reduce of two ranks
 *
 * Each course runs the program three times, as it is, with the bare interposer
 * and recorded; the medians of all courses are told. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/bench/bench.h"

#define COURSES 9

#ifndef RECORD_OPENMPI_BENCH
#define RECORD_OPENMPI_BENCH NULL
#define RECORD_OPENMPI_BARE NULL
#define RECORD_OPENMPI_RUN NULL
#endif
#ifndef RECORD_MPICH_BENCH
#define RECORD_MPICH_BENCH NULL
#define RECORD_MPICH_BARE NULL
#define RECORD_MPICH_RUN NULL
#endif

typedef enum way { PLAIN, BARE, RECORDED, WAYS } way;

typedef struct library {
    const char *name, *bench, *bare, *launcher, *arguments, *preload;
} library;

static const library libraries[] = {
    {"openmpi", RECORD_OPENMPI_BENCH, RECORD_OPENMPI_BARE, RECORD_OPENMPI_RUN,
     "--allow-run-as-root --oversubscribe --bind-to none --mca pml ob1 "
     "--mca btl self,vader",
     "-x LD_PRELOAD="},
    {"mpich", RECORD_MPICH_BENCH, RECORD_MPICH_BARE, RECORD_MPICH_RUN, "",
     "-genv LD_PRELOAD "},
};

/* NAN: it printed no number. */
static double run(const library *l, const char *operation, int ranks, way how)
{
    char command[4096], line[64];
    double ns = NAN;
    FILE *in;

    snprintf(command, sizeof(command), "%s %s -n %d %s%s %s %s %s 2>/dev/null",
             l->launcher, l->arguments, ranks, how == BARE ? l->preload : "",
             how == BARE ? l->bare : "",
             how == RECORDED ? EVENTSPACE " mpi --replace --output=recorded --"
                             : "",
             l->bench, operation);
    in = popen(command, "r");
    if (in && fgets(line, sizeof(line), in))
        ns = strtod(line, NULL);
    if (in)
        pclose(in);
    return ns;
}

static void measure(const library *l, const char *operation, int ranks,
                    bool added)
{
    double times[WAYS][COURSES], medians[WAYS];
    char name[64];

    snprintf(name, sizeof(name), "mpi.%s.%s", operation, l->name);
    if (!bench_wants(name))
        return;
    for (int i = 0; i < COURSES; i++)
        for (int how = 0; how < WAYS; how++)
            times[how][i] = run(l, operation, ranks, (way)how);
    for (int how = 0; how < WAYS; how++)
        medians[how] = bench_median(times[how], COURSES);
    if (added) /* what each adds to the program as it is */
        bench_print_beside(name, medians[RECORDED] - medians[PLAIN], "ns",
                           medians[BARE] - medians[PLAIN], "bare interposer");
    else
        bench_print_beside(name, medians[RECORDED], "ns", medians[BARE],
                           "bare interposer");
}

void bench_record(void)
{
    for (size_t i = 0; i < sizeof(libraries) / sizeof(*libraries); i++) {
        const library *l = &libraries[i];
        if (!l->bench) {
            fprintf(stderr, "bench: %s is not installed\n", l->name);
            continue;
        }
        measure(l, "call", 1, true);
        measure(l, "pingpong", 2, false);
        measure(l, "allreduce8", 2, false);
    }
}
