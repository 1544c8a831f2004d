/* source_test.c - the same tuples, wherever they are: every walk is compared
 * with a list of what must come. */
#include "scopes/reading/source.h"

#include <unistd.h>

#include "scopes/archive/archive.h"
#include "tests/scopes/reading/stream_files.h"
#include "scopes/reading/reading_internal.h"

#define H0 0
#define TUPLES 60000

TestSuite(source, .timeout = 120, .init = streams_begin,
          .fini = scratch_remove);

/* --- what came --- */

typedef struct seen {
    unsigned char *times; /* by index: how often it was given */
    uint64_t count, next;
    size_t largest;
    pastset_element *grows; /* something is written to it during the walk */
    uint64_t grown;
    uint64_t stop_after;
} seen;

static int see(const scopes_batch *batch, void *context)
{
    seen *s = context;

    cr_assert_gt(batch->count, 0);
    cr_assert_eq(batch->index, batch->events[0].sequence);
    for (size_t i = 0; i < batch->count; i++) {
        uint64_t index = batch->events[i].sequence;
        eventspace_trace want = stream_tuple(index);
        cr_assert_eq(memcmp(&batch->events[i], &want, sizeof(want)), 0);
        cr_assert_lt(index, TUPLES);
        cr_assert_geq(index, s->next, "%lu comes after %lu",
                      (unsigned long)index, (unsigned long)s->next);
        s->next = index + 1;
        s->times[index]++;
    }
    s->count += batch->count;
    if (batch->count > s->largest)
        s->largest = batch->count;
    if (s->grows)
        check_status(stream_write(s->grows, s->grown, s->grown + 100), 0);
    s->grown += 100;
    return s->stop_after && s->count >= s->stop_after ? 77 : 0;
}

/* Which indexes there are, of what the stream has had. */
typedef struct there {
    uint64_t written, refused;
    bool is[TUPLES];
} there;

static void there_is(there *t, uint64_t from, uint64_t to)
{
    for (uint64_t i = from; i < to; i++)
        t->is[i] = true;
}

static bool must_come(const scopes_filter *wanted, const eventspace_trace *e)
{
    if (wanted->from_ticks && e->end < wanted->from_ticks[H0])
        return false;
    if (wanted->to_ticks && e->start > wanted->to_ticks[H0])
        return false;
    if (wanted->collectors && !wanted->collectors[e->collector])
        return false;
    return !wanted->threads ||
           paths_number_list_has(wanted->threads, e->thread);
}

static void check_walk(scopes_source *source, const there *t,
                       const scopes_filter *wanted)
{
    seen s = {.times = calloc(TUPLES, 1)};
    scopes_ledger ledger = {0};
    uint64_t some = 0, all = 0;

    check_status(scopes_source_each(source, H0, wanted, see, &s, &ledger), 0);
    for (uint64_t i = 0; i < TUPLES; i++) {
        eventspace_trace event = stream_tuple(i);
        bool want = t->is[i] && must_come(wanted, &event);
        cr_assert_eq(s.times[i], want, "tuple %lu came %d times",
                     (unsigned long)i, s.times[i]);
        some += want;
        all += t->is[i];
    }
    cr_assert_eq(ledger.recorded, t->written + t->refused);
    cr_assert_eq(ledger.read, some);
    cr_assert_eq(ledger.filtered, all - some);
    cr_assert_eq(ledger.lost, t->written + t->refused - all);
    cr_assert_leq(s.largest, SCOPES_ARCHIVE_BLOCK);
    free(s.times);
}

/* Everything, some collectors, one thread or several, and windows of many
 * kinds. */
static void check_walks(const there *t)
{
    static const uint64_t windows[][2] = {
        {0, 0},           {0, UINT64_MAX},   {10000, 10000},
        {10003, 10005},   {300000, 300000},  {200000, 250000},
        {109990, 110010}, {450000, 460001},  {500000, UINT64_MAX},
        {0, 123456},      {700000, 9000000}, {9000000, 1}};
    static const bool masks[][STREAM_COLLECTORS] = {
        {true, true, true}, {false, true, false}, {false, false, false}};
    paths_number_list one = {0}, some = {0};
    eventspace_run *run = stream_run();
    scopes_source *source;
    scopes_filter wanted = {0};

    check_status(paths_number_list_read(&one, "3"), 0);
    check_status(paths_number_list_read(&some, "0,4-5,90"), 0);
    check_status(scopes_source_open(&source, run), 0);
    cr_assert_eq(scopes_source_run(source), run);
    check_walk(source, t, &wanted);
    for (size_t i = 0; i < 3; i++) {
        wanted.collectors = masks[i];
        check_walk(source, t, &wanted);
    }
    for (size_t i = 0; i < sizeof(windows) / sizeof(*windows); i++) {
        uint64_t from[] = {windows[i][0], 0}, to[] = {windows[i][1], 0};
        wanted = (scopes_filter){.from_ticks = from, .to_ticks = to};
        check_walk(source, t, &wanted);
        wanted.threads = &one;
        check_walk(source, t, &wanted);
        wanted.threads = &some;
        check_walk(source, t, &wanted);
        wanted.collectors = masks[1];
        check_walk(source, t, &wanted);
    }
    paths_number_list_fini(&one);
    paths_number_list_fini(&some);
    scopes_source_close(source);
    eventspace_run_close(run);
}

/* --- where they are --- */

static there *nothing(void)
{
    return calloc(1, sizeof(there));
}

static void discards_make(there *t, uint64_t capacity)
{
    pastset_space *space = stream_space("h0.space");
    pastset_element *stream =
        stream_make(space, "trace.t0", PASTSET_DISCARD, capacity);

    check_status(stream_write(stream, 0, TUPLES), 0);
    t->written = TUPLES;
    there_is(t, TUPLES - capacity, TUPLES);
    pastset_space_close(space);
}

static scopes_archive_writer *archive_begin(void)
{
    scopes_archive_writer *writer;
    check_status(
        scopes_archive_writer_open(&writer, scratch_file("h0.archive"), "h0"),
        0);
    return writer;
}

static void archive_add(scopes_archive_writer *writer, const char *stream,
                        uint64_t from, uint64_t to)
{
    for (uint64_t i = from; i < to; i++) {
        eventspace_trace event = stream_tuple(i);
        check_status(scopes_archive_append(writer, stream, i, &event, 1), 0);
    }
}

/* From 0 to `to`, without those from 10000 to 12000. */
static void archive_make(there *t, uint64_t to)
{
    scopes_archive_writer *writer = archive_begin();

    archive_add(writer, "trace.t0", 0, 10000);
    archive_add(writer, "trace.t0", 12000, to);
    check_status(scopes_archive_writer_close(writer), 0);
    there_is(t, 0, 10000);
    there_is(t, 12000, to);
    t->written = t->written > to ? t->written : to;
}

Test(source, reads_spaces)
{
    there *t = nothing();
    discards_make(t, TUPLES);
    check_walks(t);
    free(t);
}

Test(source, counts_what_was_discarded)
{
    there *t = nothing();
    discards_make(t, 25000);
    check_walks(t);
    free(t);
}

Test(source, counts_what_was_refused)
{
    there *t = nothing();
    pastset_space *space = stream_space("h0.space");
    pastset_element *stream =
        stream_make(space, "trace.t0", PASTSET_GROW, 30000);

    check_status(stream_write(stream, 0, 30000), 0);
    for (uint32_t i = 0; i < 17; i++)
        check_status(stream_write(stream, 30000, 30001), PASTSET_EFULL);
    t->written = 30000;
    t->refused = 17;
    there_is(t, 0, 30000);
    pastset_space_close(space);
    check_walks(t);
    free(t);
}

Test(source, reads_what_was_drained)
{
    there *t = nothing();
    pastset_space *space = stream_space("h0.space");
    pastset_space *drained = stream_space("h0.drained");
    pastset_element *stream =
        stream_make(space, "trace.t0", PASTSET_BLOCK, 40000);

    check_status(stream_write(stream, 0, 40000), 0);
    check_status(
        stream_write(stream_make(drained, "trace.t0", PASTSET_GROW, 99999), 0,
                     25000),
        0);
    /* Of these, 2000 were lost by a drain that failed. */
    check_status(pastset_element_truncate(stream, 27000), 0);
    t->written = 40000;
    there_is(t, 0, 25000);
    there_is(t, 27000, 40000);
    pastset_space_close(drained);
    pastset_space_close(space);
    check_walks(t);
    free(t);
}

Test(source, joins_an_archive_with_what_is_still_there)
{
    there *t = nothing();
    discards_make(t, 25000); /* from 35000 on */
    archive_make(t, 41234);
    check_walks(t);
    free(t);
}

Test(source, counts_what_lies_between_archive_and_space)
{
    there *t = nothing();
    discards_make(t, 25000);
    archive_make(t, 33333);
    check_walks(t);
    free(t);
}

Test(source, takes_from_the_space_what_the_archive_lacks_in_its_middle)
{
    there *t = nothing();
    discards_make(t, 49000); /* from 11000 on */
    archive_make(t, 41234);
    check_walks(t);
    free(t);
}

Test(source, reads_archives_without_spaces)
{
    there *t = nothing();
    archive_make(t, 54321);
    check_walks(t);
    free(t);
}

Test(source, counts_the_losses_that_only_an_archive_tells)
{
    there *t = nothing();
    scopes_archive_writer *writer = archive_begin();

    archive_add(writer, "trace.t0", 0, 20000);
    check_status(scopes_archive_end_stream(writer, "trace.t0", 20100, 30), 0);
    check_status(scopes_archive_writer_close(writer), 0);
    t->written = 20100;
    t->refused = 30;
    there_is(t, 0, 20000);
    check_walks(t);
    free(t);
}

/* --- streams, processes, and ends --- */

static int note_stream(const scopes_batch *batch, void *context)
{
    char *text = context;
    snprintf(text + strlen(text), 200 - strlen(text), "%zu %s %lu+%zu; ",
             batch->process, batch->stream, (unsigned long)batch->index,
             batch->count);
    return 0;
}

Test(source, walks_lane_by_lane_also_those_that_only_the_archive_has)
{
    pastset_space *space = stream_space("h0.space");
    scopes_archive_writer *writer = archive_begin();
    eventspace_run *run;
    scopes_source *source;
    scopes_ledger ledger = {0};
    char text[200] = "";

    check_status(
        stream_write(stream_make(space, "trace.t1", PASTSET_GROW, 9), 0, 3), 0);
    check_status(
        stream_write(stream_make(space, "trace.t0", PASTSET_GROW, 9), 5, 7), 0);
    stream_make(space, "e", PASTSET_GROW, 9);
    archive_add(writer, "trace.t0~2", 0, 4);
    check_status(scopes_archive_writer_close(writer), 0);
    run = stream_run();
    check_status(scopes_source_open(&source, run), 0);
    check_status(
        scopes_source_each(source, H0, NULL, note_stream, text, &ledger), 0);
    cr_assert_str_eq(text, "0 trace.t1 0+3; 0 trace.t0 0+2; 0 trace.t0~2 0+4; ",
                     "%s", text);
    check_status(
        scopes_source_each(source, 1, NULL, note_stream, text, &ledger), 0);
    cr_assert_eq(ledger.recorded, 9);
    cr_assert_eq(ledger.read, 9);
    check_status(scopes_source_each(source, 2, NULL, note_stream, text, NULL),
                 PASTSET_EINVAL);
    scopes_source_close(source);
    eventspace_run_close(run);
    pastset_space_close(space);
}

Test(source, ends_a_walk_when_it_is_told_to)
{
    there *t = nothing();
    seen s = {.times = calloc(TUPLES, 1), .stop_after = 1};
    scopes_ledger ledger = {0};
    eventspace_run *run;
    scopes_source *source;

    discards_make(t, TUPLES);
    run = stream_run();
    check_status(scopes_source_open(&source, run), 0);
    cr_assert_eq(scopes_source_each(source, H0, NULL, see, &s, &ledger), 77);
    cr_assert_lt(s.count, TUPLES);
    cr_assert_eq(ledger.recorded, s.count);
    cr_assert_eq(ledger.read, s.count);
    scopes_source_close(source);
    eventspace_run_close(run);
    free(s.times);
    free(t);
}

/* --- runs that go on --- */

Test(source, leaves_what_comes_during_a_walk_for_the_next_one)
{
    pastset_space *space = stream_space("h0.space");
    pastset_element *stream =
        stream_make(space, "trace.t0", PASTSET_GROW, TUPLES);
    eventspace_run *run = stream_run();
    seen s = {.times = calloc(TUPLES, 1), .grows = stream, .grown = 20000};
    scopes_ledger ledger = {0};
    scopes_source *source;

    check_status(stream_write(stream, 0, 20000), 0);
    check_status(scopes_source_open(&source, run), 0);
    check_status(scopes_source_each(source, H0, NULL, see, &s, &ledger), 0);
    cr_assert_eq(s.count, 20000);
    cr_assert_eq(ledger.recorded, 20000);
    cr_assert_gt(s.grown, 20000);
    s.next = 0;
    s.grows = NULL;
    ledger.recorded = s.count = 0;
    check_status(scopes_source_each(source, H0, NULL, see, &s, &ledger), 0);
    cr_assert_gt(s.count, 20000);
    cr_assert_eq(ledger.recorded, s.count);
    scopes_source_close(source);
    eventspace_run_close(run);
    pastset_space_close(space);
    free(s.times);
}

/* An archive that goes on after the source has looked at it, while the stream
 * discards what was archived. */
Test(source, looks_at_the_archive_again_before_it_counts_a_loss)
{
    there *t = nothing();
    scopes_archive_writer *writer = archive_begin();
    eventspace_run *run;
    scopes_source *source;

    archive_add(writer, "trace.t0", 0, 5000);
    check_status(scopes_archive_flush(writer), 0);
    run = stream_run();
    check_status(scopes_source_open(&source, run), 0);
    archive_add(writer, "trace.t0", 5000, 52000);
    check_status(scopes_archive_flush(writer), 0);
    discards_make(t, 10000); /* from 50000 on */
    there_is(t, 0, 52000);
    check_walk(source, t, &(scopes_filter){0});
    scopes_source_close(source);
    eventspace_run_close(run);
    check_status(scopes_archive_writer_close(writer), 0);
    free(t);
}

Test(source, looks_at_it_again_for_a_window_behind_what_was_archived)
{
    there *t = nothing();
    scopes_archive_writer *writer = archive_begin();
    uint64_t from[] = {580000, 0}, to[] = {UINT64_MAX, UINT64_MAX};
    eventspace_run *run;
    scopes_source *source;

    archive_add(writer, "trace.t0", 0, 5000);
    check_status(scopes_archive_flush(writer), 0);
    run = stream_run();
    check_status(scopes_source_open(&source, run), 0);
    archive_add(writer, "trace.t0", 5000, 52000);
    check_status(scopes_archive_flush(writer), 0);
    discards_make(t, 10000); /* from 50000 on */
    there_is(t, 0, 52000);
    check_walk(source, t, &(scopes_filter){.from_ticks = from, .to_ticks = to});
    scopes_source_close(source);
    eventspace_run_close(run);
    check_status(scopes_archive_writer_close(writer), 0);
    free(t);
}

Test(source, takes_in_archives_and_spaces_that_come_later)
{
    there *t = nothing();
    eventspace_run *run = stream_run();
    scopes_source *source;

    check_status(scopes_source_open(&source, run), 0);
    check_walk(source, t, &(scopes_filter){0});
    discards_make(t, 20000);
    archive_make(t, 45000);
    check_status(scopes_source_refresh(source), 0);
    check_walk(source, t, &(scopes_filter){0});
    scopes_source_close(source);
    eventspace_run_close(run);
    free(t);
}

/* --- damage --- */

Test(source, takes_from_the_space_what_is_damaged_in_the_archive)
{
    there *t = nothing();
    eventspace_run *run;
    scopes_source *source;
    size_t bytes;
    char *file;
    FILE *out;

    discards_make(t, TUPLES);
    archive_make(t, 50000);
    file = file_read(scratch_file("h0.archive"), &bytes);
    file[bytes / 2] ^= 0x55;
    out = fopen(scratch_file("h0.archive"), "w");
    cr_assert_eq(fwrite(file, 1, bytes, out), bytes);
    fclose(out);
    free(file);
    run = stream_run();
    check_status(scopes_source_open(&source, run), 0);
    check_walk(source, t, &(scopes_filter){0});
    cr_assert_neq(eventspace_run_process_at(run, H0)->problem[0], 0);
    scopes_source_close(source);
    eventspace_run_close(run);
    free(t);
}

Test(source, reads_on_behind_what_a_cut_space_lacks)
{
    there *t = nothing();
    eventspace_run *run;
    scopes_source *source;
    size_t bytes;
    uint64_t lacks;
    seen s = {.times = calloc(TUPLES, 1)};
    scopes_ledger ledger = {0};

    /* Index 40001 is in the first slot again. */
    discards_make(t, 40000);
    free(file_read(scratch_file("h0.space"), &bytes));
    check_status(truncate(scratch_file("h0.space"), (off_t)bytes - 360000), 0);
    run = stream_run();
    check_status(scopes_source_open(&source, run), 0);
    check_status(scopes_source_each(source, H0, NULL, see, &s, &ledger), 0);
    lacks = 40000 - s.count;
    cr_assert(lacks >= 9000 && lacks <= 11000, "%lu", (unsigned long)lacks);
    cr_assert_eq(s.times[TUPLES - 1], 1);
    cr_assert_eq(ledger.recorded, TUPLES);
    cr_assert_eq(ledger.lost, TUPLES - s.count);
    check_says(eventspace_run_process_at(run, H0)->problem, "damaged");
    scopes_source_close(source);
    eventspace_run_close(run);
    free(s.times);
    free(t);
}
