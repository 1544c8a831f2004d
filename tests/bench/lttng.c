/* lttng.c - a collector next to LTTng's user space tracer.
 *
 * A collector leaves one tuple for an operation, with its beginning and its
 * end; LTTng an event for each. It is given its best: of several settings, each
 * run five times, the run in which it was fastest counts (lttng_bench.sh). Ours
 * is the median of the same number of runs. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/bench/bench.h"

#define RUNS 5

#ifdef LTTNG_BENCH

typedef struct best {
    double ns;
    char setting[64];
} best;

static void best_take(best *b, double ns, const char *setting)
{
    if (b->ns <= ns)
        return;
    b->ns = ns;
    snprintf(b->setting, sizeof(b->setting), "%.*s",
             (int)strcspn(setting, "\n"), setting);
}

/* One event, and two. */
static void lttng_run(best *one, best *two)
{
    char line[256], command[1024];
    FILE *runs;

    *one = *two = (best){INFINITY, ""};
    snprintf(command, sizeof(command), "%s %s %d", LTTNG_SCRIPT, LTTNG_BENCH,
             RUNS);
    runs = popen(command, "r");
    while (runs && fgets(line, sizeof(line), runs)) {
        double a, b;
        int setting = 0;
        if (sscanf(line, "%lf %lf %n", &a, &b, &setting) < 2 || !setting)
            continue;
        best_take(one, a, line + setting);
        best_take(two, b, line + setting);
    }
    if (runs)
        pclose(runs);
}

static void print(const char *name, double ours, const best *theirs)
{
    char whose[128];

    snprintf(whose, sizeof(whose), "LTTng, %s", theirs->setting);
    bench_print_beside(name, ours, "ns", theirs->ns, whose);
}

void bench_lttng(void)
{
    double ours[RUNS];
    best one, two;

    lttng_run(&one, &two);
    if (isinf(two.ns)) {
        fprintf(stderr, "bench: lttng: there is no session daemon\n");
        return;
    }
    for (int i = 0; i < RUNS; i++)
        ours[i] = bench_collector_ns();
    print("lttng.one_event", bench_median(ours, RUNS), &one);
    print("lttng.begin_and_end", bench_median(ours, RUNS), &two);
}

#else

void bench_lttng(void)
{
    fprintf(stderr, "bench: lttng: it was not there when this was built\n");
}

#endif
