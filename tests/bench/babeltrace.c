/* babeltrace.c - babeltrace2 next to questions in SQL: what it takes to print a
 * trace of LTTng's of as many events, with the fields of a trace tuple; and its
 * best, to count them, and to read them and do nothing.
 *
 * The limit is one sequential read of the trace from the page cache. The trace
 * is made without loss (lttng_trace.sh), and counted. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bench/bench.h"
#include "tests/bench/hand_run.h"

#define TRACE "trace"
#define TURNS_MAX 16

static void missing(const char *what)
{
    fprintf(stderr, "bench: sql: %s is missing: no figures of babeltrace2\n",
            what);
}

#ifdef LTTNG_BENCH

static const struct {
    const char *figure, *arguments;
} ways[] = {
    {"sql.babeltrace2_print", ""},
    {"sql.babeltrace2_count", "--component=sink.utils.counter"},
    {"sql.babeltrace2_read", "--output-format=dummy"},
};
#define WAYS (sizeof(ways) / sizeof(*ways))

static bool is_there(const char *program)
{
    char command[128];

    snprintf(command, sizeof(command), "command -v %s >/dev/null", program);
    return system(command) == 0;
}

static bool trace_make(unsigned events)
{
    char command[1024];

    snprintf(command, sizeof(command), "%s %s %u %s", LTTNG_TRACE, LTTNG_BENCH,
             events, hand_run_path(""));
    return system(command) == 0;
}

/* The number in front of the last line of a command that has `what` behind it;
 * 0: there is none. */
static uint64_t number_of(const char *command, const char *what)
{
    char line[256];
    uint64_t number = 0, found;
    int end;
    FILE *lines = popen(command, "r");

    while (lines && fgets(line, sizeof(line), lines)) {
        end = 0;
        if (sscanf(line, " %" SCNu64 " %n", &found, &end) == 1 && end &&
            strncmp(line + end, what, strlen(what)) == 0)
            number = found;
    }
    if (lines)
        pclose(lines);
    return number;
}

/* Are all events in the trace, and printed? */
static void check(unsigned events)
{
    char command[512];
    uint64_t counted, printed, discarded;

    snprintf(command, sizeof(command),
             "babeltrace2 --component=sink.utils.counter %s",
             hand_run_path(TRACE));
    counted = number_of(command, "Event message");
    discarded = number_of(command, "Discarded event message");
    snprintf(command, sizeof(command), "babeltrace2 %s | wc -l",
             hand_run_path(TRACE));
    printed = number_of(command, "");
    if (counted != events || discarded > 0)
        fprintf(stderr,
                "bench: sql: LTTng has lost %" PRIu64 " of %u events, in "
                "%" PRIu64 " places\n",
                events - counted, events, discarded);
    if (printed != counted)
        fprintf(stderr,
                "bench: sql: babeltrace2 prints %" PRIu64 " of %" PRIu64
                " events\n",
                printed, counted);
}

static double way_ms(const char *arguments)
{
    char command[512];
    double begin = bench_now_ns();

    snprintf(command, sizeof(command), "babeltrace2 %s %s >/dev/null",
             arguments, hand_run_path(TRACE));
    if (system(command) != 0) {
        fprintf(stderr, "bench: %s failed\n", command);
        exit(1);
    }
    return (bench_now_ns() - begin) / 1e6;
}

static void measure(size_t way, int turns)
{
    double times[TURNS_MAX], limits[TURNS_MAX];

    if (!bench_wants(ways[way].figure))
        return;
    for (int i = 0; i < turns; i++) {
        limits[i] = hand_run_limit_ms(TRACE, "");
        times[i] = way_ms(ways[way].arguments);
    }
    bench_print(ways[way].figure, bench_median(times, (size_t)turns), "ms",
                bench_median(limits, (size_t)turns));
}

void bench_babeltrace(unsigned events, int turns)
{
    bool wanted = false;

    for (size_t i = 0; i < WAYS; i++)
        wanted |= bench_wants(ways[i].figure);
    if (!wanted)
        return;
    if (!is_there("babeltrace2")) {
        missing("babeltrace2");
        return;
    }
    if (!is_there("lttng") || !is_there("lttng-sessiond")) {
        missing("LTTng");
        return;
    }
    if (!trace_make(events)) {
        fprintf(stderr, "bench: sql: there is no trace for babeltrace2\n");
        return;
    }
    check(events);
    for (size_t i = 0; i < WAYS; i++)
        measure(i, turns);
}

#else

void bench_babeltrace(unsigned events, int turns)
{
    (void)events;
    (void)turns;
    missing("LTTng, when this was built,");
}

#endif
