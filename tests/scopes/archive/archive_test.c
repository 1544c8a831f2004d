/* archive_test.c - archives as files: what is written comes back, and is found
 * without reading everything. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "tests/scopes/archive/archive_file.h"
#include "scopes/archive/archive_internal.h"

TestSuite(archive, .init = scratch_make, .fini = scratch_remove,
          .timeout = 600);

/* --- columns --- */

static void check_round_trip(const eventspace_trace *events, size_t count)
{
    unsigned char *bytes = malloc(ARCHIVE_RAW_MAX);
    eventspace_trace *back = calloc(count + 1, sizeof(*back));
    size_t length = scopes__archive_encode(bytes, events, count);

    cr_assert_leq(length, (size_t)ARCHIVE_RAW_MAX);
    cr_assert(scopes__archive_decode(back, count, bytes, length));
    cr_assert_eq(memcmp(back, events, count * sizeof(*events)), 0);
    cr_assert_not(scopes__archive_decode(back, count, bytes, length - 1));
    if (count > 1)
        cr_assert_not(scopes__archive_decode(back, count + 1, bytes, length));
    free(bytes);
    free(back);
}

Test(archive, turns_any_tuples_into_columns_and_back)
{
    eventspace_trace *events = malloc(BLOCK * sizeof(*events));
    uint64_t seed = 7;

    for (int round = 0; round < 40; round++) {
        size_t count = round == 0   ? 1
                       : round == 1 ? BLOCK
                                    : mixed(++seed) % 900 + 1;
        unsigned char *bytes = (unsigned char *)events;
        for (size_t i = 0; i < count * sizeof(*events); i++)
            bytes[i] = round % 3 == 2 && mixed(seed) % 8
                           ? (unsigned char)(seed += 1, 0xFF)
                           : (unsigned char)mixed(++seed);
        check_round_trip(events, count);
    }
    free(events);
}

Test(archive, keeps_the_extremes_of_each_number)
{
    eventspace_trace events[3];

    memset(events, 0, sizeof(events));
    memset(&events[1], 0xFF, sizeof(events[1]));
    check_round_trip(events, 3);
    check_round_trip(events, 1);
    check_round_trip(events + 1, 2);
}

Test(archive, is_for_its_owner_only)
{
    struct stat info;
    mode_t before = umask(0);

    archive_write(1);
    umask(before);
    cr_assert_eq(stat(file(), &info), 0);
    cr_expect_eq(info.st_mode & 07777, 0600, "%o", info.st_mode);
}

Test(archive, takes_much_less_room_than_the_tuples)
{
    struct stat info;

    archive_write(4);
    cr_assert_eq(stat(file(), &info), 0);
    cr_assert_lt((uint64_t)info.st_size,
                 8ull * BLOCK * sizeof(eventspace_trace) / 4, "%lld bytes",
                 (long long)info.st_size);
}

/* --- writing and reading --- */

Test(archive, gives_back_what_was_appended_in_any_pieces)
{
    scopes_archive_writer *w = writer_open();
    scopes_archive *a;
    uint64_t index = 0, seed = 1;

    while (index < 5 * BLOCK) {
        size_t count = mixed(++seed) % 3 ? mixed(seed) % 400 + 1
                                         : mixed(seed) % (2 * BLOCK) + 1;
        append(w, "a", index, count, 1);
        index += count;
        cr_assert_eq(scopes_archive_next(w, "a"), index);
        if (mixed(seed) % 11 == 0)
            check_status(scopes_archive_flush(w), 0);
    }
    check_status(scopes_archive_writer_close(w), 0);
    a = archive_open();
    cr_assert_str_eq(scopes_archive_process(a), "h0");
    cr_assert_str_eq(scopes_archive_problem(a), "");
    cr_assert_eq(stream_check(a, "a", 1), index);
    cr_assert_eq(scopes_archive_stream_at(a, 0)->next, index);
    cr_assert_eq(scopes_archive_find(a, "b"), SIZE_MAX);
    scopes_archive_close(a);
}

Test(archive, counts_what_is_missing_between_tuples)
{
    scopes_archive_writer *w = writer_open();
    scopes_archive *a;
    const scopes_archive_stream *stream;

    append(w, "a", 100, 50, 1);
    append(w, "a", 1000, 10, 1);
    check_status(scopes_archive_end_stream(w, "a", 1500, 7), 0);
    check_status(scopes_archive_writer_close(w), 0);
    a = archive_open();
    stream = scopes_archive_stream_at(a, 0);
    cr_assert_str_eq(scopes_archive_problem(a), "");
    cr_assert_eq(stream_check(a, "a", 1), 60);
    cr_assert_eq(stream->next, 1010);
    cr_assert_eq(stream->written, 1500);
    cr_assert_eq(stream->refused, 7);
    scopes_archive_close(a);
}

Test(archive, says_of_each_block_what_is_in_it)
{
    scopes_archive_writer *w = writer_open();
    const scopes_archive_block *b;
    scopes_archive *a;

    append(w, "a", 30, 10, 5);
    append(w, "a", 40, 10, 9);
    check_status(scopes_archive_writer_close(w), 0);
    a = archive_open();
    cr_assert_eq(scopes_archive_blocks(a), 1);
    b = scopes_archive_block_at(a, 0);
    cr_assert_eq(b->index, 30);
    cr_assert_eq(b->count, 20);
    cr_assert_eq(b->from_thread, 5);
    cr_assert_eq(b->to_thread, 9);
    cr_assert_eq(b->from_collector, 0);
    cr_assert_eq(b->to_collector, 2);
    cr_assert_eq(b->to_ticks, event_at(49, 9).end);
    cr_assert_leq(b->from_ticks, event_at(30, 5).start);
    cr_assert_geq(b->from_ticks, event_at(30, 5).start - 700);
    scopes_archive_close(a);
}

Test(archive, refuses_a_tuple_that_is_there_already)
{
    scopes_archive_writer *w = writer_open();
    eventspace_trace event = event_at(9, 1);

    append(w, "a", 0, 10, 1);
    check_status(scopes_archive_append(w, "a", 9, &event, 1), PASTSET_EINVAL);
    check_status(scopes_archive_writer_close(w), 0);
}

Test(archive, is_continued_where_it_ended)
{
    scopes_archive_cost cost = {.processor_ns = 5, .pulls = 2, .elapsed_ns = 9};
    scopes_archive_writer *w = writer_open();
    scopes_archive *a;

    append(w, "a", 0, 1000, 1);
    scopes_archive_note(w, &cost);
    check_status(scopes_archive_writer_close(w), 0);
    w = writer_open();
    cr_assert_eq(scopes_archive_next(w, "a"), 1000);
    append(w, "a", 1000, 500, 1);
    scopes_archive_note(w, &cost);
    check_status(scopes_archive_writer_close(w), 0);
    a = archive_open();
    cr_assert_eq(stream_check(a, "a", 1), 1500);
    cr_assert_str_eq(scopes_archive_problem(a), "");
    cr_assert_eq(scopes_archive_costs(a).tuples, 1500);
    cr_assert_eq(scopes_archive_costs(a).processor_ns, 10);
    cr_assert_eq(scopes_archive_costs(a).pulls, 4);
    scopes_archive_close(a);
}

Test(archive, is_not_continued_for_another_process_or_by_two)
{
    scopes_archive_writer *w = writer_open(), *other;

    append(w, "a", 0, 10, 1);
    check_status(scopes_archive_writer_open(&other, file(), "h0"),
                 PASTSET_EEXIST);
    check_error("another archiver is writing");
    check_status(scopes_archive_writer_close(w), 0);
    check_status(scopes_archive_writer_open(&other, file(), "h1"),
                 PASTSET_EFORMAT);
    check_error("process h0");
    scratch_write("text.archive", "this is no archive");
    check_status(
        scopes_archive_writer_open(&other, scratch_file("text.archive"), "h0"),
        PASTSET_EFORMAT);
    check_error("not an archive");
}

Test(archive, is_read_while_it_is_written)
{
    scopes_archive_writer *w = writer_open();
    scopes_archive *a = archive_open();

    cr_assert_eq(scopes_archive_streams(a), 0);
    for (uint64_t i = 0; i < 3; i++) {
        append(w, "a", i * 100, 100, 1);
        check_status(scopes_archive_flush(w), 0);
        check_status(scopes_archive_refresh(a), 0);
        cr_assert_eq(stream_check(a, "a", 1), (i + 1) * 100);
        cr_assert_str_eq(scopes_archive_problem(a), "");
    }
    check_status(scopes_archive_writer_close(w), 0);
    scopes_archive_close(a);
}

/* --- indexes --- */

Test(archive, is_opened_by_its_indexes_without_going_to_each_block)
{
    scopes_archive *a;
    uint64_t taken;

    small_blocks_write(3000, 1);
    a = archive_open();
    taken = scopes_archive_read_bytes(a);
    cr_assert_str_eq(scopes_archive_problem(a), "");
    check_small_blocks(a, 3000);
    cr_assert_lt(taken, 6000 * ARCHIVE_BLOCK_BYTES / 2,
                 "it read %llu bytes to find its blocks",
                 (unsigned long long)taken);
    scopes_archive_close(a);
}

Test(archive, is_opened_by_indexes_of_several_writers)
{
    scopes_archive *a;

    small_blocks_write(400, 5);
    a = archive_open();
    cr_assert_str_eq(scopes_archive_problem(a), "");
    check_small_blocks(a, 2000);
    scopes_archive_close(a);
}

/* Every index is of no use, or one of them, or the end is gone. */

/* --- what a search costs --- */

/* 64 streams of a thread each, for three minutes, with a tuple a millisecond.
 * Ticks are microseconds. */
static void minutes_write(void)
{
    scopes_archive_writer *w = writer_open();

    for (uint64_t from = 0; from < 180000; from += 1000) {
        for (uint32_t thread = 0; thread < 64; thread++) {
            char name[16];
            snprintf(name, sizeof(name), "trace.%u", thread);
            append(w, name, from, 1000, thread);
        }
    }
    check_status(scopes_archive_writer_close(w), 0);
}

Test(archive, reads_a_hundredth_for_one_second_of_one_thread)
{
    const uint64_t from = 30000000, to = 31000000;
    eventspace_trace *out = malloc(BLOCK * sizeof(*out));
    uint64_t found = 0;
    struct stat info;
    scopes_archive *a;

    minutes_write();
    cr_assert_eq(stat(file(), &info), 0);
    a = archive_open();
    for (size_t i = 0; i < scopes_archive_blocks(a); i++) {
        const scopes_archive_block *b = scopes_archive_block_at(a, i);
        if (b->from_thread > 17 || b->to_thread < 17 || b->from_ticks > to ||
            b->to_ticks < from)
            continue;
        check_status(scopes_archive_read(a, i, out), 0);
        for (uint32_t j = 0; j < b->count; j++)
            found += out[j].end >= from && out[j].start <= to;
    }
    cr_assert_geq(found, 999);
    cr_assert_leq(found, 1002);
    cr_assert_lt(scopes_archive_read_bytes(a), (uint64_t)info.st_size / 100);
    scopes_archive_close(a);
    free(out);
}
