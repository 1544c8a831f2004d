/* settle_test.c - files of spaces become as small as what is in them, and say
 * the same as before. */
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "support.h"

TestSuite(settle, .timeout = 120);

#define KEPT 1000u /* capacity of what fits and of what does not */

static pastset_element *stream(pastset_space *space, const char *name,
                               const char *text, pastset_policy policy,
                               uint64_t capacity, bool single_writer)
{
    pastset_type type = type_make(text);
    pastset_element_options options = {.name = name,
                                       .type = &type,
                                       .policy = policy,
                                       .capacity = capacity,
                                       .single_writer = single_writer,
                                       .on_demand = true};
    pastset_element *element;
    check_status(pastset_element_create(&element, space, &options), 0);
    return element;
}

static uint64_t size_of(const char *path)
{
    struct stat status;
    cr_assert_eq(stat(path, &status), 0);
    return (uint64_t)status.st_size;
}

static uint64_t on_disk(const char *path)
{
    struct stat status;
    cr_assert_eq(stat(path, &status), 0);
    return (uint64_t)status.st_blocks * 512;
}

/* Elements of every kind, with room for millions and some with holes. */
static void fill(const char *path)
{
    pastset_space_options large = {.path = path};
    pastset_space *space;
    pastset_element *e;

    check_status(pastset_space_create(&space, &large), 0);
    put_range(stream(space, "grow", "u64", PASTSET_GROW, 1u << 28, true), 0,
              5000);
    put_range(stream(space, "ring", "u64", PASTSET_DISCARD, KEPT, true), 0,
              10 * KEPT + 7);
    put_range(stream(space, "wide", "u64", PASTSET_DISCARD, 1u << 26, true), 0,
              3);
    stream(space, "empty", "u64", PASTSET_DISCARD, 1u << 26, true);
    put_range(stream(space, "gone", "u64", PASTSET_GROW, 1u << 20, false), 0,
              100000);
    check_status(pastset_element_delete(pastset_space_find(space, "gone")), 0);
    e = stream(space, "taken", "u64", PASTSET_BLOCK, 1u << 24, false);
    put_range(e, 0, 100);
    cr_assert_eq(take(e, 50), 50);
    pastset_element_truncate(e, 20);
    e = stream(space, "texts", "bytes[64]", PASTSET_BLOCK, 1u << 20, false);
    for (size_t i = 0; i < 40; i++)
        check_status(pastset_write(e,
                                   "0123456789012345678901234567890123456789",
                                   i, PASTSET_NOWAIT, NULL),
                     0);
    pastset_space_close(space);
}

static void check_range(pastset_space *space, const char *name, uint64_t from,
                        uint64_t to)
{
    pastset_element *e = pastset_space_find(space, name);
    pastset_ledger l;

    cr_assert_not_null(e, "%s", name);
    l = ledger_of(e);
    cr_expect_eq(l.written, to, "%s", name);
    cr_expect_eq(l.first, from, "%s", name);
    for (uint64_t i = from; i < to; i++)
        cr_assert_eq(get(e, i), (int64_t)i, "%s", name);
}

static void check_all(pastset_space *space)
{
    pastset_element *e;
    char text[64];

    check_status(pastset_space_refresh(space), 0);
    cr_expect_eq(pastset_space_count(space), 6);
    check_range(space, "grow", 0, 5000);
    check_range(space, "ring", 9 * KEPT + 7, 10 * KEPT + 7);
    check_range(space, "wide", 0, 3);
    check_range(space, "empty", 0, 0);
    cr_expect_null(pastset_space_find(space, "gone"));
    e = pastset_space_find(space, "taken");
    cr_expect_eq(ledger_of(e).consumed, 1);
    cr_expect_eq(ledger_of(e).truncated, 20);
    cr_expect_eq(get(e, 50), PASTSET_EEXPIRED);
    cr_expect_eq(get(e, 51), 51);
    e = pastset_space_find(space, "texts");
    for (size_t i = 0; i < 40; i++) {
        size_t bytes = sizeof(text);
        check_status(pastset_read(e, i, text, &bytes, PASTSET_NOWAIT), 0);
        cr_expect_eq(bytes, i);
        cr_expect_eq(
            memcmp(text, "0123456789012345678901234567890123456789", i), 0);
    }
}

Test(settle, a_file_has_no_holes_and_says_the_same)
{
    const char *path = space_path("settle");
    pastset_space *before, *after;
    uint64_t data = (5000 + KEPT + 1 + 3 + 100) * 8;

    fill(path);
    check_status(pastset_space_open(&before, path), 0);
    check_all(before);
    cr_assert_gt(size_of(path), 1u << 30);
    check_status(pastset_space_settle(path), 0);
    /* Headers and pages that are begun: a few for each of six elements. */
    cr_expect_leq(size_of(path), on_disk(path));
    cr_expect_lt(size_of(path), data + 40 * 65600 + 8 * 2 * 4096u);
    cr_expect_geq(size_of(path), data);
    check_status(pastset_space_open(&after, path), 0);
    check_all(after);
    check_all(before); /* whoever had it open keeps it */
    pastset_space_close(after);
    pastset_space_close(before);
    unlink(path);
}

Test(settle, twice_is_as_once)
{
    const char *path = space_path("twice");
    pastset_space *space;
    uint64_t once;

    fill(path);
    check_status(pastset_space_settle(path), 0);
    once = size_of(path);
    check_status(pastset_space_settle(path), 0);
    cr_expect_eq(size_of(path), once);
    check_status(pastset_space_open(&space, path), 0);
    check_all(space);
    pastset_space_close(space);
    unlink(path);
}

Test(settle, what_is_full_is_not_copied_and_its_end_is_cut)
{
    const char *path = space_path("cut");
    pastset_space *space = space_make(path);
    struct stat before, after;

    put_range(stream(space, "full", "u64", PASTSET_DISCARD, 1u << 20, true), 0,
              (1u << 20) + 5);
    put_range(stream(space, "end", "u64", PASTSET_GROW, 1u << 16, true), 0, 7);
    pastset_space_close(space);
    cr_assert_eq(stat(path, &before), 0);
    check_status(pastset_space_settle(path), 0);
    cr_assert_eq(stat(path, &after), 0);
    cr_expect_eq(after.st_ino, before.st_ino);
    cr_expect_lt(after.st_size, before.st_size - 60000);
    check_status(pastset_space_open(&space, path), 0);
    check_range(space, "full", 5, (1u << 20) + 5);
    check_range(space, "end", 0, 7);
    pastset_space_close(space);
    unlink(path);
}

Test(settle, a_space_without_elements)
{
    const char *path = space_path("none");
    pastset_space *space = space_make(path);

    pastset_space_close(space);
    check_status(pastset_space_settle(path), 0);
    cr_expect_eq(size_of(path), 8192);
    check_status(pastset_space_open(&space, path), 0);
    cr_expect_eq(pastset_space_count(space), 0);
    pastset_space_close(space);
    unlink(path);
}

/* What cannot be done leaves the file as it is, and nothing beside it. */
static void check_refused(const char *path, int status)
{
    char draft[160];
    uint64_t size = size_of(path);

    snprintf(draft, sizeof(draft), "%s" PASTSET_SETTLING, path);
    check_status(pastset_space_settle(path), status);
    check_error(path);
    cr_expect_eq(size_of(path), size);
    cr_expect_neq(access(draft, F_OK), 0);
}

Test(settle, without_room_for_the_copy_the_file_stays)
{
    const char *path = space_path("room");
    struct rlimit limit = {.rlim_cur = 20000, .rlim_max = 20000};
    pastset_space *space;

    fill(path);
    signal(SIGXFSZ, SIG_IGN);
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    check_refused(path, PASTSET_ENOSPC);
    check_status(pastset_space_open(&space, path), 0);
    check_all(space);
    pastset_space_close(space);
    unlink(path);
}

Test(settle, a_damaged_file_stays)
{
    const char *path = space_path("damaged");
    uint64_t nowhere = 1ull << 35;
    int fd;

    fill(path);
    fd = open(path, O_WRONLY | O_CLOEXEC);
    cr_assert_eq(pwrite(fd, &nowhere, 8, SPACE_PAGE + 8), 8);
    check_refused(path, PASTSET_EFORMAT);
    cr_assert_eq(ftruncate(fd, 1 << 20), 0); /* within the data of an element */
    cr_assert_eq(pwrite(fd, "nonsense", 8, 0), 8);
    check_refused(path, PASTSET_EFORMAT);
    close(fd);
    unlink(path);
}

Test(settle, a_file_that_ends_within_its_data_stays)
{
    const char *path = space_path("short");

    fill(path);
    cr_assert_eq(truncate(path, 540000), 0);
    cr_assert_lt(pastset_space_settle(path), 0);
    cr_expect_eq(size_of(path), 540000);
    unlink(path);
}

/* Less than a page is missing, which would be zeros when it is looked at. */
Test(settle, a_file_whose_last_tuples_are_cut_off_stays)
{
    const char *path = space_path("cut");
    uint64_t size;

    fill(path);
    check_status(pastset_space_settle(path), 0);
    size = size_of(path);
    cr_assert_eq(truncate(path, (off_t)size - 40), 0);
    check_refused(path, PASTSET_EFORMAT);
    unlink(path);
}

Test(settle, one_that_somebody_writes_stays)
{
    const char *path = space_path("written");
    pastset_space_options options = {.path = path};
    pastset_space *space;
    pid_t child;

    check_status(pastset_space_create(&space, &options), 0);
    check_refused(path, PASTSET_EAGAIN);
    /* So does one that a child of the writer has. */
    child = fork();
    if (child == 0) {
        pause();
        _exit(0);
    }
    pastset_space_close(space);
    check_refused(path, PASTSET_EAGAIN);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    check_status(pastset_space_settle(path), 0);
    unlink(path);
}

static void *settle_run(void *path)
{
    return (void *)(intptr_t)pastset_space_settle(path);
}

Test(settle, one_that_another_is_settling_is_waited_for)
{
    const char *path = space_path("locked");
    uint64_t size;
    pthread_t settler;
    void *status;
    int fd;

    fill(path);
    size = size_of(path);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    cr_assert_eq(flock(fd, LOCK_EX), 0);
    pthread_create(&settler, NULL, settle_run, (void *)(uintptr_t)path);
    sched_yield();
    cr_expect_eq(size_of(path), size);
    close(fd);
    pthread_join(settler, &status);
    cr_expect_null(status);
    cr_expect_lt(size_of(path), size);
    unlink(path);
}

Test(settle, through_links_and_with_its_rights)
{
    const char *path = space_path("rights");
    char link[160];
    struct stat status;

    fill(path);
    snprintf(link, sizeof(link), "%s.link", path);
    cr_assert_eq(symlink(path, link), 0);
    cr_assert_eq(chmod(path, 0640), 0);
    umask(077);
    if (getuid() == 0)
        cr_assert_eq(chown(path, 1234, 1235), 0);
    check_status(pastset_space_settle(link), 0);
    cr_assert_eq(lstat(link, &status), 0);
    cr_expect(S_ISLNK(status.st_mode));
    cr_assert_eq(stat(path, &status), 0);
    cr_expect_eq(status.st_mode & 07777, 0640);
    if (getuid() == 0)
        cr_expect(status.st_uid == 1234 && status.st_gid == 1235);
    cr_expect_lt(status.st_size, 2 << 20);
    unlink(link);
    unlink(path);
}

/* A count that is too small would make those behind it be lost for good. */
Test(settle, elements_that_are_not_counted_are_not_dropped)
{
    const char *path = space_path("uncounted");
    uint32_t few = 2;
    int fd;

    fill(path);
    fd = open(path, O_WRONLY | O_CLOEXEC);
    cr_assert_eq(pwrite(fd, &few, 4, offsetof(space_header, element_count)), 4);
    close(fd);
    check_refused(path, PASTSET_EFORMAT);
    unlink(path);
}
