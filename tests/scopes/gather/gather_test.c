/* gather_test.c - gather trees of processes beside real runs: what they bring
 * together is what the collectors wrote, and what they lost is counted.
 *
 * What is true is read from the original run directory, tuple by tuple, by
 * eventspace_run_each, which has no part in a scope. */
#include "scopes/gather/gather.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "eventspace/run/run.h"
#include "paths/net/address.h"
#include "pastset/waiter.h"
#include "scopes/reading/source.h"
#include "scopes/views/view.h"
#include "tests/scopes/fake_run.h"
#include "tests/support/check.h"
#include "tests/support/counting_app.h"
#include "tests/support/command.h"
#include "tests/support/scratch.h"

#define EVENTSPACE TEST_BINARY_DIR "/eventspace"
#define FIGURE3 TEST_BINARY_DIR "/figure3"
#define COUNTING TEST_BINARY_DIR "/../tests/counting_app"
#define MAP TEST_SOURCE_DIR "/../examples/figure3/figure3.dot"

#define ROUNDS 3000
#define COLLECTORS 10
#define SECONDS 60

static void make(void)
{
    scratch_make();
    setenv("TMPDIR", scratch_file("tmp"), 1);
    cr_assert_eq(mkdir(scratch_file("tmp"), 0777), 0);
}

TestSuite(gather, .init = make, .fini = scratch_remove, .timeout = 900);

/* --- tuples --- */

typedef struct tuples {
    eventspace_trace *events;
    size_t count, capacity;
} tuples;

static void tuples_add(tuples *t, const eventspace_trace *events, size_t count)
{
    if (t->count + count > t->capacity) {
        t->capacity = 2 * (t->count + count);
        t->events = realloc(t->events, t->capacity * sizeof(*t->events));
        cr_assert_not_null(t->events);
    }
    memcpy(t->events + t->count, events, count * sizeof(*events));
    t->count += count;
}

static int by_operation(const void *a, const void *b)
{
    const eventspace_trace *x = a, *y = b;

    if (x->collector != y->collector)
        return x->collector < y->collector ? -1 : 1;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    return (x->sequence > y->sequence) - (x->sequence < y->sequence);
}

static void tuples_sort(tuples *t)
{
    if (t->count)
        qsort(t->events, t->count, sizeof(*t->events), by_operation);
}

static int raw_take(const eventspace_trace *event, void *context)
{
    tuples_add(context, event, 1);
    return 0;
}

/* All tuples of a process that are in a run's own files. */
static tuples raw_tuples(eventspace_run *run, size_t process)
{
    tuples t = {NULL, 0, 0};

    check_status(eventspace_run_each(run, process, raw_take, &t), 0);
    tuples_sort(&t);
    return t;
}

static int source_take(const scopes_batch *batch, void *context)
{
    tuples_add(context, batch->events, batch->count);
    return 0;
}

/* All tuples of a process of a mirror. */
static tuples mirror_tuples(const char *directory, size_t process,
                            scopes_ledger *ledger)
{
    scopes_filter all = {.from_ticks = NULL};
    scopes_ledger own = {0};
    scopes_source *source;
    eventspace_run *run;
    tuples t = {NULL, 0, 0};

    check_status(eventspace_run_open(&run, directory), 0);
    check_status(scopes_source_open(&source, run), 0);
    check_status(
        scopes_source_each(source, process, &all, source_take, &t, &own), 0);
    scopes_source_close(source);
    eventspace_run_close(run);
    tuples_sort(&t);
    if (ledger)
        *ledger = own;
    return t;
}

static void check_same(const tuples *got, const tuples *want)
{
    cr_assert_eq(got->count, want->count, "%zu tuples, not %zu", got->count,
                 want->count);
    for (size_t i = 0; i < got->count; i++)
        cr_assert_eq(
            memcmp(&got->events[i], &want->events[i], sizeof(*got->events)), 0,
            "tuple %zu of collector %u differs", i, want->events[i].collector);
}

/* Each tuple of the mirror is one of the run, none twice. */
static void check_subset(const tuples *got, const tuples *want)
{
    size_t at = 0;

    for (size_t i = 0; i < got->count; i++) {
        while (at < want->count &&
               by_operation(&want->events[at], &got->events[i]) < 0)
            at++;
        cr_assert(at < want->count && memcmp(&want->events[at], &got->events[i],
                                             sizeof(*got->events)) == 0,
                  "tuple %zu is not one of the run", i);
        at++;
    }
}

static eventspace_run *run_open(const char *directory)
{
    eventspace_run *run;
    check_status(eventspace_run_open(&run, directory), 0);
    return run;
}

static void check_mirror_is_whole(const char *mirror, const char *original)
{
    eventspace_run *run = run_open(original);

    for (size_t i = 0; i < eventspace_run_process_count(run); i++) {
        scopes_ledger ledger;
        tuples want = raw_tuples(run, i);
        tuples got = mirror_tuples(mirror, i, &ledger);
        check_same(&got, &want);
        cr_expect_eq(ledger.recorded, want.count);
        cr_expect_eq(ledger.lost, 0);
        free(want.events);
        free(got.events);
    }
    eventspace_run_close(run);
}

/* --- runs --- */

static void figure3_run(const char *map, const char *rounds)
{
    free(command_run(0, SECONDS, EVENTSPACE, "run", map, "--output",
                     scratch_file("run"), "--", FIGURE3, rounds, NULL));
}

/* "events: A recorded, B read, C filtered, D unread, E lost"; the third and the
 * fourth only where there are some */
static scopes_ledger said(const char *output)
{
    static const struct {
        const char *word;
        size_t at;
    } counts[] = {{" recorded", offsetof(scopes_ledger, recorded)},
                  {" read", offsetof(scopes_ledger, read)},
                  {" filtered", offsetof(scopes_ledger, filtered)},
                  {" unread", offsetof(scopes_ledger, unread)},
                  {" lost", offsetof(scopes_ledger, lost)}};
    const char *line = strstr(output, "events: ");
    scopes_ledger l = {0};

    cr_assert_not_null(line, "it said: %s", output);
    line += strlen("events: ");
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        char *end;
        unsigned long long count = strtoull(line, &end, 10);
        size_t length = strlen(counts[i].word);
        if (end == line || strncmp(end, counts[i].word, length) != 0)
            continue;
        *(uint64_t *)((char *)&l + counts[i].at) = count;
        line = end + length + (end[length] == ',' ? 2 : 0);
    }
    cr_assert_eq(*line, '\n', "it said: %s", output);
    cr_expect_eq(l.recorded, l.read + l.lost + l.filtered + l.unread);
    return l;
}

Test(gather, a_flat_tree_brings_all_of_a_run_that_is_over)
{
    char *output;
    scopes_ledger l;

    figure3_run(MAP, "3000");
    output = command_run(0, SECONDS, EVENTSPACE, "scope", scratch_file("run"),
                         "--output", scratch_file("mirror"), NULL);
    l = said(output);
    cr_expect_eq(l.recorded, COLLECTORS * ROUNDS);
    cr_expect_eq(l.read, COLLECTORS * ROUNDS);
    check_mirror_is_whole(scratch_file("mirror"), scratch_file("run"));
    free(output);
}

/* Runs the tree that `scope --print-map` prints, changed by a program of sed.
 * The launcher does not know `traces`, which the tree's own program brings. */
static char *changed_tree_run(int exit_code, const char *change)
{
    return command_run(exit_code, SECONDS, "sh", "-c",
                       "cd \"$1\" && \"$0\" scope run --print-map | sed \""
                       "s/^digraph scope {/&wrappers=traces;/; $2\" >tree.dot;"
                       "grep -q ' host=' tree.dot && "
                       "\"$0\" run tree.dot --replace --output tree -- "
                       "\"$0\" scope --as-process run --output mirror",
                       EVENTSPACE, scratch_file("."), change, NULL);
}

Test(gather, a_map_whose_leaves_say_host_is_still_read)
{
    char *output;
    scopes_ledger l;

    figure3_run(MAP, "300");
    output = changed_tree_run(0, "s/ process=/ host=/");
    l = said(output);
    cr_expect_eq(l.read, COLLECTORS * 300);
    check_mirror_is_whole(scratch_file("mirror"), scratch_file("run"));
    free(output);
    output = changed_tree_run(1, "s/ process=B/ host=nobody/");
    check_says(output, "there is no process \"nobody\"");
    free(output);
}

Test(gather, the_tree_leaves_nothing_behind_but_its_mirror)
{
    struct dirent *entry;
    DIR *dir;

    figure3_run(MAP, "10");
    free(command_run(0, SECONDS, EVENTSPACE, "scope", scratch_file("run"),
                     "--output", scratch_file("mirror"), NULL));
    dir = opendir(scratch_file("tmp"));
    while ((entry = readdir(dir)))
        cr_expect_eq(entry->d_name[0], '.', "%s is left", entry->d_name);
    closedir(dir);
}

Test(gather, does_not_write_over_a_run)
{
    char *output;

    figure3_run(MAP, "10");
    output = command_run(1, SECONDS, EVENTSPACE, "scope", scratch_file("run"),
                         "--output", scratch_file("run"), NULL);
    check_says(output, "there is a run in it");
    free(output);
}

/* One line, and no process of the tree was started for it. */
static void check_refuses(const char *option, const char *value,
                          const char *text)
{
    char *output =
        command_run(1, SECONDS, EVENTSPACE, "scope", scratch_file("run"),
                    "--output", scratch_file("mirror"), option, value, NULL);

    check_says(output, text);
    cr_expect_null(strstr(output, "process scope"), "it said: %s", output);
    cr_expect_neq(access(scratch_file("mirror"), F_OK), 0);
    free(output);
}

Test(gather, a_filter_for_what_the_run_does_not_have_is_refused)
{
    figure3_run(MAP, "10");
    check_refuses("--verb", "write look", "\"look\" is not a verb");
    check_refuses("--collector", "1 nobody*", "no collector 'nobody*'");
    check_refuses("--collector", "77", "no collector 77");
    check_refuses("--thread", "77", "no thread 77");
    check_refuses("--thread", "0,nobody", "no thread 'nobody'");
}

Test(gather, a_process_whose_files_cannot_be_read_is_named)
{
    char *output;

    figure3_run(MAP, "10");
    cr_assert_eq(truncate(scratch_file("run/B.space"), 100), 0);
    output = command_run(1, SECONDS, EVENTSPACE, "scope", scratch_file("run"),
                         "--output", scratch_file("mirror"), NULL);
    check_says(output, "process B cannot be gathered");
    check_says(output, "B.space");
    free(output);
    output = command_run(1, SECONDS, EVENTSPACE, "archive", scratch_file("run"),
                         NULL);
    check_says(output, "B.space");
    free(output);
}

Test(gather, a_mirror_gives_the_views_of_the_run)
{
    figure3_run(MAP, "500");
    free(command_run(0, SECONDS, EVENTSPACE, "scope", scratch_file("run"),
                     "--output", scratch_file("mirror"), NULL));
    for (size_t i = 0; scopes_view_at(i); i++) {
        const char *name = scopes_view_at(i)->name;
        char *want =
            command_run(0, SECONDS, COMMAND_QUIET, EVENTSPACE, "view",
                        scratch_file("run"), name, "--format", "csv", NULL);
        char *got =
            command_run(0, SECONDS, COMMAND_QUIET, EVENTSPACE, "view",
                        scratch_file("mirror"), name, "--format", "csv", NULL);
        cr_expect_str_eq(got, want, "view %s differs", name);
        cr_expect_gt(strlen(want), 0);
        free(want);
        free(got);
    }
}

/* Collectors with trace elements that hold less than what they write. */
static const char *lossy_map(void)
{
    static char file[512];

    snprintf(file, sizeof(file), "%s", scratch_file("lossy.dot"));
    free(command_run(0, SECONDS, "sh", "-c",
                     "sed 's/^digraph figure3 {/&\\ntrace_policy=discard;"
                     " trace_capacity=1000;/' \"$0\" > \"$1\"",
                     MAP, file, NULL));
    return file;
}

Test(gather, what_was_gone_before_it_came_is_counted_exactly)
{
    eventspace_events events;
    eventspace_run *run;
    scopes_ledger l;
    char *output;

    figure3_run(lossy_map(), "5000");
    run = run_open(scratch_file("run"));
    check_status(eventspace_run_events(run, SIZE_MAX, &events), 0);
    eventspace_run_close(run);
    cr_assert_eq(events.recorded, COLLECTORS * 5000);
    cr_assert_gt(events.lost, 0);
    output = command_run(0, SECONDS, EVENTSPACE, "scope", scratch_file("run"),
                         "--output", scratch_file("mirror"), NULL);
    l = said(output);
    cr_expect_eq(l.recorded, events.recorded);
    cr_expect_eq(l.read, events.present);
    cr_expect_eq(l.lost, events.lost);
    free(output);
}

/* The newest of each stream: what there is when at most so many are wanted. */
static uint64_t newest_count(eventspace_run *run, size_t process, uint64_t max)
{
    pastset_space *space = eventspace_run_process_at(run, process)->space;
    uint64_t count = 0;

    for (size_t i = 0; i < pastset_space_count(space); i++) {
        pastset_element *element = pastset_space_at(space, i);
        pastset_ledger ledger;
        if (!eventspace_run_is_trace(run, element))
            continue;
        pastset_element_ledger(element, &ledger);
        count += ledger.written < max ? ledger.written : max;
    }
    return count;
}

Test(gather, what_it_is_too_far_behind_for_is_passed_over_and_counted)
{
    eventspace_run *run;
    scopes_ledger l;
    char *output;

    figure3_run(MAP, "3000");
    output =
        command_run(0, SECONDS, EVENTSPACE, "scope", scratch_file("run"),
                    "--output", scratch_file("mirror"), "--lag", "50", NULL);
    l = said(output);
    cr_expect_eq(l.recorded, COLLECTORS * ROUNDS);
    run = run_open(scratch_file("run"));
    for (size_t i = 0; i < 2; i++) {
        scopes_ledger ledger;
        tuples want = raw_tuples(run, i);
        tuples got = mirror_tuples(scratch_file("mirror"), i, &ledger);
        cr_expect_eq(got.count, newest_count(run, i, 50));
        cr_expect_eq(ledger.recorded, COLLECTORS / 2 * ROUNDS);
        cr_expect_eq(ledger.read, got.count);
        check_subset(&got, &want);
        free(want.events);
        free(got.events);
    }
    eventspace_run_close(run);
    free(output);
}

/* --- filters and statistics --- */

static bool is_wanted(const eventspace_trace *e)
{
    return (e->collector == 1 || e->collector == 10) &&
           (e->thread == 0 || e->thread == 2) && e->operation != PASTSET_WRITE;
}

Test(gather, a_filter_lets_through_what_was_asked_for)
{
    size_t wanted = 0, all = 0;
    eventspace_run *run;
    scopes_ledger l;
    char *output;

    figure3_run(MAP, "3000");
    output = command_run(0, SECONDS, EVENTSPACE, "scope", scratch_file("run"),
                         "--output", scratch_file("mirror"), "--collector",
                         "EC1* EC5", "--thread", "0,2", "--verb",
                         "exchange observe", NULL);
    l = said(output);
    run = run_open(scratch_file("run"));
    for (size_t i = 0; i < 2; i++) {
        tuples want = raw_tuples(run, i);
        scopes_ledger ledger;
        tuples got = mirror_tuples(scratch_file("mirror"), i, &ledger);
        size_t kept = 0;
        all += want.count;
        for (size_t k = 0; k < want.count; k++)
            if (is_wanted(&want.events[k]))
                want.events[kept++] = want.events[k];
        want.count = kept;
        wanted += kept;
        check_same(&got, &want);
        cr_expect_eq(ledger.lost, 0);
        free(want.events);
        free(got.events);
    }
    eventspace_run_close(run);
    cr_assert_gt(wanted, ROUNDS / 2);
    cr_expect_eq(l.read, wanted);
    cr_expect_eq(l.filtered, all - wanted);
    cr_expect_eq(l.lost, 0);
    free(output);
}

/* Threads 0, 9000 and 20000 of one process, each with 100 events. */
static void sparse_run(const char *directory)
{
    static const uint32_t threads[] = {0, 9000, 20000};
    static const char text[] =
        "digraph m { subgraph cluster_h0 {\n"
        "  a [kind=thread, number=0]; b [kind=thread, number=9000];\n"
        "  c [kind=thread, number=20000];\n"
        "  ec [kind=collector, id=0, trace=x]; e [kind=element, type=i64]; }\n"
        " a -> ec [as=e, use=write]; b -> ec [as=e, use=write];\n"
        " c -> ec [as=e, use=write]; ec -> e; }\n";
    paths_map *map;
    fake_run *run;

    mkdir(directory, 0777);
    check_status(paths_map_parse(&map, text, strlen(text), "sparse"), 0);
    run = fake_run_begin(directory, map);
    cr_assert_not_null(run, "%s", pastset_error());
    for (uint32_t i = 0; i < 300; i++) {
        eventspace_trace event = {.start = FAKE_START + 2 * i,
                                  .end = FAKE_START + 2 * i + 1,
                                  .thread = threads[i % 3],
                                  .sequence = i / 3 + 1};
        check_status(fake_run_event(run, &event), 0);
    }
    check_status(fake_run_end(run), 0);
    paths_map_destroy(map);
}

/* Numbers far apart, and the greater ones later. */
Test(gather, a_filter_takes_any_numbers_of_threads)
{
    char *output;
    tuples got;

    sparse_run(scratch_file("run"));
    output = command_run(0, SECONDS, EVENTSPACE, "scope", scratch_file("run"),
                         "--output", scratch_file("mirror"), "--thread",
                         "9000 20000", NULL);
    cr_expect_eq(said(output).read, 200);
    cr_expect_eq(said(output).filtered, 100);
    got = mirror_tuples(scratch_file("mirror"), 0, NULL);
    cr_assert_eq(got.count, 200);
    for (uint32_t i = 0; i < 200; i++) {
        cr_expect_eq(got.events[i].thread, i < 100 ? 9000 : 20000);
        cr_expect_eq(got.events[i].sequence, i % 100 + 1);
    }
    free(got.events);
    free(output);
}

Test(gather, operations_that_took_less_are_left_out)
{
    eventspace_run *run;

    figure3_run(MAP, "1000");
    free(command_run(0, SECONDS, EVENTSPACE, "scope", scratch_file("run"),
                     "--output", scratch_file("mirror"), "--min-duration",
                     "20us", NULL));
    run = run_open(scratch_file("run"));
    for (size_t i = 0; i < 2; i++) {
        double hz = eventspace_run_process_at(run, i)->meta.tick_hz;
        uint64_t min = (uint64_t)(20000 * hz / 1e9);
        tuples want = raw_tuples(run, i);
        tuples got = mirror_tuples(scratch_file("mirror"), i, NULL);
        size_t kept = 0;
        for (size_t k = 0; k < want.count; k++)
            if (want.events[k].end - want.events[k].start >= min)
                want.events[kept++] = want.events[k];
        cr_assert(kept > 0 && kept < want.count);
        want.count = kept;
        check_same(&got, &want);
        free(want.events);
        free(got.events);
    }
    eventspace_run_close(run);
}

typedef struct sum {
    uint64_t count, bytes, total, min, max;
} sum;

static void sum_add(sum *s, uint64_t count, uint64_t bytes, uint64_t total,
                    uint64_t min, uint64_t max)
{
    if (!s->count || min < s->min)
        s->min = min;
    if (max > s->max)
        s->max = max;
    s->count += count;
    s->bytes += bytes;
    s->total += total;
}

/* Reads the tables of all windows. */
static unsigned windows_read(char *csv, sum sums[COLLECTORS + 1])
{
    unsigned windows = 0;

    for (char *line = strtok(csv, "\r\n"); line; line = strtok(NULL, "\r\n")) {
        unsigned long long count, failed, bytes, total, mean, min, max;
        unsigned id;
        char window[64], process[16], name[32];
        if (strncmp(line, "window", 6) == 0) {
            windows++;
            continue;
        }
        cr_assert_eq(sscanf(line,
                            "%63[^,],%15[^,],%u,%31[^,],%llu,%llu,%llu,%llu,"
                            "%llu,%llu,%llu",
                            window, process, &id, name, &count, &failed, &bytes,
                            &total, &mean, &min, &max),
                     11, "%s", line);
        cr_assert(id <= COLLECTORS);
        cr_expect_eq(failed, 0);
        sum_add(&sums[id], count, bytes, total, min, max);
    }
    return windows;
}

static void check_statistics(const char *fanout)
{
    sum got[COLLECTORS + 1] = {{0}}, want[COLLECTORS + 1] = {{0}};
    eventspace_run *run;
    unsigned windows;
    char *csv =
        command_run(0, SECONDS, EVENTSPACE, "scope", scratch_file("run"),
                    "--statistics", "10ms", "--format", "csv", fanout, NULL);

    windows = windows_read(csv, got);
    cr_expect_gt(windows, 1);
    run = run_open(scratch_file("run"));
    for (size_t i = 0; i < 2; i++) {
        double hz = eventspace_run_process_at(run, i)->meta.tick_hz;
        tuples t = raw_tuples(run, i);
        for (size_t k = 0; k < t.count; k++) {
            const eventspace_trace *e = &t.events[k];
            uint64_t ns = (uint64_t)((double)(e->end - e->start) * (1e9 / hz));
            sum_add(&want[e->collector], 1, e->bytes, ns, ns, ns);
        }
        free(t.events);
    }
    eventspace_run_close(run);
    for (unsigned id = 1; id <= COLLECTORS; id++)
        cr_expect_eq(memcmp(&got[id], &want[id], sizeof(sum)), 0,
                     "EC%u: %llu of %llu", id,
                     (unsigned long long)got[id].count,
                     (unsigned long long)want[id].count);
    free(csv);
}

Test(gather, statistics_are_the_sums_over_all_tuples)
{
    figure3_run(MAP, "3000");
    check_statistics(NULL);
}

/* --- a ring on four processes that goes on until it is ended --- */

static const char ring_text[] =
    "digraph ring {\n"
    "subgraph cluster_A { t0 [kind=thread, number=0]; p0 [kind=proxy];\n"
    " e0 [kind=element, type=u64, capacity=4]; }\n"
    "subgraph cluster_B { t1 [kind=thread, number=1]; p1 [kind=proxy];\n"
    " e1 [kind=element, type=u64, capacity=4]; }\n"
    "subgraph cluster_C { t2 [kind=thread, number=2]; p2 [kind=proxy];\n"
    " e2 [kind=element, type=u64, capacity=4]; }\n"
    "subgraph cluster_D { t3 [kind=thread, number=3]; p3 [kind=proxy];\n"
    " e3 [kind=element, type=u64, capacity=4]; }\n"
    "t0 -> p0 [as=out, use=write]; p0 -> e1; t1 -> e1 [as=in, use=read];\n"
    "t1 -> p1 [as=out, use=write]; p1 -> e2; t2 -> e2 [as=in, use=read];\n"
    "t2 -> p2 [as=out, use=write]; p2 -> e3; t3 -> e3 [as=in, use=read];\n"
    "t3 -> p3 [as=out, use=write]; p3 -> e0; t0 -> e0 [as=in, use=read];\n"
    "}\n";

static counting *counts;
static command ring;

static void ring_start(const char *policy)
{
    counts = counting_make(scratch_file("counts"));
    cr_assert_not_null(counts);
    scratch_write("ring.dot", ring_text);
    free(command_run(0, SECONDS, EVENTSPACE, "map", "instrument",
                     scratch_file("ring.dot"), "-o", scratch_file("traced.dot"),
                     "--trace-policy", policy, "--trace-size",
                     strcmp(policy, "discard") == 0 ? "2000" : "4M", NULL));
    command_start(&ring, EVENTSPACE, "run", scratch_file("traced.dot"),
                  "--output", scratch_file("run"), "--", COUNTING,
                  scratch_file("counts"), NULL);
}

/* Waits until each thread has written as often. */
static void ring_reach(uint64_t times)
{
    int64_t deadline = pastset_deadline_ns((int)timeout(SECONDS) * 1000);

    for (int i = 0; i < 4; i++) {
        while (atomic_load(&counts->threads[i].in) < times) {
            cr_assert_lt(pastset_now_ns(), deadline, "the ring stands still");
            poll(NULL, 0, 1);
        }
    }
}

/* Its threads would wait for each other if each just ended. */
static void ring_stop(void)
{
    kill(ring.pid, SIGTERM);
    command_wait(&ring, SECONDS);
}

/* All that the ring's collectors made, by what its threads have counted: two
 * for each write and one for each observe. */
static uint64_t ring_made(void)
{
    uint64_t made = 0;

    for (int i = 0; i < 4; i++)
        made += 2 * atomic_load(&counts->threads[i].out) +
                atomic_load(&counts->threads[i].in);
    return made;
}

/* How many tuples of a process the mirror has by now. */
static uint64_t mirror_count(const char *mirror, size_t process)
{
    tuples t;
    uint64_t count;

    if (access(scratch_file("%s/A.archive", mirror), F_OK) != 0)
        return 0;
    t = mirror_tuples(scratch_file("%s", mirror), process, NULL);
    count = t.count;
    free(t.events);
    return count;
}

static void mirror_reach(const char *mirror, uint64_t count)
{
    int64_t deadline = pastset_deadline_ns((int)timeout(SECONDS) * 1000);

    for (size_t process = 0; process < 4; process++) {
        while (mirror_count(mirror, process) < count) {
            cr_assert_lt(pastset_now_ns(), deadline, "nothing more comes");
            poll(NULL, 0, 20);
        }
    }
}

static void check_live(const char *fanout)
{
    command scope;
    scopes_ledger l;

    ring_start("grow");
    ring_reach(100);
    command_start(&scope, EVENTSPACE, "scope", scratch_file("run"), "--output",
                  scratch_file("mirror"), "--interval", "10ms", fanout, NULL);
    mirror_reach("mirror", 200);
    ring_reach(atomic_load(&counts->threads[0].in) + 500);
    mirror_reach("mirror", 1000);
    ring_stop();
    command_wait(&scope, SECONDS);
    cr_assert_eq(scope.exit_code, 0, "%s", scope.output);
    l = said(scope.output);
    cr_expect_eq(l.lost, 0);
    cr_expect_geq(l.recorded, ring_made());
    cr_expect_leq(l.recorded, ring_made() + 12); /* cut off at its end */
    check_mirror_is_whole(scratch_file("mirror"), scratch_file("run"));
    command_free(&scope);
    command_free(&ring);
}

Test(gather, a_flat_tree_mirrors_a_run_while_it_goes_on)
{
    check_live(NULL);
}

Test(gather, a_tree_of_pairs_mirrors_a_run_while_it_goes_on)
{
    check_live("--fanout=2");
}

Test(gather, read_and_lost_are_all_that_was_recorded_when_memory_is_short)
{
    eventspace_events events;
    eventspace_run *run;
    command scope;
    scopes_ledger l;

    ring_start("discard");
    ring_reach(10000); /* the first are gone, however fast the scope reads */
    command_start(&scope, EVENTSPACE, "scope", scratch_file("run"), "--output",
                  scratch_file("mirror"), "--interval", "200ms", "--fanout",
                  "3", NULL);
    mirror_reach("mirror", 200);
    ring_reach(atomic_load(&counts->threads[0].in) + 20000);
    ring_stop();
    command_wait(&scope, SECONDS);
    l = said(scope.output);
    run = run_open(scratch_file("run"));
    check_status(eventspace_run_events(run, SIZE_MAX, &events), 0);
    cr_expect_eq(l.recorded, events.recorded);
    cr_expect_gt(l.read, 0);
    cr_expect_gt(l.lost, 0);
    for (size_t i = 0; i < 4; i++) {
        scopes_ledger ledger;
        tuples got = mirror_tuples(scratch_file("mirror"), i, &ledger);
        check_status(eventspace_run_events(run, i, &events), 0);
        cr_expect_eq(ledger.recorded, events.recorded);
        cr_expect_eq(ledger.read, got.count);
        cr_expect_eq(ledger.read + ledger.lost, events.recorded);
        free(got.events);
    }
    eventspace_run_close(run);
    command_free(&scope);
    command_free(&ring);
}

/* --- what is killed --- */

Test(gather, of_a_process_that_is_killed_all_is_gathered)
{
    command scope;
    eventspace_meta meta;
    scopes_ledger l;

    ring_start("grow");
    ring_reach(100);
    command_start(&scope, EVENTSPACE, "scope", scratch_file("run"), "--output",
                  scratch_file("mirror"), "--interval", "10ms", "--fanout", "2",
                  NULL);
    mirror_reach("mirror", 200);
    kill(atomic_load(&counts->threads[2].pid), SIGKILL);
    command_wait(&ring, SECONDS);
    command_wait(&scope, SECONDS);
    cr_expect_eq(scope.exit_code, 0, "%s", scope.output);
    l = said(scope.output);
    cr_expect_eq(l.lost, 0);
    check_mirror_is_whole(scratch_file("mirror"), scratch_file("run"));
    check_status(eventspace_meta_load(&meta, scratch_file("mirror/C.meta")), 0);
    cr_expect_eq(meta.state, EVENTSPACE_KILLED);
    command_free(&scope);
    command_free(&ring);
}

/* Then nobody would say any more how its processes ended. */
Test(gather, a_run_whose_directory_is_removed_has_ended_for_it)
{
    command scope;

    ring_start("grow");
    ring_reach(100);
    command_start(&scope, EVENTSPACE, "scope", scratch_file("run"), "--output",
                  scratch_file("mirror"), "--interval", "10ms", NULL);
    mirror_reach("mirror", 200);
    cr_assert_eq(rename(scratch_file("run"), scratch_file("elsewhere")), 0);
    command_wait(&scope, SECONDS);
    cr_expect_eq(scope.exit_code, 0, "%s", scope.output);
    cr_expect_geq(said(scope.output).read, 4 * 200);
    ring_stop();
    command_free(&scope);
    command_free(&ring);
}

/* The id of a process of the tree, by its meta file. */
static pid_t tree_pid(const char *process)
{
    DIR *dir = opendir(scratch_file("tmp"));
    struct dirent *entry;
    pid_t pid = 0;

    while ((entry = readdir(dir))) {
        eventspace_meta meta;
        const char *file =
            scratch_file("tmp/%s/%s.meta", entry->d_name, process);
        if (entry->d_name[0] != '.' && access(file, F_OK) == 0 &&
            eventspace_meta_load(&meta, file) == 0)
            pid = (pid_t)meta.pid;
    }
    closedir(dir);
    cr_assert_gt(pid, 0, "no id of process %s", process);
    return pid;
}

Test(gather, a_leaf_that_is_killed_takes_only_its_own_process_with_it)
{
    eventspace_run *run;
    command scope;
    scopes_ledger l;

    ring_start("grow");
    ring_reach(100);
    command_start(&scope, EVENTSPACE, "scope", scratch_file("run"), "--output",
                  scratch_file("mirror"), "--interval", "10ms", NULL);
    mirror_reach("mirror", 200);
    kill(tree_pid("scope.B"), SIGKILL);
    ring_reach(atomic_load(&counts->threads[0].in) + 2000);
    ring_stop();
    command_wait(&scope, SECONDS);
    cr_expect_neq(scope.exit_code, 0); /* as it is not whole */
    check_says(scope.output, "scope.B");
    l = said(scope.output);
    cr_expect_leq(l.recorded, ring_made() + 12);
    run = run_open(scratch_file("run"));
    for (size_t i = 0; i < 4; i++) {
        tuples want = raw_tuples(run, i);
        tuples got = mirror_tuples(scratch_file("mirror"), i, NULL);
        if (i == 1) {
            check_subset(&got, &want);
            cr_expect_geq(got.count, 200);
            cr_expect_lt(got.count, want.count);
        } else {
            check_same(&got, &want);
        }
        free(want.events);
        free(got.events);
    }
    eventspace_run_close(run);
    command_free(&scope);
    command_free(&ring);
}

/* --- over the network --- */

/* One at which nobody listens, nor comes to: that of this process alone in
 * 127.0.0.0/8. */
static const char *address_free(void)
{
    static char address[PATHS_ADDRESS_TEXT];
    unsigned pid = (unsigned)getpid();

    snprintf(address, sizeof(address), "127.%u.%u.%u:7001",
             128 + (pid >> 16 & 63), pid >> 8 & 255, pid & 255);
    return address;
}

Test(gather, a_server_gives_a_run_to_those_who_know_the_key)
{
    const char *address = address_free();
    command server, client;
    scopes_ledger l;
    char *output;

    figure3_run(MAP, "3000");
    free(command_run(0, SECONDS, EVENTSPACE, "key", scratch_file("key"), NULL));
    free(command_run(0, SECONDS, EVENTSPACE, "key", scratch_file("other"),
                     NULL));
    command_start(&server, EVENTSPACE, "scope", scratch_file("run"), "--serve",
                  "--listen", address, "--key", scratch_file("key"),
                  "--clients=1", NULL);
    output = command_run(1, SECONDS, EVENTSPACE, "scope", "--connect", address,
                         "--key", scratch_file("other"), "--output",
                         scratch_file("none"), NULL);
    check_says(output, "key");
    free(output);
    command_start(&client, EVENTSPACE, "scope", "--connect", address, "--key",
                  scratch_file("key"), "--output", scratch_file("mirror"),
                  NULL);
    command_wait(&client, SECONDS);
    cr_assert_eq(client.exit_code, 0, "%s", client.output);
    l = said(client.output);
    cr_expect_eq(l.recorded, COLLECTORS * ROUNDS);
    cr_expect_eq(l.read, COLLECTORS * ROUNDS);
    check_mirror_is_whole(scratch_file("mirror"), scratch_file("run"));
    command_wait(&server, SECONDS);
    cr_expect_eq(server.exit_code, 0, "%s", server.output);
    check_says(server.output, "; ends after 1 client\n");
    command_free(&client);
    command_free(&server);
}

Test(gather, a_second_client_gets_the_run_again)
{
    const char *address = address_free();
    command server;

    figure3_run(MAP, "300");
    free(command_run(0, SECONDS, EVENTSPACE, "key", scratch_file("key"), NULL));
    command_start(&server, EVENTSPACE, "scope", scratch_file("run"), "--serve",
                  "--listen", address, "--key", scratch_file("key"), NULL);
    for (int i = 0; i < 2; i++) {
        free(command_run(0, SECONDS, EVENTSPACE, "scope", "--connect", address,
                         "--key", scratch_file("key"), "--output",
                         scratch_file("mirror%d", i), NULL));
        check_mirror_is_whole(scratch_file("mirror%d", i), scratch_file("run"));
    }
    kill(server.pid, SIGTERM);
    command_wait(&server, SECONDS);
    cr_expect_eq(server.exit_code, 0);
    check_says(server.output, "eventspace: listening at ");
    check_says(server.output, address);
    check_says(server.output, "; Ctrl-C or SIGTERM ends it\n");
    cr_expect_null(strstr(strchr(server.output, '\n'), "listening"),
                   "said twice: %s", server.output);
    command_free(&server);
}

/* As soon as somebody listens there. */
static int dial(const char *address)
{
    paths_address a;

    check_status(paths_address_parse(&a, address), 0);
    for (;;) {
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        cr_assert_geq(fd, 0);
        if (connect(fd, (struct sockaddr *)&a.socket, a.bytes) == 0)
            return fd;
        close(fd);
        poll(NULL, 0, 10);
    }
}

/* More of them than are let wait, who say nothing or nonsense. */
Test(gather, strangers_at_the_door_of_a_server_keep_nobody_out)
{
    const char *address = address_free();
    command server;
    int fds[600];

    figure3_run(MAP, "300");
    free(command_run(0, SECONDS, EVENTSPACE, "key", scratch_file("key"), NULL));
    command_start(&server, EVENTSPACE, "scope", scratch_file("run"), "--serve",
                  "--listen", address, "--key", scratch_file("key"),
                  "--clients=1", NULL);
    for (int i = 0; i < 600; i++) {
        fds[i] = dial(address);
        if (i % 2)
            cr_expect_eq(send(fds[i], "EVSP, it is me", 14, MSG_NOSIGNAL), 14);
    }
    free(command_run(0, SECONDS, EVENTSPACE, "scope", "--connect", address,
                     "--key", scratch_file("key"), "--output",
                     scratch_file("mirror"), NULL));
    check_mirror_is_whole(scratch_file("mirror"), scratch_file("run"));
    command_wait(&server, SECONDS);
    cr_expect_eq(server.exit_code, 0, "%s", server.output);
    command_free(&server);
    for (int i = 0; i < 600; i++)
        close(fds[i]);
}
