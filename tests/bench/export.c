/* export.c - what exports cost: events per second of a run with 4.6 million of
 * them, in spaces, against one sequential read of the files' bytes from the
 * page cache. What is written goes to /dev/null, and OTF2 to a folder. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "eventspace/run/run.h"
#include "pastset/status.h"
#include "tests/bench/bench.h"
#include "tests/bench/hand_run.h"
#include "viewer/export/export.h"

#define EVENTS 4600000
#define TURNS 3

static const viewer_export_options everything = {.from_ns = INT64_MIN,
                                                 .to_ns = INT64_MAX};

static void write_otf2(eventspace_run *run, const char *directory)
{
    static int count;
    scopes_ledger ledger;
    char name[200];

    snprintf(name, sizeof(name), "%s/otf2.%d", directory, count++);
    if (mkdir(name, 0700) != 0)
        bench_check(pastset_status_from_errno(errno), name);
    bench_check(viewer_export_otf2(run, &everything, name, &ledger), "otf2");
}

static void write_file(eventspace_run *run, viewer_export_format format)
{
    FILE *file = fopen("/dev/null", "we");
    scopes_ledger ledger;

    if (!file)
        bench_check(pastset_status_from_errno(errno), "/dev/null");
    bench_check(viewer_export(run, format, &everything, file, &ledger),
                "export");
    fclose(file);
}

/* From opening the run to the last byte. */
static double write_ms(const char *directory, viewer_export_format format)
{
    double begin = bench_now_ns();
    eventspace_run *run;

    bench_check(eventspace_run_open(&run, directory), "open");
    if (format == VIEWER_EXPORT_OTF2)
        write_otf2(run, directory);
    else
        write_file(run, format);
    eventspace_run_close(run);
    return (bench_now_ns() - begin) / 1e6;
}

static void measure(const char *name, const char *directory,
                    viewer_export_format format)
{
    double rates[TURNS], limits[TURNS];

    if (!bench_wants(name))
        return;
    for (int i = 0; i < TURNS; i++) {
        limits[i] = EVENTS / hand_run_limit_ms("run", HAND_RUN_SPACE) * 1e3;
        rates[i] = EVENTS / write_ms(directory, format) * 1e3;
    }
    bench_print(name, bench_median(rates, TURNS), "events/s",
                bench_median(limits, TURNS));
}

void bench_export(void)
{
    const char *directory;

    hand_run_begin();
    directory = hand_run_make("run", HAND_RUN_SPACE, EVENTS);
    measure("export.csv", directory, VIEWER_EXPORT_CSV);
    measure("export.jsonl", directory, VIEWER_EXPORT_JSONL);
    measure("export.chrome", directory, VIEWER_EXPORT_CHROME);
    measure("export.perfetto", directory, VIEWER_EXPORT_PERFETTO);
    measure("export.otf2", directory, VIEWER_EXPORT_OTF2);
    hand_run_end();
}
