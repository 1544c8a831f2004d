/* scheduling_test.c - when threads had no processor: real threads that measure
 * it themselves, by the clock of their processor time; tuples of damaged files;
 * and parts of times, against what they were made from. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "scopes/gather/gather.h"
#include "scopes/reading/reading_internal.h"
#include "tests/scopes/fake_run.h"
#include "tests/scopes/told.h"
#include "tests/support/check.h"
#include "tests/support/command.h"
#include "tests/support/golden.h"
#include "tests/support/scratch.h"

#define EVENTSPACE TEST_BINARY_DIR "/eventspace"
#define APP TEST_BINARY_DIR "/scheduling_app"
#define GUEST TEST_BINARY_DIR "/guest_app"
#define MS 1000000

TestSuite(scheduling, .init = scratch_make, .fini = scratch_remove,
          .timeout = 300);

/* Two threads that share one processor. */
static const char map[] = "digraph shared {\n"
                          "  subgraph cluster_h0 {\n"
                          "    affinity=\"0\";\n"
                          "    t0 [kind=thread, number=0];\n"
                          "    t1 [kind=thread, number=1];\n"
                          "    c0 [kind=collector, id=0];\n"
                          "    c1 [kind=collector, id=1];\n"
                          "    all [kind=element, type=\"u64\", policy=grow];\n"
                          "  }\n"
                          "  t0 -> c0 [as=all, use=write];\n"
                          "  t1 -> c1 [as=all, use=write];\n"
                          "  c0 -> all;\n"
                          "  c1 -> all;\n"
                          "}\n";

/* --- real threads --- */

/* What the program says of a thread. */
typedef struct measured {
    long long processor_ns, asleep_ns, waited_ns, waited_asleep_ns, wall_ns;
} measured;

static measured said(const char *output, unsigned thread)
{
    measured m = {0};
    const char *line = output;
    unsigned number;

    while ((line = strstr(line, "h0| ")) != NULL) {
        line += 4;
        if (sscanf(line, "%u %lld %lld %lld %lld %lld", &number,
                   &m.processor_ns, &m.asleep_ns, &m.waited_ns,
                   &m.waited_asleep_ns, &m.wall_ns) == 6 &&
            number == thread)
            return m;
    }
    cr_assert_fail("it said: %s", output);
    return m;
}

static char *app_run(const char *how, const char *ms)
{
    char *output;

    setenv("EVENTSPACE_SCHEDULING", how, 1);
    output = command_run(0, 60, EVENTSPACE, "run",
                         scratch_write("map.dot", map), "--output",
                         scratch_file("run"), "--replace", "--", APP, ms, NULL);
    unsetenv("EVENTSPACE_SCHEDULING");
    return output;
}

static void check_between(int64_t value, int64_t from, int64_t to,
                          const char *what)
{
    cr_expect(value >= from && value <= to, "%s: %lld is not in %lld ... %lld",
              what, (long long)value, (long long)from, (long long)to);
}

/* Each computed for 120 ms on a processor that the other one wanted too, and
 * slept for 60 ms. That all was in its life: it had the processor for as long
 * at least as the clock of its processor time says, and not while it slept or,
 * as the kernel has it, waited for one. (The clock of its processor time alone
 * does not say both: it leaves out what a hypervisor takes of a virtual
 * processor.) `coarse_ns`: how much of a stretch of time may not be told. */
static void check_thread(told *t, const measured *m, size_t row,
                         const char *how, int64_t coarse_ns)
{
    scopes_table *lives = told_view(t, "scheduling");
    scopes_table *gaps = told_view(t, "communication");
    int64_t life_ns = table_integer(lives, row, "end_ns") -
                      table_integer(lives, row, "start_ns");
    int64_t off_ns = table_integer(lives, row, "runnable_ns") +
                     table_integer(lives, row, "sleeping_ns");
    int64_t slack_ns = 3 * MS + m->wall_ns / 50;

    cr_expect_str_eq(table_text(lives, row, "recorded"), how);
    cr_expect_geq(life_ns, m->wall_ns);
    check_between(life_ns - off_ns, m->processor_ns - slack_ns,
                  life_ns - m->asleep_ns -
                      (m->waited_ns - m->waited_asleep_ns) + slack_ns,
                  "on the processor");
    cr_expect_geq(table_integer(lives, row, "sleeping_ns"),
                  m->asleep_ns - slack_ns - 2 * coarse_ns);
    cr_expect_eq(table_integer(lives, row, "unknown_ns"), 0);
    /* Nearly all of that was between operations. */
    cr_expect_geq(table_integer(gaps, row, "computing_ns"),
                  life_ns - slack_ns -
                      table_integer(gaps, row, "communicating_ns"));
    cr_expect_geq(table_integer(gaps, row, "sleeping_ns"),
                  m->asleep_ns - slack_ns - 2 * coarse_ns);
    check_between(table_integer(gaps, row, "sleeping_ns") +
                      table_integer(gaps, row, "runnable_ns"),
                  off_ns - table_integer(gaps, row, "communicating_ns") -
                      slack_ns - 4 * coarse_ns,
                  off_ns + slack_ns, "off the processor while computing");
    scopes_table_destroy(lives);
    scopes_table_destroy(gaps);
}

/* How much of a stretch of time its samples do not tell: the end of the
 * stretch cuts one of them off. They are of 10 ms, or longer where the sampler
 * itself or the thread had to wait for a processor. */
static int64_t sample_ns(const told *t, unsigned thread)
{
    const scopes_thread_life *life = &t->scheduling->threads[thread];
    int64_t longest_ns = 0;

    for (size_t i = 0; i < life->off_count; i++) {
        int64_t ns = life->offs[i].end_ns - life->offs[i].start_ns;
        longest_ns = ns > longest_ns ? ns : longest_ns;
    }
    return longest_ns;
}

static void check_run(const char *how)
{
    bool samples = strcmp(how, "samples") == 0;
    char *output = app_run(how, "60");
    told t;

    told_run(&t, scratch_file("run"));
    for (unsigned thread = 0; thread < 2; thread++) {
        measured m = said(output, thread);
        check_thread(&t, &m, thread, how, samples ? sample_ns(&t, thread) : 0);
    }
    told_end(&t);
    free(output);
}

/* The kernel may refuse: then there is nothing to be tested. */
static bool has_switches(void)
{
    FILE *file = fopen("/proc/sys/kernel/perf_event_paranoid", "r");
    int paranoid = 4;

    if (file && fscanf(file, "%d", &paranoid) != 1)
        paranoid = 4;
    if (file)
        fclose(file);
    return paranoid <= 2;
}

Test(scheduling, context_switches_say_what_threads_measure_themselves)
{
    char *output = app_run("switches", "1");
    scopes_table *lives;
    bool switches;
    told t;

    told_run(&t, scratch_file("run"));
    lives = told_view(&t, "scheduling");
    switches = strcmp(table_text(lives, 0, "recorded"), "samples") != 0;
    scopes_table_destroy(lives);
    told_end(&t);
    free(output);
    if (switches)
        check_run("switches");
    else
        cr_expect(!has_switches(), "the kernel would have allowed it");
}

/* The end of a wait says what its begin was, in the sample before: two threads
 * that want one processor do not sleep when they do not have it, however long
 * the sampler gets none itself. (What a hypervisor takes of a virtual processor
 * is no wait to the kernel.) */
static void check_no_sleep(void)
{
    char *output = app_run("samples", "150");
    scopes_table *lives;
    told t;

    told_run(&t, scratch_file("run"));
    lives = told_view(&t, "scheduling");
    for (unsigned thread = 0; thread < 2; thread++) {
        measured m = said(output, thread);
        int64_t life_ns = table_integer(lives, thread, "end_ns") -
                          table_integer(lives, thread, "start_ns");
        check_between(table_integer(lives, thread, "sleeping_ns"), 0,
                      life_ns - m.processor_ns - m.waited_ns + 3 * MS +
                          m.wall_ns / 200,
                      "asleep");
    }
    scopes_table_destroy(lives);
    told_end(&t);
    free(output);
}

Test(scheduling, samples_say_about_the_same)
{
    check_run("samples");
    check_no_sleep();
}

Test(scheduling, none_means_that_nothing_is_there)
{
    char *output = app_run("none", "1");
    scopes_table *table;
    told t;

    told_run(&t, scratch_file("run"));
    table = told_view(&t, "scheduling");
    cr_expect_eq(scopes_table_rows(table), 0);
    scopes_table_destroy(table);
    table = told_view(&t, "communication");
    cr_expect_eq(table_integer(table, 0, "runnable_ns"), SCOPES_BLANK);
    cr_expect_eq(table_integer(table, 0, "sleeping_ns"), SCOPES_BLANK);
    scopes_table_destroy(table);
    told_end(&t);
    free(output);
}

/* --- what it takes of the application's process --- */

static const char alone_map[] =
    "digraph alone {\n"
    "  subgraph cluster_h0 {\n"
    "    t0 [kind=thread, number=0];\n"
    "    c0 [kind=collector, id=0];\n"
    "    all [kind=element, type=\"u64\", policy=grow];\n"
    "  }\n"
    "  t0 -> c0 [as=all, use=write];\n"
    "  c0 -> all;\n"
    "}\n";

static int guest_descriptors(const char *how)
{
    int count = 0;
    char *output;

    setenv("EVENTSPACE_SCHEDULING", how, 1);
    output = command_run(0, 60, EVENTSPACE, "run",
                         scratch_write("alone.dot", alone_map), "--output",
                         scratch_file("run"), "--replace", "--", GUEST, NULL);
    unsetenv("EVENTSPACE_SCHEDULING");
    cr_expect_not_null(strstr(output, "signal 1"), "%s", output);
    cr_expect_eq(sscanf(output, "h0| descriptors %d", &count), 1, "%s", output);
    free(output);
    return count;
}

/* There may be few, and as many threads: the run must go on. A signal to the
 * process is for a thread of the application, which waits for it. */
Test(scheduling, takes_no_descriptors_and_no_signals)
{
    int none = guest_descriptors("none"), some = guest_descriptors("switches");

    if (has_switches()) /* a sample has one while it is taken */
        cr_expect_eq(some, none);
}

/* --- damaged files --- */

static unsigned by_chance(unsigned below)
{
    static uint64_t state = 20261123;

    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)((state >> 33) % below);
}

Test(scheduling, what_cannot_be_is_left_out)
{
    static const eventspace_scheduling tuples[] = {
        {.start = FAKE_START + 100, .end = FAKE_START + 100, .thread = 0},
        /* no such thread, no such kind, backwards, more than there is */
        {.start = FAKE_START, .end = FAKE_START + 9, .thread = 77, .kind = 1},
        {.start = FAKE_START, .end = FAKE_START + 9, .thread = 0, .kind = 9},
        {.start = FAKE_START + 300, .end = FAKE_START + 200, .kind = 1},
        {.start = FAKE_START + 200,
         .end = FAKE_START + 300,
         .runnable = 60,
         .sleeping = UINT64_MAX - 10,
         .kind = 1},
        {.start = FAKE_START + 200,
         .end = FAKE_START + 300,
         .runnable = 60,
         .sleeping = 41,
         .kind = 1},
        /* the good ones, the second first */
        {.start = FAKE_START + 600,
         .end = FAKE_START + 700,
         .sleeping = 100,
         .sleeps = 1,
         .kind = 1},
        {.start = FAKE_START + 400,
         .end = FAKE_START + 500,
         .runnable = 100,
         .preemptions = 1,
         .kind = 1},
        /* overlaps the first */
        {.start = FAKE_START + 450,
         .end = FAKE_START + 550,
         .runnable = 100,
         .preemptions = 1,
         .kind = 1},
        {.start = FAKE_START + 900,
         .end = FAKE_START + 900,
         .operations = 3,
         .kind = EVENTSPACE_THREAD_ENDED},
    };
    paths_map *m = map_parse(map);
    scopes_table *table;
    fake_run *fake;
    told t;

    cr_assert_eq(mkdir(scratch_file("run"), 0700), 0);
    fake = fake_run_begin(scratch_file("run"), m);
    cr_assert_not_null(fake);
    for (size_t i = 0; i < sizeof(tuples) / sizeof(*tuples); i++)
        check_status(fake_run_scheduling(fake, 0, &tuples[i]), 0);
    check_status(fake_run_end(fake), 0);
    told_run(&t, scratch_file("run"));
    table = told_view(&t, "scheduling");
    cr_assert_eq(scopes_table_rows(table), 1);
    cr_expect_eq(table_integer(table, 0, "start_ns"), 100);
    cr_expect_eq(table_integer(table, 0, "end_ns"), 900);
    cr_expect_eq(table_integer(table, 0, "runnable_ns"), 100);
    cr_expect_eq(table_integer(table, 0, "involuntary_switches"), 1);
    cr_expect_eq(table_integer(table, 0, "sleeping_ns"), 100);
    cr_expect_eq(table_integer(table, 0, "voluntary_switches"), 1);
    scopes_table_destroy(table);
    told_end(&t);
    paths_map_destroy(m);
}

/* --- again and again --- */

/* As of a process that goes on. */
static void meta_make(void)
{
    eventspace_meta meta = {.pid = (uint32_t)getpid(),
                            .tick_hz = 1e9,
                            .start_tick = FAKE_START,
                            .threads = 2,
                            .state = EVENTSPACE_RUNNING,
                            .process = "h0"};

    check_status(eventspace_meta_save(&meta, scratch_file("again/h0.meta")), 0);
}

static void tuples_write(fake_run *fake, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i++) {
        uint64_t start = FAKE_START + 100 * (uint64_t)i;
        eventspace_scheduling off = {.start = start,
                                     .end = start + 60,
                                     .runnable = i * 7 % 61,
                                     .thread = i % 2,
                                     .kind = EVENTSPACE_THREAD_OFF,
                                     .preemptions = 1};
        eventspace_scheduling began = {.start = start, .end = start};
        if (i == 0)
            check_status(fake_run_scheduling(fake, 0, &began), 0);
        check_status(fake_run_scheduling(fake, 0, &off), 0);
    }
}

static void check_same(const scopes_scheduling *some,
                       const scopes_scheduling *all, int64_t from_ns)
{
    cr_assert_eq(some->thread_count, all->thread_count);
    for (uint32_t i = 0; i < all->thread_count; i++) {
        const scopes_thread_life *a = &some->threads[i], *b = &all->threads[i];
        size_t first = 0;
        while (first < b->off_count && b->offs[first].end_ns < from_ns)
            first++;
        cr_expect_eq(a->is_known, b->is_known);
        cr_expect_eq(a->has_begun, b->has_begun);
        cr_expect_eq(a->begin_ns, b->begin_ns);
        cr_expect_eq(a->has_ended, b->has_ended);
        cr_expect_eq(a->end_ns, b->end_ns);
        cr_expect_eq(a->operations, b->operations);
        cr_assert_eq(a->off_count, b->off_count - first, "%zu of %zu from %zu",
                     a->off_count, b->off_count, first);
        for (size_t k = 0; k < a->off_count; k++) {
            const scopes_off *x = &a->offs[k], *y = &b->offs[first + k];
            cr_assert(x->start_ns == y->start_ns && x->end_ns == y->end_ns &&
                      x->runnable_ns == y->runnable_ns &&
                      x->sleeping_ns == y->sleeping_ns &&
                      x->preemptions == y->preemptions &&
                      x->sleeps == y->sleeps && x->unknown == y->unknown);
        }
    }
}

/* What is read on is what all that is read anew has from then on. */
Test(scheduling, reading_on_is_reading_all_of_it)
{
    enum { ROUNDS = 20, EACH = 20, BACK_NS = 1500 };
    const eventspace_scheduling ended = {.start = FAKE_START + 90000,
                                         .end = FAKE_START + 90000,
                                         .operations = 3,
                                         .thread = 0,
                                         .kind = EVENTSPACE_THREAD_ENDED};
    paths_map *m = map_parse(map);
    scopes_scheduling_reader *reader;
    fake_run *fake;
    told t;

    cr_assert_eq(mkdir(scratch_file("again"), 0700), 0);
    fake = fake_run_begin(scratch_file("again"), m);
    cr_assert_not_null(fake);
    meta_make();
    told_run(&t, scratch_file("again"));
    check_status(scopes_scheduling_reader_create(&reader, BACK_NS), 0);
    for (uint32_t round = 0; round <= ROUNDS; round++) {
        /* The last time nothing is left but that they are known. */
        int64_t from_ns = round == ROUNDS ? 1000000
                                          : (int64_t)round * EACH * 100 - 3000 -
                                                (int64_t)by_chance(BACK_NS);
        scopes_scheduling *some, *all;
        if (round < ROUNDS)
            tuples_write(fake, round * EACH, (round + 1) * EACH);
        else
            check_status(fake_run_scheduling(fake, 0, &ended), 0);
        check_status(eventspace_run_refresh(t.run), 0);
        check_status(scopes_scheduling_read_on(&some, reader, t.run, t.topology,
                                               t.clocks, from_ns),
                     0);
        check_status(scopes_scheduling_read(&all, t.run, t.topology, t.clocks),
                     0);
        cr_expect_eq(all->threads[0].off_count + all->threads[1].off_count,
                     (round < ROUNDS ? round + 1 : ROUNDS) * EACH);
        check_same(some, all, from_ns);
        scopes_scheduling_destroy(some);
        scopes_scheduling_destroy(all);
    }
    scopes_scheduling_reader_destroy(reader);
    check_status(fake_run_end(fake), 0);
    told_end(&t);
    paths_map_destroy(m);
}

/* Numbers that make others overflow. */
static uint64_t absurd(void)
{
    static const uint64_t numbers[] = {
        0,          1,         FAKE_START, FAKE_START + 1000, 1ull << 31,
        1ull << 53, INT64_MAX, 1ull << 63, UINT64_MAX};
    unsigned which = by_chance(sizeof(numbers) / sizeof(*numbers) + 1);

    return which == sizeof(numbers) / sizeof(*numbers)
               ? FAKE_START + by_chance(5000)
               : numbers[which] + by_chance(3) - 1;
}

static void make_all_views(told *t, int detail)
{
    for (size_t i = 0; scopes_view_at(i); i++) {
        for (int each = 0; each <= detail; each++) {
            scopes_table *table;
            t->view_input.each = each;
            if (each && !scopes_view_at(i)->each)
                continue;
            check_status(
                scopes_view_make(&table, scopes_view_at(i), &t->view_input), 0);
            scopes_table_destroy(table);
        }
    }
    t->view_input.each = false;
}

/* Whatever a file says: what is left of it fits into the thread's time. */
Test(scheduling, absurd_numbers_overflow_nothing)
{
    paths_map *m = map_parse(map);
    eventspace_trace events[4] = {{0}};

    cr_assert_eq(mkdir(scratch_file("absurd"), 0700), 0);
    for (uint32_t i = 0; i < 4; i++)
        events[i] = (eventspace_trace){.start = FAKE_START + i * 1000,
                                       .end = FAKE_START + i * 1000 + 300,
                                       .collector = i % 2,
                                       .thread = i % 2,
                                       .sequence = i / 2 + 1,
                                       .operation = PASTSET_WRITE};
    for (unsigned round = 0; round < 60; round++) {
        const char *directory = scratch_file("absurd/%u", round);
        scopes_table *table;
        fake_run *fake;
        told t;
        cr_assert_eq(mkdir(directory, 0700), 0);
        fake = fake_run_begin(directory, m);
        cr_assert_not_null(fake);
        for (unsigned i = 0; i < 12; i++) {
            eventspace_scheduling tuple = {
                .start = absurd(),
                .end = absurd(),
                .runnable = absurd(),
                .sleeping = by_chance(2) ? absurd() : 0,
                .operations = by_chance(2) ? 2 : absurd(),
                .thread = by_chance(3),
                .kind = by_chance(5),
                .preemptions = (uint32_t)absurd(),
                .sleeps = (uint32_t)absurd()};
            check_status(fake_run_scheduling(fake, 0, &tuple), 0);
        }
        check_status(fake_run_end(fake), 0);
        told_run(&t, directory);
        scopes_event_table_destroy(t.event_table);
        check_status(scopes_event_table_create(&t.event_table,
                                               eventspace_run_map(t.run),
                                               events, 4, NULL),
                     0);
        t.view_input.event_table = t.event_table;
        make_all_views(&t, round % 10 == 0); /* of many seconds */
        table = told_view(&t, "communication");
        for (size_t i = 0; i < scopes_table_rows(table); i++) {
            if (table_integer(table, i, "runnable_ns") == SCOPES_BLANK)
                continue;
            cr_expect_geq(table_integer(table, i, "runnable_ns"), 0);
            cr_expect_geq(table_integer(table, i, "sleeping_ns"), 0);
            cr_expect_leq(table_integer(table, i, "runnable_ns") +
                              table_integer(table, i, "sleeping_ns"),
                          table_integer(table, i, "computing_ns"));
        }
        scopes_table_destroy(table);
        told_end(&t);
    }
    paths_map_destroy(m);
}

/* --- mirrors --- */

static void mirror_meta(scopes_mirror *mirror, const char *file)
{
    char meta[4096];
    scopes_record record = {.kind = SCOPES_RECORD_META, .body = meta};
    FILE *from = fopen(file, "rb");

    cr_assert_not_null(from);
    record.bytes = fread(meta, 1, sizeof(meta), from);
    fclose(from);
    check_status(scopes_mirror_record(&record, mirror), 0);
}

static void mirror_tuple(scopes_mirror *mirror,
                         const eventspace_scheduling *tuple, uint64_t index)
{
    scopes_record record = {.kind = SCOPES_RECORD_SCHEDULING,
                            .index = index,
                            .span = 1,
                            .count = 1,
                            .body = tuple,
                            .bytes = sizeof(*tuple)};

    check_status(scopes_mirror_record(&record, mirror), 0);
}

/* A peer may send what it has sent before, and the last first. */
Test(scheduling, what_comes_twice_or_too_late_is_counted_once)
{
    enum { COUNT = 5 };
    eventspace_scheduling tuples[COUNT];
    paths_map *m = map_parse(map);
    scopes_mirror *mirror;
    scopes_table *table;
    told t;

    cr_assert_eq(mkdir(scratch_file("run"), 0700), 0);
    check_status(fake_run_end(fake_run_begin(scratch_file("run"), m)), 0);
    check_status(scopes_mirror_open(&mirror, scratch_file("mirror"), m), 0);
    mirror_meta(mirror, scratch_file("run/h0.meta"));
    for (size_t i = 0; i < COUNT; i++)
        tuples[i] = (eventspace_scheduling){.start = FAKE_START + 1000 * i,
                                            .end = FAKE_START + 1000 * i + 300,
                                            .runnable = 100,
                                            .sleeping = 200,
                                            .preemptions = 1,
                                            .sleeps = 1,
                                            .kind = EVENTSPACE_THREAD_OFF};
    for (size_t round = 0; round < 3; round++) {
        for (size_t i = COUNT; i-- > 0;)
            mirror_tuple(mirror, &tuples[i], round == 1 ? i : UINT64_MAX);
    }
    check_status(scopes_mirror_close(mirror), 0);
    told_run(&t, scratch_file("mirror"));
    table = told_view(&t, "scheduling");
    cr_assert_eq(scopes_table_rows(table), 1);
    cr_expect_eq(table_integer(table, 0, "runnable_ns"), 100 * COUNT);
    cr_expect_eq(table_integer(table, 0, "sleeping_ns"), 200 * COUNT);
    cr_expect_eq(table_integer(table, 0, "voluntary_switches"), COUNT);
    scopes_table_destroy(table);
    told_end(&t);
    paths_map_destroy(m);
}

/* --- parts --- */

#define NS 4000

/* What a thread was in, nanosecond by nanosecond: 0 on the processor, 1
 * runnable, 2 sleeping. */
static void make_truth(unsigned char *truth)
{
    unsigned char now = 0;

    for (size_t i = 0; i < NS; i++) {
        if (by_chance(9) == 0)
            now = (unsigned char)by_chance(3);
        truth[i] = now;
    }
}

static size_t make_offs(scopes_off *offs, const unsigned char *truth,
                        bool samples)
{
    size_t count = 0;

    for (size_t i = 0; i < NS;) {
        size_t end = i + 1;
        scopes_off off = {.start_ns = (int64_t)i};
        if (samples)
            end = i + 1 + by_chance(40);
        else
            while (end < NS && truth[end] == truth[i])
                end++;
        if (end > NS)
            end = NS;
        off.end_ns = (int64_t)end;
        for (; i < end; i++) {
            off.runnable_ns += truth[i] == 1;
            off.sleeping_ns += truth[i] == 2;
        }
        if (off.runnable_ns || off.sleeping_ns)
            offs[count++] = off;
    }
    return count;
}

Test(scheduling, of_a_part_no_more_is_said_than_was_and_all_that_is_certain)
{
    static unsigned char truth[NS];
    static scopes_off offs[NS];

    for (unsigned round = 0; round < 40; round++) {
        bool samples = round % 2;
        scopes_thread_life life = {.offs = offs};
        int64_t from = 0;
        size_t at = 0;
        make_truth(truth);
        life.off_count = make_offs(offs, truth, samples);
        while (from < NS - 100) {
            int64_t to = from + by_chance(100), runnable = 0, sleeping = 0;
            scopes_off_time one = scopes_off_between(&life, &at, from, to);
            scopes_off_time other = scopes_off_within(&life, from, to);
            for (int64_t i = from; i < to; i++) {
                runnable += truth[i] == 1;
                sleeping += truth[i] == 2;
            }
            cr_assert_eq(one.runnable_ns, other.runnable_ns);
            cr_assert_eq(one.sleeping_ns, other.sleeping_ns);
            cr_assert_leq(one.runnable_ns, runnable);
            cr_assert_leq(one.sleeping_ns, sleeping);
            if (!samples) {
                cr_assert_eq(one.runnable_ns, runnable);
                cr_assert_eq(one.sleeping_ns, sleeping);
            }
            from += by_chance(30);
        }
    }
}

/* --- the view communication, nanosecond by nanosecond --- */

#define OPERATIONS 30

/* One thread's operations, some of which overlap, and its end. */
static void make_operations(eventspace_trace *events)
{
    uint64_t at = 40;

    for (uint32_t i = 0; i < OPERATIONS; i++) {
        at += by_chance(90);
        events[i] = (eventspace_trace){.start = at,
                                       .end = at + 1 + by_chance(70),
                                       .sequence = i + 1,
                                       .operation = PASTSET_WRITE};
    }
}

Test(scheduling, communication_is_what_one_counts_by_the_nanosecond)
{
    static unsigned char truth[NS], busy[NS];
    static scopes_off offs[NS];

    for (unsigned round = 0; round < 100; round++) {
        eventspace_trace events[OPERATIONS];
        scopes_thread_life lives[2] = {
            {.is_known = true,
             .has_begun = true,
             .begin_ns = by_chance(40),
             .has_ended = true,
             .end_ns = NS - 1,
             .operations = OPERATIONS + (round % 3 == 2),
             .offs = offs}};
        scopes_scheduling scheduling = {.threads = lives, .thread_count = 2};
        int64_t counted[3] = {0}, end = NS - 1;
        scopes_table *table;
        told t;
        make_truth(truth);
        lives[0].off_count = make_offs(offs, truth, false);
        make_operations(events);
        memset(busy, 0, sizeof(busy));
        for (size_t i = 0; i < OPERATIONS; i++)
            memset(busy + events[i].start, 1, events[i].end - events[i].start);
        if (round % 3 == 2) /* its last operation is not there */
            for (end = NS; !busy[end - 1];)
                end--;
        for (int64_t i = lives[0].begin_ns; i < end; i++)
            counted[truth[i]] += !busy[i];
        told_made(&t, map, events, OPERATIONS);
        t.view_input.scheduling = &scheduling;
        table = told_view(&t, "communication");
        cr_assert_eq(table_integer(table, 0, "runnable_ns"), counted[1]);
        cr_assert_eq(table_integer(table, 0, "sleeping_ns"), counted[2]);
        cr_assert_eq(table_integer(table, 0, "computing_ns"),
                     counted[0] + counted[1] + counted[2]);
        scopes_table_destroy(table);
        told_end(&t);
    }
}
