/* sql.c - what questions in SQL cost: of 4.6 million events in spaces, and of
 * one thread's second in an archive, against one sequential read of the files'
 * bytes from the page cache. Next to them, what babeltrace2 takes to print as
 * many events of LTTng, to count them, and to read them only, against one read
 * of its trace (babeltrace.c).
 *
 * The run is made by hand (hand_run.h). EVENTSPACE_BENCH_ARCHIVE says how many
 * events the archive has, if not as many: 56 million are 2 GB. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "eventspace/run/run.h"
#include "tests/bench/bench.h"
#include "tests/bench/hand_run.h"
#include "viewer/sql/sql.h"

#define EVENTS 4600000
#define TURNS 5

static const char *run_directory, *archive_directory;

/* --- questions --- */

/* From opening the run to the table. */
static double answer_ms(const char *directory, const char *statement)
{
    double begin = bench_now_ns();
    eventspace_run *run;
    viewer_sql *sql;
    viewer_sql_result result;

    bench_check(eventspace_run_open(&run, directory), "open");
    bench_check(viewer_sql_open(&sql, run), "open");
    bench_check(viewer_sql_run(sql, &statement, true, &result), "statement");
    begin = (bench_now_ns() - begin) / 1e6;
    viewer_sql_result_fini(&result);
    viewer_sql_close(sql);
    eventspace_run_close(run);
    return begin;
}

static void measure(const char *name, const char *folder, const char *suffix,
                    const char *statement)
{
    const char *directory =
        strcmp(folder, "run") == 0 ? run_directory : archive_directory;
    double answers[TURNS], limits[TURNS];

    if (!bench_wants(name))
        return;
    for (int i = 0; i < TURNS; i++) {
        limits[i] = hand_run_limit_ms(folder, suffix);
        answers[i] = answer_ms(directory, statement);
    }
    bench_print(name, bench_median(answers, TURNS), "ms",
                bench_median(limits, TURNS));
}

static void measure_all(void)
{
    measure("sql.sum", "run", HAND_RUN_SPACE, "select sum(bytes) from event");
    measure("sql.group", "run", HAND_RUN_SPACE,
            "select collector, count(*) from event group by collector");
    measure("sql.durations", "run", HAND_RUN_SPACE,
            "select sum(duration_ns), max(end_ns) from event");
    measure("sql.join", "run", HAND_RUN_SPACE,
            "select c.name, avg(e.duration_ns) from event e join collector c "
            "on c.id = e.collector group by c.name");
    measure("sql.thread", "run", HAND_RUN_SPACE,
            "select count(*), avg(duration_ns) from event where thread = 5");
    measure("sql.window", "run", HAND_RUN_SPACE,
            "select count(*) from event where start_ns >= 500000000 and "
            "end_ns < 510000000");
    measure("sql.archive_second", "archive", HAND_RUN_ARCHIVE,
            "select count(*), sum(duration_ns) from event where thread = 5 and "
            "start_ns >= 200000000 and start_ns < 1200000000");
}

void bench_sql(void)
{
    const char *wanted = getenv("EVENTSPACE_BENCH_ARCHIVE");
    uint64_t archived = wanted ? strtoull(wanted, NULL, 10) : EVENTS;

    hand_run_begin();
    run_directory = hand_run_make("run", HAND_RUN_SPACE, EVENTS);
    archive_directory = hand_run_make("archive", HAND_RUN_ARCHIVE, archived);
    measure_all();
    bench_babeltrace(EVENTS, TURNS);
    hand_run_end();
}
