/* bench.c - runs the benchmarks that are named, or all. */
#include "tests/bench/bench.h"

#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pastset/status.h"

void bench_print(const char *name, double value, const char *unit, double limit)
{
    printf("{\"name\": \"%s\", \"value\": %.2f, \"unit\": \"%s\", "
           "\"limit\": %.2f, \"ratio\": %.3f}\n",
           name, value, unit, limit, value / limit);
    fflush(stdout);
}

void bench_print_beside(const char *name, double value, const char *unit,
                        double limit, const char *whose)
{
    if (isnan(limit))
        printf("{\"name\": \"%s\", \"value\": %.2f, \"unit\": \"%s\", "
               "\"limit\": null, \"ratio\": null}\n",
               name, value, unit);
    else
        printf("{\"name\": \"%s\", \"value\": %.3f, \"unit\": \"%s\", "
               "\"limit\": %.3f, \"ratio\": %.3f, \"limit_of\": \"%s\"}\n",
               name, value, unit, limit, value / limit, whose);
    fflush(stdout);
}

void bench_check(int status, const char *what)
{
    if (status == 0)
        return;
    fprintf(stderr, "bench: %s: %s: %s\n", what, pastset_status_name(status),
            pastset_error());
    exit(1);
}

void bench_pin(int processor)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(processor, &set);
    sched_setaffinity(0, sizeof(set), &set);
}

static const struct {
    const char *name;
    void (*run)(void);
} benches[] = {
    {"collector", bench_collector}, {"local", bench_local},
    {"remote", bench_remote},       {"collective", bench_collective},
    {"observe", bench_observe},     {"scope", bench_scope},
    {"view", bench_view},           {"scale", bench_scale},
    {"archive", bench_archive},     {"sql", bench_sql},
    {"page", bench_page},           {"export", bench_export},
    {"watch", bench_watch},         {"record", bench_record},
    {"replay", bench_replay},       {"lttng", bench_lttng},
    {"sensors", bench_sensors},     {"serve", bench_serve},
    {"metric", bench_metric},
};

static const char *wanted = "";

bool bench_wants(const char *name)
{
    return strstr(name, wanted) != NULL;
}

static bool is_there(const char *name)
{
    for (size_t i = 0; i < sizeof(benches) / sizeof(benches[0]); i++)
        if (strcmp(name, benches[i].name) == 0)
            return true;
    return false;
}

/* eventspace_bench [BENCH [PART OF A FIGURE'S NAME]] */
int main(int argc, char **argv)
{
    if (argc > 2)
        wanted = argv[2];
    if (argc > 1 && !is_there(argv[1])) {
        fprintf(stderr, "there is no benchmark '%s'; there are:", argv[1]);
        for (size_t i = 0; i < sizeof(benches) / sizeof(benches[0]); i++)
            fprintf(stderr, " %s", benches[i].name);
        fputc('\n', stderr);
        return 2;
    }
    for (size_t i = 0; i < sizeof(benches) / sizeof(benches[0]); i++) {
        double from_ns = bench_now_ns();
        if (argc > 1 && strcmp(argv[1], benches[i].name) != 0)
            continue;
        benches[i].run();
        fprintf(stderr, "%s: %.0f s\n", benches[i].name,
                (bench_now_ns() - from_ns) / 1e9);
    }
    return 0;
}
