/* source_test.c - the same tuples, wherever they are: every walk is compared
 * with a list of what must come. */
#include "scopes/reading/source.h"

#include <unistd.h>

#include "scopes/archive/archive.h"
#include "scopes/reading/cursor.h"
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
    if (wanted->collectors && (e->collector >= wanted->collector_count ||
                               !wanted->collectors[e->collector]))
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
        wanted.collector_count = STREAM_COLLECTORS;
        check_walk(source, t, &wanted);
    }
    wanted = (scopes_filter){.collectors = masks[0], .collector_count = 1};
    check_walk(source, t, &wanted);
    for (size_t i = 0; i < sizeof(windows) / sizeof(*windows); i++) {
        uint64_t from[] = {windows[i][0], 0}, to[] = {windows[i][1], 0};
        wanted = (scopes_filter){.from_ticks = from, .to_ticks = to};
        check_walk(source, t, &wanted);
        wanted.threads = &one;
        check_walk(source, t, &wanted);
        wanted.threads = &some;
        check_walk(source, t, &wanted);
        wanted.collectors = masks[1];
        wanted.collector_count = STREAM_COLLECTORS;
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

Test(source, reads_spaces_that_do_not_say_how_long_tuples_take)
{
    there *t = nothing();
    pastset_space *space = stream_space("h0.space");
    pastset_element *stream =
        stream_make(space, "trace.t0", PASTSET_GROW, TUPLES);

    check_status(stream_write(stream, 0, TUPLES), 0);
    pastset_element_set_remark(stream, 0);
    t->written = TUPLES;
    there_is(t, 0, TUPLES);
    pastset_space_close(space);
    check_walks(t);
    free(t);
}

/* --- a window costs what is in it --- */

static int count_given(const scopes_batch *batch, void *context)
{
    *(uint64_t *)context += batch->count;
    return 0;
}

/* How many tuples of the window are given, and, of all, how many are not. */
static uint64_t given(uint64_t from_ticks, uint64_t to_ticks,
                      scopes_ledger *ledger)
{
    uint64_t from[] = {from_ticks, 0}, to[] = {to_ticks, 0}, count = 0;
    scopes_filter wanted = {.from_ticks = from, .to_ticks = to};
    eventspace_run *run = stream_run();
    scopes_source *source;

    *ledger = (scopes_ledger){0};
    check_status(scopes_source_open(&source, run), 0);
    check_status(
        scopes_source_each(source, H0, &wanted, count_given, &count, ledger),
        0);
    scopes_source_close(source);
    eventspace_run_close(run);
    return count;
}

/* Each tuple that is looked at is given, as it meets every window: so those
 * that are given are those that were read. None takes longer than 60 ticks, as
 * the stream says, but that is not true of those outside of the window. */
Test(source, reads_of_a_window_no_more_than_can_be_in_it)
{
    pastset_space *space = stream_space("h0.space");
    pastset_element *stream =
        stream_make(space, "trace.t0", PASTSET_GROW, TUPLES);
    scopes_ledger ledger;

    for (uint64_t i = 0; i < TUPLES; i++) {
        eventspace_trace event = {.end = 10000 + 10 * i, .operation = 1};
        check_status(
            pastset_write(stream, &event, sizeof(event), PASTSET_NOWAIT, NULL),
            0);
    }
    pastset_element_set_remark(stream, 61);
    pastset_space_close(space);
    /* Those that ended in it, and 60 ticks later at most. */
    cr_assert_eq(given(110000, 120000, &ledger), 1001 + 6);
    cr_assert_eq(ledger.filtered, TUPLES - 1007);
    cr_assert_eq(ledger.lost, 0);
    cr_assert_eq(given(0, 20000, &ledger), 1001 + 6);
    cr_assert_eq(given(0, 9000, &ledger), 0);
    cr_assert_eq(given(0, UINT64_MAX, &ledger), TUPLES);
    cr_assert_eq(given(UINT64_MAX, UINT64_MAX, &ledger), 0);
    cr_assert_eq(given(600000, UINT64_MAX - 60, &ledger), 1000);
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

/* --- cursors --- */

/* What a walk with a callback has given, batch by batch. */
typedef struct batches {
    scopes_batch items[400]; /* without their events */
    uint64_t sums[400];
    size_t count;
} batches;

static uint64_t sum_of(const scopes_batch *batch)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < batch->count; i++)
        sum = sum * 31 + batch->events[i].end + batch->events[i].sequence;
    return sum;
}

static int keep_batch(const scopes_batch *batch, void *context)
{
    batches *all = context;

    cr_assert_lt(all->count, 400);
    all->items[all->count] = *batch;
    all->sums[all->count++] = sum_of(batch);
    return 0;
}

/* The next batch of a cursor is number `at`. */
static void check_batch(scopes_cursor *cursor, const batches *all, size_t at)
{
    scopes_batch batch;

    check_status(scopes_cursor_next(cursor, &batch), 0);
    cr_assert_eq(batch.process, all->items[at].process);
    cr_assert_str_eq(batch.stream, all->items[at].stream);
    cr_assert_eq(batch.index, all->items[at].index);
    cr_assert_eq(batch.count, all->items[at].count);
    cr_assert_eq(sum_of(&batch), all->sums[at]);
}

static void check_cursor(scopes_source *source, const scopes_filter *filter)
{
    batches *all = calloc(1, sizeof(*all));
    scopes_ledger walked = {0}, given = {0};
    scopes_cursor *cursor, *other;
    scopes_batch batch;

    for (size_t i = 0; i < 2; i++)
        check_status(
            scopes_source_each(source, i, filter, keep_batch, all, &walked), 0);
    check_status(scopes_cursor_open(&cursor, source, filter), 0);
    check_status(scopes_cursor_open(&other, source, filter), 0);
    for (size_t i = 0; i < all->count; i++) {
        check_batch(cursor, all, i);
        if (i % 2 == 0) /* one of its own pace does not disturb it */
            check_batch(other, all, i / 2);
    }
    check_status(scopes_cursor_next(cursor, &batch), PASTSET_EAGAIN);
    check_status(scopes_cursor_next(cursor, &batch), PASTSET_EAGAIN);
    scopes_cursor_ledger(cursor, &given);
    cr_assert_eq(memcmp(&given, &walked, sizeof(given)), 0);
    scopes_cursor_close(other);
    scopes_cursor_close(cursor);
    free(all);
}

Test(source, gives_the_same_batches_to_cursors)
{
    uint64_t from[] = {200000, 0}, to[] = {300000, UINT64_MAX};
    bool collectors[STREAM_COLLECTORS] = {true};
    scopes_filter window = {.from_ticks = from, .to_ticks = to},
                  one = {.collectors = collectors,
                         .collector_count = STREAM_COLLECTORS};
    there *t = nothing();
    pastset_space *space = stream_space("h1.space");
    eventspace_run *run;
    scopes_source *source;

    check_status(
        stream_write(stream_make(space, "trace.h1", PASTSET_GROW, 9999), 0,
                     9000),
        0);
    discards_make(t, 25000);
    archive_make(t, 41234);
    run = stream_run();
    check_status(scopes_source_open(&source, run), 0);
    check_cursor(source, NULL);
    check_cursor(source, &window);
    check_cursor(source, &one);
    scopes_source_close(source);
    eventspace_run_close(run);
    pastset_space_close(space);
    free(t);
}
