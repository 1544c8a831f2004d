/* archive_damage_test.c - archives of which a part is damaged, cut off, or did
 * not go to a full disk: the rest is read, and what is lost is told. */
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <zlib.h>

#include "tests/scopes/archive/archive_file.h"
#include "scopes/archive/archive_internal.h"

/* Whoever reads at this place of the file for the first time sees its end
 * there, as another writer has just begun; that one goes on at once. */
static off_t goes_on_at;
static scopes_archive_writer *goes_on;

ssize_t pread(int fd, void *out, size_t bytes, off_t offset)
{
    ssize_t got;

    if (!goes_on_at || offset != goes_on_at)
        return (ssize_t)syscall(SYS_pread64, fd, out, bytes, offset);
    goes_on_at = 0;
    goes_on = writer_open();
    got = (ssize_t)syscall(SYS_pread64, fd, out, bytes, offset);
    for (uint64_t i = 0; i < 3; i++) {
        append(goes_on, "b", 5 * i, 5, 2);
        check_status(scopes_archive_flush(goes_on), 0);
    }
    return got;
}

TestSuite(archive_damage, .init = scratch_make, .fini = scratch_remove,
          .timeout = 600);

Test(archive_damage, loses_one_block_when_its_head_is_damaged_and_says_which)
{
    scopes_archive *a;

    archive_write(4); /* a b a b a b a b */
    byte_flip(offset_of(2) + 30);
    a = archive_open();
    cr_assert_eq(stream_check(a, "a", 1), 3 * BLOCK);
    cr_assert_eq(stream_check(a, "b", 2), 4 * BLOCK);
    check_problem(a, "are damaged");
    check_problem(a, "lost by damage: 16384 tuples of stream a from 16384 to "
                     "32767");
    scopes_archive_close(a);
}

Test(archive_damage, loses_one_block_when_its_content_is_damaged_and_says_which)
{
    eventspace_trace *events = malloc(BLOCK * sizeof(*events));
    scopes_archive *a;

    archive_write(3);
    byte_flip(offset_of(3) + ARCHIVE_BLOCK_BYTES + 500);
    a = archive_open();
    cr_assert_str_eq(scopes_archive_problem(a), "");
    check_status(scopes_archive_read(a, 3, events), PASTSET_EFORMAT);
    check_error("16384 tuples of stream b from 16384 on are lost");
    check_problem(a, "16384 tuples of stream b from 16384 on are lost");
    cr_assert_eq(stream_check(a, "a", 1), 3 * BLOCK);
    cr_assert_eq(stream_check(a, "b", 2), 2 * BLOCK);
    scopes_archive_close(a);
    free(events);
}

Test(archive_damage, tells_damage_from_what_was_missed)
{
    scopes_archive_writer *w = writer_open();
    scopes_archive *a;

    append(w, "a", 0, 100, 1);
    append(w, "a", 200, 100, 1); /* 100 were missed */
    append(w, "a", 350, 100, 1); /* and 50 */
    check_status(scopes_archive_writer_close(w), 0);
    byte_flip(offset_of(1) + 50);
    a = archive_open();
    cr_assert_eq(stream_check(a, "a", 1), 200);
    check_problem(a, "lost by damage: 100 tuples of stream a from 100 to 349");
    scopes_archive_close(a);
}

Test(archive_damage, survives_a_flip_of_any_byte)
{
    scopes_archive_writer *w = writer_open();
    file_content all;

    for (uint64_t i = 0; i < 6; i++) {
        append(w, "a", i * 5, 5, 1);
        check_status(scopes_archive_flush(w), 0);
    }
    check_status(scopes_archive_end_stream(w, "a", 30, 2), 0);
    check_status(scopes_archive_writer_close(w), 0);
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
        cr_assert_geq(stream_check(a, "a", 1), 25, "byte %zu", i);
        cr_assert(*scopes_archive_problem(a), "byte %zu: no word of it", i);
        scopes_archive_close(a);
    }
    free(all.data);
}

Test(archive_damage, survives_being_cut_anywhere)
{
    scopes_archive_writer *w = writer_open();
    uint64_t ends[4];
    file_content all;

    for (uint64_t i = 0; i < 4; i++) {
        append(w, "a", i * 5, 5, 1);
        check_status(scopes_archive_flush(w), 0);
        all = file_bytes();
        ends[i] = all.count;
        free(all.data);
    }
    check_status(scopes_archive_writer_close(w), 0);
    all = file_bytes();
    for (size_t cut = 0; cut < all.count; cut++) {
        uint64_t whole = 0;
        scopes_archive *a;
        file_put(all.data, cut);
        for (int i = 0; i < 4; i++)
            whole += cut >= ends[i];
        a = archive_open();
        if (whole)
            cr_assert_eq(stream_check(a, "a", 1), whole * 5, "cut at %zu", cut);
        else
            cr_assert_eq(scopes_archive_blocks(a), 0);
        if (cut != ARCHIVE_HEAD_BYTES && (!whole || cut != ends[whole - 1]))
            cr_assert(*scopes_archive_problem(a), "cut at %zu", cut);
        scopes_archive_close(a);
    }
    free(all.data);
}

Test(archive_damage, knows_a_tail_of_zeros)
{
    scopes_archive *a;
    file_content all;

    archive_write(2);
    all = file_bytes();
    memset(all.data + all.count - ARCHIVE_BLOCK_BYTES - 700, 0, 700);
    file_put(all.data, all.count);
    free(all.data);
    a = archive_open(); /* the head of the last block is good */
    cr_assert_eq(stream_check(a, "a", 1), 2 * BLOCK);
    cr_assert_eq(stream_check(a, "b", 2), BLOCK);
    check_problem(a, "tuples of stream b from 16384 on are lost");
    scopes_archive_close(a);

    all = file_bytes();
    all.data = realloc(all.data, all.count + 100000);
    memset(all.data + all.count, 0, 100000);
    file_put(all.data, all.count + 100000);
    free(all.data);
    a = archive_open();
    check_problem(a, "100000 bytes that are zero");
    scopes_archive_close(a);
}

/* A computer went down, and the end of the file never came to the disk. */
Test(archive_damage, is_continued_over_a_damaged_tail)
{
    scopes_archive_writer *w;
    scopes_archive *a;
    file_content all;

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
    check_status(scopes_archive_writer_close(w), 0);
    a = archive_open();
    cr_assert_str_eq(scopes_archive_problem(a), "");
    cr_assert_eq(stream_check(a, "a", 1), 3 * BLOCK);
    cr_assert_eq(stream_check(a, "b", 2), 2 * BLOCK + 17);
    scopes_archive_close(a);
}

/* The next writer cuts off the tail when a reader has just seen how long the
 * file is, and goes on before the reader looks further. */
Test(archive_damage, is_not_seen_where_a_tail_is_written_over_meanwhile)
{
    file_content all;
    uint64_t cut;
    scopes_archive *a;

    archive_write(2);
    all = file_bytes();
    cut = offset_of(1);
    file_put(all.data, cut + 4000);
    goes_on_at = (off_t)cut;
    a = archive_open();
    cr_assert_not_null(goes_on, "the reader did not look there");
    check_status(scopes_archive_writer_close(goes_on), 0);
    check_status(scopes_archive_refresh(a), 0);
    cr_expect_str_eq(scopes_archive_problem(a), "");
    cr_expect_eq(stream_check(a, "a", 1), BLOCK);
    cr_expect_eq(stream_check(a, "b", 2), 15);
    scopes_archive_close(a);
    free(all.data);
}

Test(archive_damage, says_of_another_version_that_it_is_one)
{
    scopes_archive *a;
    file_content all;

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

Test(archive_damage, is_opened_without_its_head)
{
    scopes_archive *a;
    file_content all;

    archive_write(1);
    all = file_bytes();
    memset(all.data, 0, ARCHIVE_HEAD_BYTES);
    file_put(all.data, all.count);
    free(all.data);
    a = archive_open();
    check_problem(a, "its head is damaged");
    cr_assert_str_eq(scopes_archive_process(a), "");
    cr_assert_eq(stream_check(a, "a", 1), BLOCK);
    scopes_archive_close(a);
}

/* --- indexes --- */

/* Every index is of no use, or one of them, or the end is gone. */
Test(archive_damage, needs_no_index)
{
    static const unsigned char kind[4] = {4, 0, 0, 0};
    file_content all;
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
        scopes_archive_close(a);
    }
    cr_assert_eq(found, 5);
    free(all.data);
}

Test(archive_damage, finds_its_indexes_though_the_end_is_cut_off)
{
    scopes_archive *a;
    file_content all;

    small_blocks_write(3000, 1);
    all = file_bytes();
    file_put(all.data, all.count - 10000);
    free(all.data);
    a = archive_open();
    cr_assert_lt(scopes_archive_read_bytes(a),
                 2 * (1 << 20)); /* it had to look for a head */
    cr_assert_gt(scopes_archive_blocks(a), 5900);
    stream_check(a, "a", 1);
    stream_check(a, "b", 2);
    scopes_archive_close(a);
}

/* What an index tells of may be damaged meanwhile. */
Test(archive_damage, sees_damage_of_blocks_that_it_found_by_an_index)
{
    scopes_archive *a;
    uint64_t at;

    small_blocks_write(1500, 1);
    at = offset_of(100);
    byte_flip(at + ARCHIVE_BLOCK_BYTES + 20);
    a = archive_open();
    cr_assert_eq(stream_check(a, "a", 1), 7495);
    check_problem(a, "5 tuples of stream a from 250 on are lost");
    scopes_archive_close(a);
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
    if (scopes_archive_writer_open(&w, file(), "h0") ||
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
    if (scopes_archive_writer_close(w) != 0 &&
        !strstr(pastset_error(), "h0.archive"))
        return 5;
    free(events);
    return 0;
}

Test(archive_damage, keeps_whole_blocks_on_a_full_disk_and_goes_on_later)
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
    next = stream_check(a, "a", 1);
    cr_assert_gt(next, 0);
    cr_assert_eq(next, scopes_archive_stream_at(a, 0)->next);
    scopes_archive_close(a);

    w = writer_open();
    cr_assert_eq(scopes_archive_next(w, "a"), next);
    append(w, "a", next, 2 * BLOCK, 1);
    check_status(scopes_archive_writer_close(w), 0);
    a = archive_open();
    cr_assert_eq(stream_check(a, "a", 1), next + 2 * BLOCK);
    scopes_archive_close(a);
}

/* What follows a full disk: the tuples come again, in other pieces, and the
 * oldest of them are gone by then. */
static int on_disk_with_capacity_again(void)
{
    struct rlimit full = {400000, RLIM_INFINITY};
    struct rlimit capacity = {RLIM_INFINITY, RLIM_INFINITY};
    eventspace_trace *events = events_make(0, 40 * BLOCK, 1);
    scopes_archive_writer *w;
    uint64_t next;

    signal(SIGXFSZ, SIG_IGN);
    if (scopes_archive_writer_open(&w, file(), "h0") ||
        setrlimit(RLIMIT_FSIZE, &full))
        return 1;
    if (scopes_archive_append(w, "a", 0, events, 40 * BLOCK) != PASTSET_ENOSPC)
        return 2;
    next = scopes_archive_next(w, "a");
    if (next < 1000 || setrlimit(RLIMIT_FSIZE, &capacity))
        return 3;
    if (scopes_archive_append(w, "a", 100, events + 100, 50) != 0 ||
        scopes_archive_next(w, "a") != next)
        return 4;
    if (scopes_archive_append(w, "a", 150, events + 150, next + 350) != 0 ||
        scopes_archive_next(w, "a") != next + 500)
        return 5;
    /* After that, what is there is there. */
    if (scopes_archive_append(w, "a", 150, events + 150, 50) != PASTSET_EINVAL)
        return 6;
    if (scopes_archive_writer_close(w) != 0)
        return 7;
    free(events);
    return 0;
}

Test(archive_damage, goes_on_when_a_full_disk_has_room_with_what_is_left)
{
    scopes_archive *a;
    int status;
    pid_t pid = fork();

    if (pid == 0)
        _exit(on_disk_with_capacity_again());
    cr_assert_eq(waitpid(pid, &status, 0), pid);
    cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%d",
              WEXITSTATUS(status));
    a = archive_open();
    cr_assert_str_eq(scopes_archive_problem(a), "");
    cr_assert_eq(stream_check(a, "a", 1), scopes_archive_stream_at(a, 0)->next);
    cr_assert_eq(scopes_archive_stream_at(a, 0)->next % BLOCK, 500);
    scopes_archive_close(a);
}
