/* archive_test.c - archives as files: what is written comes back, whatever
 * becomes of a part of them. */
#include "scopes/archive.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include "scopes/archive_internal.h"
#include "tests/support/check.h"
#include "tests/support/scratch.h"

#define BLOCK SCOPES_ARCHIVE_BLOCK

TestSuite(archive, .init = scratch_make, .fini = scratch_remove,
          .timeout = 240);

/* --- tuples that are known by their index --- */

static uint64_t mixed(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* As a collector would write them: ends grow, and so do sequences. */
static eventspace_trace event_at(uint64_t index, uint32_t thread)
{
    uint64_t r = mixed(index + 1);
    uint64_t end = 1000000 + 1000 * index + r % 500;
    return (eventspace_trace){.start = end - r % 700,
                              .end = end,
                              .collector = (uint32_t)(index % 3),
                              .thread = thread,
                              .sequence = (uint32_t)(index / 3 + 1),
                              .bytes = 8,
                              .operation = 1};
}

static eventspace_trace *events_make(uint64_t from, size_t count,
                                     uint32_t thread)
{
    eventspace_trace *events = malloc(count * sizeof(*events));
    cr_assert_not_null(events);
    for (size_t i = 0; i < count; i++)
        events[i] = event_at(from + i, thread);
    return events;
}

static void append(scopes_archive_writer *w, const char *lane, uint64_t from,
                   size_t count, uint32_t thread)
{
    eventspace_trace *events = events_make(from, count, thread);
    check_status(scopes_archive_append(w, lane, from, events, count), 0);
    free(events);
}

static const char *file(void)
{
    return scratch_file("h0.archive");
}

static scopes_archive_writer *writer_open(void)
{
    scopes_archive_writer *w;
    check_status(scopes_archive_create(&w, file(), "h0"), 0);
    return w;
}

static scopes_archive *archive_open(void)
{
    scopes_archive *a;
    check_status(scopes_archive_open(&a, file()), 0);
    return a;
}

/* An archive of the lanes "a" and "b" with so many tuples in each, in turns. */
static void archive_write(size_t blocks)
{
    scopes_archive_writer *w = writer_open();
    for (size_t i = 0; i < blocks; i++) {
        append(w, "a", i * BLOCK, BLOCK, 1);
        append(w, "b", i * BLOCK, BLOCK, 2);
    }
    check_status(scopes_archive_close(w), 0);
}

/* Reads a lane, and checks that each tuple is the one of its index. Gives how
 * many good ones there were. */
static uint64_t lane_check(scopes_archive *a, const char *name, uint32_t thread)
{
    static eventspace_trace events[BLOCK];
    size_t lane = scopes_archive_find(a, name), count;
    const uint32_t *blocks = scopes_archive_lane_blocks(a, lane, &count);
    uint64_t next = 0, sum = 0;

    for (size_t i = 0; i < count; i++) {
        const scopes_archive_block *b = scopes_archive_block_at(a, blocks[i]);
        int err = scopes_archive_read(a, blocks[i], events);
        cr_assert_geq(b->index, next);
        next = b->index + b->count;
        if (err == PASTSET_EFORMAT)
            continue;
        check_status(err, 0);
        for (uint32_t j = 0; j < b->count; j++) {
            eventspace_trace want = event_at(b->index + j, thread);
            cr_assert_eq(memcmp(&events[j], &want, sizeof(want)), 0,
                         "tuple %llu", (unsigned long long)b->index + j);
        }
        sum += b->count;
    }
    cr_assert_eq(sum, scopes_archive_lane_at(a, lane)->tuples);
    return sum;
}

/* --- columns --- */

static void check_round_trip(const eventspace_trace *events, size_t count)
{
    unsigned char *bytes = malloc(ARCHIVE_RAW_MOST);
    eventspace_trace *back = calloc(count + 1, sizeof(*back));
    size_t length = scopes__archive_encode(bytes, events, count);

    cr_assert_leq(length, (size_t)ARCHIVE_RAW_MOST);
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
    check_status(scopes_archive_close(w), 0);
    a = archive_open();
    cr_assert_str_eq(scopes_archive_host(a), "h0");
    cr_assert_str_eq(scopes_archive_problem(a), "");
    cr_assert_eq(lane_check(a, "a", 1), index);
    cr_assert_eq(scopes_archive_lane_at(a, 0)->next, index);
    cr_assert_eq(scopes_archive_find(a, "b"), SIZE_MAX);
    scopes_archive_free(a);
}

Test(archive, counts_what_is_missing_between_tuples)
{
    scopes_archive_writer *w = writer_open();
    scopes_archive *a;
    const scopes_archive_lane *lane;

    append(w, "a", 100, 50, 1);
    append(w, "a", 1000, 10, 1);
    check_status(scopes_archive_end_lane(w, "a", 1500, 7), 0);
    check_status(scopes_archive_close(w), 0);
    a = archive_open();
    lane = scopes_archive_lane_at(a, 0);
    cr_assert_str_eq(scopes_archive_problem(a), "");
    cr_assert_eq(lane_check(a, "a", 1), 60);
    cr_assert_eq(lane->next, 1010);
    cr_assert_eq(lane->written, 1500);
    cr_assert_eq(lane->refused, 7);
    scopes_archive_free(a);
}

Test(archive, says_of_each_block_what_is_in_it)
{
    scopes_archive_writer *w = writer_open();
    const scopes_archive_block *b;
    scopes_archive *a;

    append(w, "a", 30, 10, 5);
    append(w, "a", 40, 10, 9);
    check_status(scopes_archive_close(w), 0);
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
    scopes_archive_free(a);
}

Test(archive, refuses_a_tuple_that_is_there_already)
{
    scopes_archive_writer *w = writer_open();
    eventspace_trace event = event_at(9, 1);

    append(w, "a", 0, 10, 1);
    check_status(scopes_archive_append(w, "a", 9, &event, 1), PASTSET_EINVAL);
    check_status(scopes_archive_close(w), 0);
}

Test(archive, is_continued_where_it_ended)
{
    scopes_archive_cost cost = {.processor_ns = 5, .pulls = 2, .elapsed_ns = 9};
    scopes_archive_writer *w = writer_open();
    scopes_archive *a;

    append(w, "a", 0, 1000, 1);
    scopes_archive_note(w, &cost);
    check_status(scopes_archive_close(w), 0);
    w = writer_open();
    cr_assert_eq(scopes_archive_next(w, "a"), 1000);
    append(w, "a", 1000, 500, 1);
    scopes_archive_note(w, &cost);
    check_status(scopes_archive_close(w), 0);
    a = archive_open();
    cr_assert_eq(lane_check(a, "a", 1), 1500);
    cr_assert_str_eq(scopes_archive_problem(a), "");
    cr_assert_eq(scopes_archive_costs(a).tuples, 1500);
    cr_assert_eq(scopes_archive_costs(a).processor_ns, 10);
    cr_assert_eq(scopes_archive_costs(a).pulls, 4);
    scopes_archive_free(a);
}

Test(archive, is_not_continued_for_another_host_or_by_two)
{
    scopes_archive_writer *w = writer_open(), *other;

    append(w, "a", 0, 10, 1);
    check_status(scopes_archive_create(&other, file(), "h0"), PASTSET_EEXIST);
    check_error("somebody else is writing");
    check_status(scopes_archive_close(w), 0);
    check_status(scopes_archive_create(&other, file(), "h1"), PASTSET_EFORMAT);
    check_error("host h0");
    scratch_write("text.archive", "this is no archive");
    check_status(
        scopes_archive_create(&other, scratch_file("text.archive"), "h0"),
        PASTSET_EFORMAT);
    check_error("is no archive");
}

Test(archive, is_read_while_it_is_written)
{
    scopes_archive_writer *w = writer_open();
    scopes_archive *a = archive_open();

    cr_assert_eq(scopes_archive_lanes(a), 0);
    for (uint64_t i = 0; i < 3; i++) {
        append(w, "a", i * 100, 100, 1);
        check_status(scopes_archive_flush(w), 0);
        check_status(scopes_archive_refresh(a), 0);
        cr_assert_eq(lane_check(a, "a", 1), (i + 1) * 100);
        cr_assert_str_eq(scopes_archive_problem(a), "");
    }
    check_status(scopes_archive_close(w), 0);
    scopes_archive_free(a);
}

/* --- damage --- */

typedef struct bytes {
    unsigned char *data;
    size_t count;
} bytes;

static bytes file_bytes(void)
{
    bytes b;
    b.data = (unsigned char *)file_read(file(), &b.count);
    return b;
}

static void file_put(const unsigned char *data, size_t count)
{
    int fd = open(file(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
    cr_assert_geq(fd, 0);
    cr_assert_eq(write(fd, data, count), (ssize_t)count);
    close(fd);
}

/* Where the head of a block begins. */
static uint64_t offset_of(size_t block)
{
    scopes_archive *a = archive_open();
    uint64_t offset = scopes_archive_block_at(a, block)->offset;
    scopes_archive_free(a);
    return offset;
}

static void byte_flip(uint64_t offset)
{
    bytes b = file_bytes();
    b.data[offset] ^= 0x40;
    file_put(b.data, b.count);
    free(b.data);
}

static void check_problem(const scopes_archive *a, const char *part)
{
    check_says(scopes_archive_problem(a), part);
}

Test(archive, loses_one_block_when_its_head_is_damaged_and_says_which)
{
    scopes_archive *a;

    archive_write(4); /* a b a b a b a b */
    byte_flip(offset_of(2) + 30);
    a = archive_open();
    cr_assert_eq(lane_check(a, "a", 1), 3 * BLOCK);
    cr_assert_eq(lane_check(a, "b", 2), 4 * BLOCK);
    check_problem(a, "are damaged");
    check_problem(a, "lost by damage: 16384 tuples of lane a from 16384 to "
                     "32767");
    scopes_archive_free(a);
}

Test(archive, loses_one_block_when_its_content_is_damaged_and_says_which)
{
    eventspace_trace *events = malloc(BLOCK * sizeof(*events));
    scopes_archive *a;

    archive_write(3);
    byte_flip(offset_of(3) + ARCHIVE_BLOCK_BYTES + 500);
    a = archive_open();
    cr_assert_str_eq(scopes_archive_problem(a), "");
    check_status(scopes_archive_read(a, 3, events), PASTSET_EFORMAT);
    check_error("16384 tuples of lane b from 16384 on are lost");
    check_problem(a, "16384 tuples of lane b from 16384 on are lost");
    cr_assert_eq(lane_check(a, "a", 1), 3 * BLOCK);
    cr_assert_eq(lane_check(a, "b", 2), 2 * BLOCK);
    scopes_archive_free(a);
    free(events);
}

Test(archive, tells_damage_from_what_was_missed)
{
    scopes_archive_writer *w = writer_open();
    scopes_archive *a;

    append(w, "a", 0, 100, 1);
    append(w, "a", 200, 100, 1); /* 100 were missed */
    append(w, "a", 350, 100, 1); /* and 50 */
    check_status(scopes_archive_close(w), 0);
    byte_flip(offset_of(1) + 50);
    a = archive_open();
    cr_assert_eq(lane_check(a, "a", 1), 200);
    check_problem(a, "lost by damage: 100 tuples of lane a from 100 to 349");
    scopes_archive_free(a);
}

Test(archive, survives_a_flip_of_any_byte)
{
    scopes_archive_writer *w = writer_open();
    bytes all;

    for (uint64_t i = 0; i < 6; i++) {
        append(w, "a", i * 5, 5, 1);
        check_status(scopes_archive_flush(w), 0);
    }
    check_status(scopes_archive_end_lane(w, "a", 30, 2), 0);
    check_status(scopes_archive_close(w), 0);
    all = file_bytes();
    for (size_t i = 0; i < all.count; i++) {
        scopes_archive *a;
        all.data[i] ^= (unsigned char)(1u << i % 8);
        file_put(all.data, all.count);
        all.data[i] ^= (unsigned char)(1u << i % 8);
        if (scopes_archive_open(&a, file())) {
            /* Another version or byte order: within the file's head. */
            cr_assert_lt(i, 24, "byte %zu: %s", i, pastset_error());
            continue;
        }
        cr_assert_geq(lane_check(a, "a", 1), 25, "byte %zu", i);
        cr_assert(*scopes_archive_problem(a), "byte %zu: no word of it", i);
        scopes_archive_free(a);
    }
    free(all.data);
}

Test(archive, survives_being_cut_anywhere)
{
    scopes_archive_writer *w = writer_open();
    uint64_t ends[4];
    bytes all;

    for (uint64_t i = 0; i < 4; i++) {
        append(w, "a", i * 5, 5, 1);
        check_status(scopes_archive_flush(w), 0);
        all = file_bytes();
        ends[i] = all.count;
        free(all.data);
    }
    check_status(scopes_archive_close(w), 0);
    all = file_bytes();
    for (size_t cut = 0; cut < all.count; cut++) {
        uint64_t whole = 0;
        scopes_archive *a;
        file_put(all.data, cut);
        for (int i = 0; i < 4; i++)
            whole += cut >= ends[i];
        a = archive_open();
        if (whole)
            cr_assert_eq(lane_check(a, "a", 1), whole * 5, "cut at %zu", cut);
        else
            cr_assert_eq(scopes_archive_blocks(a), 0);
        if (cut != ARCHIVE_HEAD_BYTES && (!whole || cut != ends[whole - 1]))
            cr_assert(*scopes_archive_problem(a), "cut at %zu", cut);
        scopes_archive_free(a);
    }
    free(all.data);
}

Test(archive, knows_a_tail_of_zeros)
{
    scopes_archive *a;
    bytes all;

    archive_write(2);
    all = file_bytes();
    memset(all.data + all.count - ARCHIVE_BLOCK_BYTES - 700, 0, 700);
    file_put(all.data, all.count);
    free(all.data);
    a = archive_open(); /* the head of the last block is good */
    cr_assert_eq(lane_check(a, "a", 1), 2 * BLOCK);
    cr_assert_eq(lane_check(a, "b", 2), BLOCK);
    check_problem(a, "tuples of lane b from 16384 on are lost");
    scopes_archive_free(a);

    all = file_bytes();
    all.data = realloc(all.data, all.count + 100000);
    memset(all.data + all.count, 0, 100000);
    file_put(all.data, all.count + 100000);
    free(all.data);
    a = archive_open();
    check_problem(a, "100000 bytes that are zero");
    scopes_archive_free(a);
}

/* A computer went down, and the end of the file never came to the disk. */
Test(archive, is_continued_over_a_damaged_tail)
{
    scopes_archive_writer *w;
    scopes_archive *a;
    bytes all;

    archive_write(3);
    all = file_bytes();
    memset(all.data + offset_of(4) + ARCHIVE_BLOCK_BYTES, 0, 100);
    memset(all.data + all.count - 300, 0, 300);
    file_put(all.data, all.count);
    free(all.data);
    w = writer_open();
    cr_assert_eq(scopes_archive_next(w, "a"), 2 * BLOCK);
    cr_assert_eq(scopes_archive_next(w, "b"), 2 * BLOCK);
    append(w, "a", 2 * BLOCK, BLOCK, 1);
    append(w, "b", 2 * BLOCK, 17, 2);
    check_status(scopes_archive_close(w), 0);
    a = archive_open();
    cr_assert_str_eq(scopes_archive_problem(a), "");
    cr_assert_eq(lane_check(a, "a", 1), 3 * BLOCK);
    cr_assert_eq(lane_check(a, "b", 2), 2 * BLOCK + 17);
    scopes_archive_free(a);
}

Test(archive, says_of_another_version_that_it_is_one)
{
    scopes_archive *a;
    bytes all;

    archive_write(1);
    all = file_bytes();
    all.data[12] = 7;
    memset(all.data + 20, 0, 4);
    {
        uint32_t sum = (uint32_t)crc32(0, all.data, ARCHIVE_HEAD_BYTES);
        memcpy(all.data + 20, &sum, 4);
    }
    file_put(all.data, all.count);
    free(all.data);
    check_status(scopes_archive_open(&a, file()), PASTSET_EFORMAT);
    check_error("version 7");
}

Test(archive, is_opened_without_its_head)
{
    scopes_archive *a;
    bytes all;

    archive_write(1);
    all = file_bytes();
    memset(all.data, 0, ARCHIVE_HEAD_BYTES);
    file_put(all.data, all.count);
    free(all.data);
    a = archive_open();
    check_problem(a, "its head is damaged");
    cr_assert_str_eq(scopes_archive_host(a), "");
    cr_assert_eq(lane_check(a, "a", 1), BLOCK);
    scopes_archive_free(a);
}

/* --- a full disk --- */

/* A limit of the size of files is what a test can have of it. In a process of
 * its own, for whom the limit is. */
static int on_full_disk(void)
{
    struct rlimit limit = {400000, 400000};
    scopes_archive_writer *w;
    eventspace_trace *events = events_make(0, 40 * BLOCK, 1);
    struct stat info;
    uint64_t next;

    signal(SIGXFSZ, SIG_IGN);
    if (scopes_archive_create(&w, file(), "h0") ||
        setrlimit(RLIMIT_FSIZE, &limit))
        return 1;
    if (scopes_archive_append(w, "a", 0, events, 40 * BLOCK) != PASTSET_ENOSPC)
        return 2;
    /* The same call again: it fails in the same way, and takes nothing twice */
    next = scopes_archive_next(w, "a");
    if (scopes_archive_append(w, "a", 0, events, 40 * BLOCK) !=
            PASTSET_ENOSPC ||
        scopes_archive_next(w, "a") != next)
        return 3;
    if (stat(file(), &info) || info.st_size > 400000)
        return 4;
    if (scopes_archive_close(w) != 0 && !strstr(pastset_error(), "h0.archive"))
        return 5;
    free(events);
    return 0;
}

Test(archive, keeps_whole_blocks_on_a_full_disk_and_goes_on_later)
{
    scopes_archive_writer *w;
    scopes_archive *a;
    uint64_t next;
    int status;
    pid_t pid = fork();

    if (pid == 0)
        _exit(on_full_disk());
    cr_assert_eq(waitpid(pid, &status, 0), pid);
    cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%d", status);
    a = archive_open();
    cr_assert_str_eq(scopes_archive_problem(a), "");
    next = lane_check(a, "a", 1);
    cr_assert_gt(next, 0);
    cr_assert_eq(next, scopes_archive_lane_at(a, 0)->next);
    scopes_archive_free(a);

    w = writer_open();
    cr_assert_eq(scopes_archive_next(w, "a"), next);
    append(w, "a", next, 2 * BLOCK, 1);
    check_status(scopes_archive_close(w), 0);
    a = archive_open();
    cr_assert_eq(lane_check(a, "a", 1), next + 2 * BLOCK);
    scopes_archive_free(a);
}

/* --- indexes --- */

/* Blocks of five tuples, of lanes in turns, by several writers. */
static void small_blocks_write(uint64_t blocks, int writers)
{
    uint64_t index = 0;

    for (int i = 0; i < writers; i++) {
        scopes_archive_writer *w = writer_open();
        for (uint64_t k = 0; k < blocks; k++, index += 5) {
            append(w, "a", index, 5, 1);
            append(w, "b", index, 5, 2);
            check_status(scopes_archive_flush(w), 0);
        }
        check_status(scopes_archive_close(w), 0);
    }
}

static void check_small_blocks(scopes_archive *a, uint64_t blocks)
{
    cr_assert_eq(scopes_archive_blocks(a), 2 * blocks);
    cr_assert_eq(lane_check(a, "a", 1), 5 * blocks);
    cr_assert_eq(lane_check(a, "b", 2), 5 * blocks);
}

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
    scopes_archive_free(a);
}

Test(archive, is_opened_by_indexes_of_several_writers)
{
    scopes_archive *a;

    small_blocks_write(400, 5);
    a = archive_open();
    cr_assert_str_eq(scopes_archive_problem(a), "");
    check_small_blocks(a, 2000);
    scopes_archive_free(a);
}

/* Every index is of no use, or one of them, or the end is gone. */
Test(archive, needs_no_index)
{
    static const unsigned char kind[4] = {4, 0, 0, 0};
    bytes all;
    unsigned found = 0;

    small_blocks_write(1500, 1);
    all = file_bytes();
    for (size_t i = ARCHIVE_HEAD_BYTES; i + ARCHIVE_BLOCK_BYTES < all.count;
         i++) {
        scopes_archive *a;
        if (memcmp(all.data + i,
                   "\xE5"
                   "block\r\n",
                   8) != 0 ||
            memcmp(all.data + i + 12, kind, 4) != 0)
            continue;
        found++;
        all.data[i + (found % 2 ? 60 : ARCHIVE_BLOCK_BYTES + 9)] ^= 4;
        file_put(all.data, all.count);
        a = archive_open();
        check_small_blocks(a, 1500);
        scopes_archive_free(a);
    }
    cr_assert_eq(found, 5);
    free(all.data);
}

Test(archive, finds_its_indexes_though_the_end_is_cut_off)
{
    scopes_archive *a;
    bytes all;

    small_blocks_write(3000, 1);
    all = file_bytes();
    file_put(all.data, all.count - 10000);
    free(all.data);
    a = archive_open();
    cr_assert_lt(scopes_archive_read_bytes(a),
                 2 * (1 << 20)); /* it had to look for a head */
    cr_assert_gt(scopes_archive_blocks(a), 5900);
    lane_check(a, "a", 1);
    lane_check(a, "b", 2);
    scopes_archive_free(a);
}

/* What an index tells of may be damaged meanwhile. */
Test(archive, sees_damage_of_blocks_that_it_found_by_an_index)
{
    scopes_archive *a;
    uint64_t at;

    small_blocks_write(1500, 1);
    at = offset_of(100);
    byte_flip(at + ARCHIVE_BLOCK_BYTES + 20);
    a = archive_open();
    cr_assert_eq(lane_check(a, "a", 1), 7495);
    check_problem(a, "5 tuples of lane a from 250 on are lost");
    scopes_archive_free(a);
}

/* --- what a search costs --- */

/* 64 lanes of a thread each, for three minutes, with a tuple a millisecond.
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
    check_status(scopes_archive_close(w), 0);
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
    scopes_archive_free(a);
    free(out);
}
