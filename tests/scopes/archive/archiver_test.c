/* archiver_test.c - archiving real runs, with trace elements that are much too
 * small for them: what is saved and what is counted as lost is together what
 * was recorded, whoever is killed meanwhile.
 *
 * gsum: each collector of its map has one event for each round. Its threads
 * write them to several streams; what a stream has had says its space file, and
 * the last events of it are there too. */
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "eventspace/run/run.h"
#include "pastset/space.h"
#include "scopes/archive/archive.h"
#include "scopes/archive/archiver.h"
#include "tests/support/check.h"
#include "tests/support/command.h"
#include "tests/support/scratch.h"

#define EVENTSPACE TEST_BINARY_DIR "/eventspace"
#define GSUM TEST_BINARY_DIR "/gsum"
#define SMALL "1820"       /* tuples: 64 KiB */
#define FOR_EVER "3000000" /* rounds: minutes */

static eventspace_trace events[SCOPES_ARCHIVE_BLOCK];

TestSuite(archiver, .init = scratch_make, .fini = scratch_remove,
          .timeout = 1200);

/* --- runs --- */

/* The map of gsum with four threads on two processes. */
static const char *map_make(const char *policy, const char *capacity)
{
    char *mapping = command_run(0, 30, GSUM, "mapping", "--threads", "4", NULL);
    const char *application = scratch_write("application.dot", mapping);
    const char *plain = scratch_file("plain.dot");
    static char map[512];

    snprintf(map, sizeof(map), "%s", scratch_file("map.dot"));
    free(mapping);
    free(command_run(0, 30, EVENTSPACE, "map", "generate", "-a", application,
                     "--processes", "2", "-o", plain, NULL));
    free(command_run(0, 30, EVENTSPACE, "map", "instrument", plain,
                     "--trace-policy", policy, "--trace-size", capacity, "-o",
                     map, NULL));
    return map;
}

static unsigned run_number;

static const char *run_directory(void)
{
    static char directory[512]; /* names of scratch_file do not stay */

    snprintf(directory, sizeof(directory), "%s",
             scratch_file("run%u", run_number));
    return directory;
}

/* From here on another directory is meant. */
static void run_next(void)
{
    run_number++;
}

static const char *run_file(const char *name)
{
    return scratch_file("run%u/%s", run_number, name);
}

/* Until `holds` does; the test fails after a minute. */
static void wait_until(bool (*holds)(void *), void *context, const char *what)
{
    struct timespec nap = {.tv_nsec = 2000000};
    time_t until = time(NULL) + timeout(60);

    while (!holds(context)) {
        cr_assert_lt(time(NULL), until, "waited in vain: %s", what);
        nanosleep(&nap, NULL);
    }
}

/* Both processes have begun to trace. */
static bool are_there(void *context)
{
    eventspace_run *run;
    size_t there = 0;

    (void)context;
    if (eventspace_run_open(&run, run_directory()))
        return false;
    for (size_t i = 0; i < 2; i++) {
        eventspace_events recorded = {0};
        const eventspace_run_process *process =
            eventspace_run_process_at(run, i);
        if (process->has_meta && eventspace_run_events(run, i, &recorded) == 0)
            there += recorded.recorded > 0;
    }
    eventspace_run_close(run);
    return there == 2;
}

/* --- what an archive has to be --- */

typedef struct totals {
    uint64_t recorded, saved, lost;
    uint64_t left; /* in the trace elements, when the run is over */
} totals;

/* What comes back from the space: `count` tuples that lie in the archive from
 * `index` on, in `events`. Those that the stream still has must be the same. */
static void block_compare(eventspace_stream stream, uint64_t index,
                          uint32_t count)
{
    static eventspace_trace there[SCOPES_ARCHIVE_BLOCK];
    uint64_t at = index, end = index + count;

    while (at < end) {
        size_t got;
        int err = eventspace_stream_read(&stream, &at, there, end - at, &got);
        if (err == PASTSET_EAGAIN || at >= end)
            return;
        check_status(err, 0);
        if (got > end - at)
            got = end - at;
        cr_assert_eq(memcmp(there, events + (at - index), got * sizeof(*there)),
                     0, "stream %s: tuples from %llu on differ", stream.name,
                     (unsigned long long)at);
        at += got;
    }
}

/* The events of a collector in a stream of one thread's are in order, whatever
 * is missing in between. */
static void block_check(const scopes_archive_block *b)
{
    for (uint32_t i = 0; i < b->count; i++) {
        cr_assert_leq(events[i].start, events[i].end);
        cr_assert(i == 0 || events[i - 1].end <= events[i].end);
        cr_assert_geq(events[i].thread, b->from_thread);
        cr_assert_leq(events[i].thread, b->to_thread);
    }
}

typedef struct comparison {
    scopes_archive *archive; /* NULL: there is none */
    totals totals;
    bool complete; /* the archive has been ended */
} comparison;

static int stream_compare(const eventspace_stream *stream, void *context)
{
    comparison *c = context;
    eventspace_stream_counts counts;
    const scopes_archive_stream *saved;
    const uint32_t *blocks;
    size_t number, count;
    uint64_t sum = 0, next = 0;

    eventspace_stream_count(stream, &counts);
    c->totals.recorded += counts.written + counts.refused;
    c->totals.left += counts.present;
    number =
        c->archive ? scopes_archive_find(c->archive, stream->name) : SIZE_MAX;
    if (number == SIZE_MAX) {
        cr_assert(!c->complete || counts.written + counts.refused == 0,
                  "stream %s is not in the archive", stream->name);
        return 0;
    }
    saved = scopes_archive_stream_at(c->archive, number);
    cr_assert_leq(saved->written, counts.written);
    if (c->complete) {
        cr_assert_eq(saved->written, counts.written, "stream %s", stream->name);
        cr_assert_eq(saved->refused, counts.refused, "stream %s", stream->name);
    }
    blocks = scopes_archive_stream_blocks(c->archive, number, &count);
    for (size_t i = 0; i < count; i++) {
        const scopes_archive_block *b =
            scopes_archive_block_at(c->archive, blocks[i]);
        check_status(scopes_archive_read(c->archive, blocks[i], events), 0);
        cr_assert_geq(b->index, next);
        next = b->index + b->count;
        sum += b->count;
        block_check(b);
        block_compare(*stream, b->index, b->count);
    }
    cr_assert_leq(next, counts.written);
    cr_assert_eq(sum, saved->tuples);
    c->totals.saved += sum;
    return 0;
}

/* Compares the archives of a run that is over with its space files. A
 * `complete` one says of all streams how many tuples they have had. */
static totals archives_compare(bool complete)
{
    comparison c = {.complete = complete};
    eventspace_run *run;

    check_status(eventspace_run_open(&run, run_directory()), 0);
    for (size_t i = 0; i < eventspace_run_process_count(run); i++) {
        char name[64];
        int err;
        snprintf(name, sizeof(name), "%s.archive",
                 eventspace_run_process_at(run, i)->name);
        err = scopes_archive_open(&c.archive, run_file(name));
        if (err)
            c.archive = NULL;
        cr_assert(err == 0 || (!complete && err == PASTSET_ENOENT), "%s",
                  pastset_error());
        if (c.archive && complete)
            cr_assert_str_eq(scopes_archive_problem(c.archive), "");
        check_status(eventspace_run_streams_each(run, i, stream_compare, &c),
                     0);
        scopes_archive_close(c.archive);
    }
    eventspace_run_close(run);
    c.totals.lost = c.totals.recorded - c.totals.saved;
    return c.totals;
}

/* What the command says must be what is so. */
static void check_told(const char *output, totals t)
{
    char line[200];

    snprintf(line, sizeof(line), "%llu archived, %llu lost",
             (unsigned long long)t.saved, (unsigned long long)t.lost);
    check_says(output, line);
}

static uint32_t collectors_of(const char *map_file)
{
    uint32_t count = 0;
    paths_map *map;

    check_status(paths_map_read(&map, map_file), 0);
    for (uint32_t i = 0; i < map->node_count; i++)
        count += strcmp(map->nodes[i].type, "collector") == 0;
    paths_map_destroy(map);
    return count;
}

/* --- whole runs --- */

static totals run_archived(const char *policy, const char *capacity,
                           const char *interval, unsigned rounds)
{
    const char *map = map_make(policy, capacity);
    char number[16], *output;
    totals t;

    snprintf(number, sizeof(number), "%u", rounds);
    run_next();
    output = command_run(0, 300, EVENTSPACE, "run", map, "--output",
                         run_directory(), "--archive", "--archive-interval",
                         interval, "--", GSUM, "run", "--rounds", number, NULL);
    t = archives_compare(true);
    check_told(output, t);
    cr_assert_eq(t.recorded, (uint64_t)rounds * collectors_of(map));
    cr_assert_eq(t.lost, 0, "policy %s, %s tuples", policy, capacity);
    free(output);
    return t;
}

/* 12,500 rounds are about a second. What is left at the end is saved in
 * any case: the archive has more when it came often enough meanwhile. On a
 * busy machine it may not have come to that in a run that is so short. */
Test(archiver, saves_a_run_whose_trace_elements_are_small)
{
    unsigned rounds = 12500;
    totals t = run_archived("discard", SMALL, "2ms", rounds);

    while (t.saved <= 4 * t.left) {
        rounds *= 2;
        cr_assert_leq(rounds, 400000, "%llu saved, %llu left",
                      (unsigned long long)t.saved, (unsigned long long)t.left);
        t = run_archived("discard", SMALL, "2ms", rounds);
    }
}

/* Whatever the size and the policy of trace elements, and however rarely the
 * archive is said to look. */
Test(archiver, loses_nothing_of_a_run_that_it_was_started_with)
{
    run_archived("discard", "1", "5ms", 300);
    run_archived("grow", "2", "60000ms", 300);
    run_archived("discard", "64", "60000ms", 3000);
    run_archived("block", "1000", "60000ms", 10000);
}

/* Once a minute, beside a run that does not wait for it: of each stream no more
 * is left than its trace element holds. */
static totals run_beside(const char *policy, const char *capacity)
{
    const char *map = map_make(policy, capacity);
    command run, archiver;
    totals t;

    command_start(&run, EVENTSPACE, "run", map, "--output", run_directory(),
                  "--", GSUM, "run", "--rounds", "10000", NULL);
    wait_until(are_there, NULL, "both processes are there");
    command_start(&archiver, EVENTSPACE, "archive", run_directory(),
                  "--interval", "60s", NULL);
    command_wait(&run, 300);
    cr_assert_eq(run.exit_code, 0, "%s", run.output);
    cr_assert_eq(kill(archiver.pid, SIGINT), 0);
    command_wait(&archiver, 60);
    t = archives_compare(true);
    check_told(archiver.output, t);
    cr_assert_eq(t.recorded, 10000ull * collectors_of(map));
    command_free(&run);
    command_free(&archiver);
    return t;
}

Test(archiver, counts_what_it_comes_too_late_for)
{
    totals t = run_beside("discard", SMALL);

    cr_assert_gt(t.lost, 0);
    cr_assert_gt(t.saved, 0);
}

Test(archiver, saves_what_was_made_where_trace_elements_refuse)
{
    totals t = run_beside("grow", "500");

    cr_assert_gt(t.lost, 0);
    cr_assert_gt(t.saved, 0);
}

/* A program that says nothing of it: what is lost is told in one line. */
Test(archiver, is_what_a_run_that_loses_events_points_to)
{
    const char *map = map_make("discard", SMALL);
    char *output =
        command_run(0, 300, EVENTSPACE, "run", map, "--output", run_directory(),
                    "--", GSUM, "run", "--rounds", "10000", NULL);
    uint64_t recorded = 10000ull * collectors_of(map);
    eventspace_events counted;
    eventspace_run *run;
    char line[200];

    check_status(eventspace_run_open(&run, run_directory()), 0);
    check_status(eventspace_run_events(run, SIZE_MAX, &counted), 0);
    eventspace_run_close(run);
    snprintf(line, sizeof(line),
             ": %llu of %llu events are lost: trace elements were full. "
             "`eventspace run --archive` saves all",
             (unsigned long long)(recorded - counted.present),
             (unsigned long long)recorded);
    check_says(output, line);
    free(output);
    run_next();
    output = command_run(0, 300, EVENTSPACE, "run", map_make("discard", "100k"),
                         "--output", run_directory(), "--", GSUM, "run",
                         "--rounds", "2000", NULL);
    cr_assert_not(strstr(output, "lost"), "%s", output);
    free(output);
}

Test(archiver, saves_a_run_that_is_over_and_once_is_enough)
{
    const char *map = map_make("grow", "100000");
    struct stat before, after;
    char *output;
    totals t;

    free(command_run(0, 120, EVENTSPACE, "run", map, "--output",
                     run_directory(), "--", GSUM, "run", "--rounds", "5000",
                     NULL));
    output = command_run(0, 60, EVENTSPACE, "archive", run_directory(), NULL);
    t = archives_compare(true);
    check_told(output, t);
    free(output);
    cr_assert_eq(t.saved, 5000ull * collectors_of(map));
    cr_assert_eq(t.lost, 0);
    cr_assert_eq(stat(run_file("h0.archive"), &before), 0);
    output = command_run(0, 60, EVENTSPACE, "archive", run_directory(),
                         "--once", NULL);
    check_told(output, t);
    free(output);
    cr_assert_eq(stat(run_file("h0.archive"), &after), 0);
    cr_assert_leq(after.st_size - before.st_size, 1000, "saved twice");
}

Test(archiver, leaves_nothing_of_an_older_run)
{
    const char *map = map_make("grow", "10000");

    for (int i = 0; i < 2; i++) {
        char *output = command_run(0, 120, EVENTSPACE, "run", map, "--output",
                                   run_directory(), "--replace", "--archive",
                                   "--", GSUM, "run", "--rounds", "500", NULL);
        check_told(output, archives_compare(true));
        free(output);
    }
    cr_assert_eq(archives_compare(true).recorded, 500ull * collectors_of(map));
}

Test(archiver, can_save_one_process_only)
{
    const char *map = map_make("grow", "10000");

    free(command_run(0, 120, EVENTSPACE, "run", map, "--output",
                     run_directory(), "--", GSUM, "run", "--rounds", "500",
                     NULL));
    free(command_run(0, 60, EVENTSPACE, "archive", run_directory(), "--process",
                     "h1", NULL));
    cr_assert_neq(access(run_file("h0.archive"), F_OK), 0);
    cr_assert_eq(access(run_file("h1.archive"), F_OK), 0);
    free(command_run(1, 60, EVENTSPACE, "archive", run_directory(), "--process",
                     "h9", NULL));
}

static bool has_archive(void *context)
{
    (void)context;
    return access(run_file("h0.archive"), F_OK) == 0 &&
           access(run_file("h1.archive"), F_OK) == 0;
}

/* It would wait for the end of processes of which nothing is heard any more. */
Test(archiver, ends_when_the_run_directory_is_gone)
{
    const char *map = map_make("discard", SMALL);
    char *elsewhere = strdup(scratch_file("elsewhere"));
    command run, archiver;

    command_start(&run, EVENTSPACE, "run", map, "--output", run_directory(),
                  "--", GSUM, "run", "--rounds", FOR_EVER, NULL);
    wait_until(are_there, NULL, "both processes are there");
    command_start(&archiver, EVENTSPACE, "archive", run_directory(), NULL);
    wait_until(has_archive, NULL, "the archives are there");
    cr_assert_eq(rename(run_directory(), elsewhere), 0);
    command_wait(&archiver, 60);
    command_free(&archiver);
    cr_assert_eq(kill(run.pid, SIGTERM), 0);
    command_wait(&run, 60);
    command_free(&run);
    free(elsewhere);
}

/* --- a full disk --- */

/* A limit on the size of files, of 20 KiB, for the launcher from its beginning
 * on, and none for its processes. */
Test(archiver, lets_the_run_go_on_when_the_disk_is_full)
{
    const char *map = map_make("discard", SMALL);
    command run;
    totals t;

    command_start(&run, "/bin/sh", "-c", "ulimit -S -f 40; exec \"$0\" \"$@\"",
                  EVENTSPACE, "run", map, "--output", run_directory(),
                  "--archive", "--", "/bin/sh", "-c",
                  "ulimit -S -f unlimited; exec \"$0\" \"$@\"", GSUM, "run",
                  "--rounds", "10000", NULL);
    command_wait(&run, 120);
    cr_assert_eq(run.exit_code, 1, "%s", run.output);
    check_says(run.output, ".archive: writing: ");
    check_says(run.output, "checksum"); /* the program came to its end */
    t = archives_compare(false);
    cr_assert_eq(t.recorded, 10000ull * collectors_of(map));
    check_told(run.output, t);
    cr_assert_gt(t.lost, 0);
    command_free(&run);
}

/* --- kills --- */

/* Tuples that both archives have had when they were looked at last. */
typedef struct watch {
    scopes_archive *archives[2];
    uint64_t wanted, seen;
    bool cut_off; /* an archiver was killed: until the next one is at it, a
                     file may end in half a block */
} watch;

static bool watch_look(void *context)
{
    static const char *const names[] = {"h0.archive", "h1.archive"};
    watch *w = context;
    const char *problem;
    bool whole = true;

    w->seen = 0;
    for (int i = 0; i < 2; i++) {
        if (!w->archives[i] &&
            scopes_archive_open(&w->archives[i], run_file(names[i])))
            w->archives[i] = NULL;
        if (!w->archives[i])
            continue;
        check_status(scopes_archive_refresh(w->archives[i]), 0);
        w->seen += scopes_archive_costs(w->archives[i]).tuples;
        problem = scopes_archive_problem(w->archives[i]);
        if (!w->cut_off)
            cr_assert_str_eq(problem, "");
        whole = whole && !*problem;
    }
    return whole && w->seen >= w->wanted;
}

static void watch_end(watch *w)
{
    for (int i = 0; i < 2; i++)
        scopes_archive_close(w->archives[i]);
}

/* Waits until so many tuples are saved, and then for a moment of no certain
 * length, so that the kill comes at any. */
static void moment_choose(watch *w, unsigned *seed)
{
    struct timespec moment = {.tv_nsec = (long)(rand_r(seed) % 15000) * 1000};

    w->wanted += (uint64_t)rand_r(seed) % 20000 + 1;
    wait_until(watch_look, w, "tuples are saved");
    nanosleep(&moment, NULL);
}

static pid_t process_pid(size_t position)
{
    eventspace_run *run;
    pid_t pid;

    check_status(eventspace_run_open(&run, run_directory()), 0);
    pid = (pid_t)eventspace_run_process_at(run, position)->meta.pid;
    eventspace_run_close(run);
    cr_assert_gt(pid, 1);
    return pid;
}

static bool are_gone(void *context)
{
    eventspace_run *run;
    bool running = false;

    (void)context;
    check_status(eventspace_run_open(&run, run_directory()), 0);
    for (size_t i = 0; i < 2; i++)
        running |=
            eventspace_run_process_at(run, i)->meta.state == EVENTSPACE_RUNNING;
    eventspace_run_close(run);
    return !running;
}

/* One after the other saves the rest: then it is all there, or counted. */
static void rest_check(bool all_there)
{
    char *output =
        command_run(0, 60, EVENTSPACE, "archive", run_directory(), NULL);
    totals t = archives_compare(true);

    check_told(output, t);
    if (all_there)
        cr_assert_eq(t.lost, 0);
    free(output);
}

static void group_kill(unsigned *seed, bool roomy)
{
    const char *map =
        roomy ? map_make("grow", "1000000") : map_make("discard", SMALL);
    watch w = {.wanted = 1};
    command run;

    run_next();
    command_start(&run, EVENTSPACE, "run", map, "--output", run_directory(),
                  "--archive", "--", GSUM, "run", "--rounds", FOR_EVER, NULL);
    moment_choose(&w, seed);
    cr_assert_eq(kill(-run.pid, SIGKILL), 0);
    command_wait(&run, 60);
    wait_until(are_gone, NULL, "all processes are gone");
    cr_assert_geq(archives_compare(false).saved, w.seen);
    watch_end(&w);
    command_free(&run);
    rest_check(roomy);
}

Test(archiver, holds_what_it_wrote_when_all_are_killed)
{
    unsigned seed = 17;

    for (int i = 0; i < 8; i++)
        group_kill(&seed, i % 2);
}

static void process_kill(unsigned *seed, size_t process)
{
    const char *map = map_make("discard", SMALL);
    watch w = {.wanted = 1};
    command run;

    run_next();
    command_start(&run, EVENTSPACE, "run", map, "--output", run_directory(),
                  "--archive", "--", GSUM, "run", "--rounds", FOR_EVER, NULL);
    moment_choose(&w, seed);
    cr_assert_eq(kill(process_pid(process), SIGKILL), 0);
    command_wait(&run, 60);
    cr_assert_eq(run.exit_code, 128 + SIGKILL);
    watch_end(&w);
    check_told(run.output, archives_compare(true));
    command_free(&run);
}

Test(archiver, saves_the_rest_of_a_process_that_was_killed)
{
    unsigned seed = 23;

    for (int i = 0; i < 6; i++)
        process_kill(&seed, (size_t)i % 2);
}

Test(archiver, is_continued_when_it_was_killed)
{
    const char *map = map_make("grow", "4000000");
    unsigned seed = 31;
    watch w = {.wanted = 1};
    command run, archiver;

    command_start(&run, EVENTSPACE, "run", map, "--output", run_directory(),
                  "--", GSUM, "run", "--rounds", FOR_EVER, NULL);
    wait_until(are_there, NULL, "both processes are there");
    for (int i = 0; i < 6; i++) {
        command_start(&archiver, EVENTSPACE, "archive", run_directory(), NULL);
        w.wanted = w.seen; /* and some more */
        moment_choose(&w, &seed);
        cr_assert_eq(kill(archiver.pid, SIGKILL), 0);
        command_wait(&archiver, 60);
        cr_assert_eq(archiver.exit_code, -SIGKILL, "%s", archiver.output);
        command_free(&archiver);
        watch_end(&w);
        memset(w.archives, 0, sizeof(w.archives));
        w.cut_off = true;
    }
    cr_assert_eq(kill(run.pid, SIGTERM), 0);
    command_wait(&run, 60);
    command_free(&run);
    cr_assert_geq(archives_compare(false).saved, w.seen);
    rest_check(true);
}

Test(archiver, ends_well_when_it_is_interrupted)
{
    const char *map = map_make("grow", "4000000");
    command run, archiver;
    watch w = {.wanted = 1};

    command_start(&run, EVENTSPACE, "run", map, "--output", run_directory(),
                  "--", GSUM, "run", "--rounds", FOR_EVER, NULL);
    wait_until(are_there, NULL, "both processes are there");
    command_start(&archiver, EVENTSPACE, "archive", run_directory(), NULL);
    wait_until(watch_look, &w, "tuples are saved");
    cr_assert_eq(kill(archiver.pid, SIGINT), 0);
    command_wait(&archiver, 60);
    cr_assert_eq(archiver.exit_code, 0, "%s", archiver.output);
    check_says(archiver.output, " archived, ");
    command_free(&archiver);
    watch_end(&w);
    cr_assert_eq(kill(run.pid, SIGTERM), 0);
    command_wait(&run, 60);
    command_free(&run);
    rest_check(true);
}
