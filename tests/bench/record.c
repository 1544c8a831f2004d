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
 *   mpi.watched.*   the same with --watch, which looks for deadlocks; the limit
 *                   is without
 *
 * The ways in which a program is run (as it is, with the bare interposer,
 * recorded, by EZTrace) take turns, block by block (mpi/turns.h), and each
 * block is compared with the one of the same turn: the medians are told, of
 * several courses, as one process may lie better in memory than the next.
 * EZTrace has its buffer as it is, which is the largest that OTF2 allows.
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/bench/bench.h"

#define COURSES 8
/* By where its data lies in caches, a process of cg takes up to 4 % more or
 * less than another, so there are many courses. */
#define KERNEL_COURSES 40
#define KERNEL_BLOCKS 40
#define WATCHED_COURSES 20          /* of each */
#define MOST_BLOCKS (COURSES * 250) /* of all courses */

_Static_assert(KERNEL_COURSES *KERNEL_BLOCKS <= MOST_BLOCKS, "they fit");

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

typedef enum way { PLAIN, BARE, RECORDED, WATCHED, EZTRACE, WAYS } way;

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
    case WATCHED:
        snprintf(out, capacity,
                 EVENTSPACE " mpi --replace --watch --output=recorded --");
        break;
    case EZTRACE:
        snprintf(out, capacity, "eztrace -t %s -o eztraced", l->name);
        break;
    default:
        *out = 0;
    }
}

/* What the blocks of each way took. */
static struct {
    double ns[WAYS][MOST_BLOCKS];
    size_t count;
} times;

/* The program in this way, which is number `own` of `all` that take turns. */
static FILE *start(const library *l, const char *program, const char *operation,
                   int ranks, way how, unsigned own, unsigned all)
{
    char command[4096], way_text[512];
    FILE *out;

    way_write(way_text, sizeof(way_text), l, how);
    snprintf(command, sizeof(command),
             "BENCH_TURNS=turns:%u:%u %s %s -n %d %s%s %s %s %s 2>/dev/null",
             own, all, l->launcher, l->arguments, ranks,
             how == BARE ? l->preload : "", how == BARE ? l->bare : "",
             way_text, program, operation);
    out = popen(command, "r");
    return out;
}

/* How many blocks there are from `from` on. */
static size_t blocks_read(FILE *in, double *ns, size_t from)
{
    char line[64];
    size_t count = from;

    while (fgets(line, sizeof(line), in)) /* EZTrace says what it does */
        if (count < MOST_BLOCKS && sscanf(line, "%lf", &ns[count]) == 1)
            count++;
    return count;
}

/* False: one of the programs has failed. */
static bool course(const library *l, const char *program, const char *operation,
                   int ranks, unsigned ways)
{
    FILE *turns = fopen("turns", "w"), *out[WAYS] = {0};
    unsigned own = 0;
    size_t count = 0, first = 0;
    bool is_right = turns != NULL;

    if (!turns || fwrite(&own, sizeof(own), 1, turns) != 1)
        is_right = false;
    if (turns)
        fclose(turns);
    for (int how = 0; is_right && how < WAYS; how++)
        if (ways & 1u << how)
            out[how] = start(l, program, operation, ranks, (way)how, own++,
                             (unsigned)__builtin_popcount(ways));
    for (int how = 0; how < WAYS; how++) {
        if (!out[how])
            continue;
        count = blocks_read(out[how], times.ns[how], times.count);
        is_right &= pclose(out[how]) == 0 && count > times.count;
        first = first ? first : count;
        is_right &= count == first;
    }
    if (is_right)
        times.count = count;
    return is_right;
}

/* False: there is nothing to say. */
static bool courses(const library *l, const char *program,
                    const char *operation, int ranks, unsigned ways, int count)
{
    times.count = 0;
    for (int i = 0; i < count; i++)
        if (!course(l, program, operation, ranks, ways)) {
            fprintf(stderr, "bench: %s %s has failed with %s\n", program,
                    operation, l->name);
            return false;
        }
    return true;
}

static double median_of(way how)
{
    static double copy[MOST_BLOCKS]; /* it is sorted */

    memcpy(copy, times.ns[how], times.count * sizeof(*copy));
    return bench_median(copy, times.count);
}

/* What one adds to another. */
static double median_added(way how, way to)
{
    static double added[MOST_BLOCKS];

    for (size_t i = 0; i < times.count; i++)
        added[i] = times.ns[how][i] - times.ns[to][i];
    return bench_median(added, times.count);
}

/* The one as so much more than the other. */
static void beside_print(const char *name, way how, way to, double divisor,
                         const char *unit, const char *whose)
{
    double limit = median_of(to);

    bench_print_beside(name, (limit + median_added(how, to)) / divisor, unit,
                       limit / divisor, whose);
}

static bool name_wanted(char *out, size_t capacity, const char *group,
                        const char *operation, const library *l)
{
    snprintf(out, capacity, "mpi.%s%s.%s", group, operation, l->name);
    return bench_wants(out);
}

static void call_measure(const library *l)
{
    char name[64];

    if (name_wanted(name, sizeof(name), "", "call", l) &&
        courses(l, l->bench, "call", 1,
                1u << PLAIN | 1u << BARE | 1u << RECORDED, COURSES))
        bench_print_beside(name, median_added(RECORDED, PLAIN), "ns",
                           median_added(BARE, PLAIN), "bare interposer");
}

static void communication_measure(const library *l, const char *operation,
                                  bool has_eztrace)
{
    char name[64], beside[64];
    bool is_wanted = name_wanted(name, sizeof(name), "", operation, l);
    unsigned ways = 1u << PLAIN | 1u << BARE | 1u << RECORDED;

    has_eztrace &=
        name_wanted(beside, sizeof(beside), "eztrace.", operation, l);
    if (!is_wanted && !has_eztrace)
        return;
    has_eztrace = has_eztrace && courses(l, l->bench, operation, 2,
                                         ways | 1u << EZTRACE, COURSES);
    if (!has_eztrace && !courses(l, l->bench, operation, 2, ways, COURSES))
        return;
    if (is_wanted)
        beside_print(name, RECORDED, BARE, 1, "ns", "bare interposer");
    if (has_eztrace)
        bench_print_beside(beside, median_added(RECORDED, PLAIN), "ns",
                           median_added(EZTRACE, PLAIN), "EZTrace");
}

static void kernel_measure(const library *l, const char *kernel)
{
    char name[64], operation[64];

    snprintf(operation, sizeof(operation), "%s %d", kernel, KERNEL_BLOCKS);
    if (name_wanted(name, sizeof(name), "kernel.", kernel, l) &&
        courses(l, l->kernels, operation, 2, 1u << PLAIN | 1u << RECORDED,
                KERNEL_COURSES))
        beside_print(name, RECORDED, PLAIN, 1e3, "us", "as it is");
}

static void watched_measure(const library *l, const char *kernel)
{
    char name[64], operation[64];
    bool is_right = name_wanted(name, sizeof(name), "watched.", kernel, l);

    snprintf(operation, sizeof(operation), "%s %d", kernel, KERNEL_BLOCKS);
    times.count = 0;
    for (int i = 0; i < WATCHED_COURSES && is_right; i++) {
        size_t from = times.count;
        is_right = course(l, l->kernels, operation, 2, 1u << PLAIN);
        times.count = from;
        is_right =
            is_right && course(l, l->kernels, operation, 2, 1u << WATCHED);
    }
    if (is_right)
        beside_print(name, WATCHED, PLAIN, 1e3, "us", "as it is");
    else if (times.count)
        fprintf(stderr, "bench: %s has failed\n", name);
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
        for (size_t k = 0; k < sizeof(kernels) / sizeof(*kernels); k++)
            watched_measure(l, kernels[k]);
    }
}
