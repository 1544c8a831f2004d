/* demand_test.c - elements that take their memory as they fill; who waits in
 * them; and what another process has saved of them. */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "pastset/space_internal.h"
#include "support.h"
#include "tests/support/scratch.h"

TestSuite(demand, .timeout = 120);

#define CAPACITY 200000u /* tuples of 8 bytes: more than it takes at once */

static pastset_element *on_demand(pastset_space *space, pastset_policy policy,
                                  bool single_writer)
{
    pastset_type type = type_make("u64");
    pastset_element_options options = {.name = "e",
                                       .type = &type,
                                       .policy = policy,
                                       .capacity = CAPACITY,
                                       .single_writer = single_writer,
                                       .on_demand = true};
    pastset_element *element;

    check_status(pastset_element_create(&element, space, &options), 0);
    return element;
}

static uint64_t disk_of(const char *path)
{
    struct stat status;

    cr_assert_eq(stat(path, &status), 0);
    return (uint64_t)status.st_blocks * 512;
}

static void check_range(pastset_element *element, uint64_t first, uint64_t last)
{
    for (uint64_t i = first; i < last; i += 997) {
        uint64_t value = 0;
        size_t bytes = sizeof(value);
        check_status(pastset_read(element, i, &value, &bytes, PASTSET_NOWAIT),
                     0);
        cr_assert_eq(value, i);
    }
}

/* Either way of writing: the one writer's fast way, or with the lock. */
static void keep_the_newest(bool single_writer)
{
    const char *path = space_path("demand");
    pastset_space *space = space_make(path);
    uint64_t before = disk_of(path), some;
    pastset_element *e = on_demand(space, PASTSET_DISCARD, single_writer);
    pastset_ledger ledger;

    cr_expect_lt(disk_of(path) - before, CAPACITY * 8ull / 8);
    for (uint64_t i = 0; i < CAPACITY / 4; i++)
        cr_assert_eq(put(e, i), 0);
    some = disk_of(path) - before;
    cr_expect_geq(some, CAPACITY / 4 * 8ull);
    cr_expect_lt(some, CAPACITY * 8ull);
    for (uint64_t i = CAPACITY / 4; i < 3 * CAPACITY; i++)
        cr_assert_eq(put(e, i), 0);
    pastset_element_ledger(e, &ledger);
    cr_expect_eq(ledger.written, 3 * CAPACITY);
    cr_expect_eq(ledger.present, CAPACITY);
    cr_expect_eq(ledger.dropped, 2 * CAPACITY);
    cr_expect_eq(ledger.refused, 0);
    check_range(e, 2 * CAPACITY, 3 * CAPACITY);
    pastset_space_close(space);
    unlink(path);
}

/* Pages of a file that are in memory. */
static size_t resident_pages(const char *path)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), count = 0, pages;
    struct stat status;
    unsigned char *in_memory;
    int fd = open(path, O_RDONLY);
    void *at;

    cr_assert_geq(fd, 0);
    cr_assert_eq(fstat(fd, &status), 0);
    pages = ((size_t)status.st_size + page - 1) / page;
    at = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_SHARED, fd, 0);
    cr_assert_neq(at, MAP_FAILED);
    in_memory = calloc(pages, 1);
    cr_assert(in_memory);
    cr_assert_eq(mincore(at, (size_t)status.st_size, in_memory), 0);
    for (size_t i = 0; i < pages; i++)
        count += in_memory[i] & 1;
    free(in_memory);
    munmap(at, (size_t)status.st_size);
    close(fd);
    return count;
}

/* Of a disk that is read ahead for 8 MiB, zeros of all that would come with the
 * first tuple of a page that was not touched before, and milliseconds pass. */
Test(demand, a_store_brings_no_more_pages_than_its_own, .init = scratch_make,
     .fini = scratch_remove)
{
    const char *path = scratch_file("around");
    pastset_space *space = space_make(path);
    pastset_type type = type_make("u64");
    pastset_element_options behind = {
        .name = "behind", .type = &type, .capacity = CAPACITY};
    size_t before = resident_pages(path);
    pastset_element *e = on_demand(space, PASTSET_GROW, true), *more;

    check_status(pastset_element_create(&more, space, &behind), 0);
    for (uint64_t i = 0; i < 600; i++)
        cr_assert_eq(put(e, i), 0);
    cr_expect_leq(resident_pages(path) - before, 12);
    pastset_space_close(space);
}

/* Tuples that lie across pages, blocks and what was reserved at once, in a file
 * that another one looks at. */
static void cross(const char *type_text, uint64_t count, bool first_block)
{
    const char *path = scratch_file("blocks");
    pastset_space *space = space_make(path), *seen;
    pastset_type type = type_make(type_text);
    pastset_element_options options = {.name = "e",
                                       .type = &type,
                                       .policy = PASTSET_GROW,
                                       .capacity = count,
                                       .single_writer = true,
                                       .first_block = first_block};
    uint64_t words = type.max_bytes / 4;
    uint32_t *tuple = calloc(words, 4);
    pastset_element *e, *other;

    check_status(pastset_element_create(&e, space, &options), 0);
    for (uint64_t i = 0; i < count; i++) {
        for (uint64_t k = 0; k < words; k++)
            tuple[k] = (uint32_t)(i * 2654435761u + k);
        check_status(
            pastset_write(e, tuple, type.max_bytes, PASTSET_NOWAIT, NULL), 0);
    }
    check_status(pastset_write(e, tuple, type.max_bytes, PASTSET_NOWAIT, NULL),
                 PASTSET_EFULL);
    check_status(pastset_space_open(&seen, path), 0);
    other = pastset_space_find(seen, "e");
    cr_assert_not_null(other);
    for (uint64_t i = 0; i < count; i++) {
        size_t bytes = type.max_bytes;
        bool is_right = true;
        check_status(pastset_read(other, i, tuple, &bytes, PASTSET_NOWAIT), 0);
        for (uint64_t k = 0; k < words; k++)
            is_right &= tuple[k] == (uint32_t)(i * 2654435761u + k);
        cr_assert(is_right, "tuple %llu", (unsigned long long)i);
    }
    free(tuple);
    pastset_space_close(seen);
    pastset_space_close(space);
    unlink(path);
}

Test(demand, tuples_lie_across_blocks, .init = scratch_make,
     .fini = scratch_remove, .timeout = 120)
{
    cross("u32[9]", (12u << 20) / 36, false);
    cross("u32[175003]", 20, false); /* 700,012 bytes each */
    cross("u32[1000003]", 4, false);
}

/* The data begins with a block; the last one may be a part of one. */
Test(demand, tuples_lie_across_blocks_from_the_first_one_on,
     .init = scratch_make, .fini = scratch_remove, .timeout = 120)
{
    cross("u32[9]", (17u << 20) / 36, true);
    cross("u32[175003]", 25, true);
    cross("u32[1000003]", 5, true); /* a tuple is larger than a block */
    cross("u32[9]", 1000, true);    /* too small for one */
}

#define LARGE ((18u << 20) / 8) /* tuples */

static pastset_element *large_make(pastset_space *space, const char *name,
                                   pastset_policy policy)
{
    pastset_type type = type_make("u64");
    pastset_element_options options = {.name = name,
                                       .type = &type,
                                       .policy = policy,
                                       .capacity = LARGE,
                                       .single_writer = true,
                                       .on_demand = true,
                                       .first_block = true};
    pastset_element *element;

    check_status(pastset_element_create(&element, space, &options), 0);
    return element;
}

/* Neighbours of one that takes whole blocks, which goes round several times
 * while another one reads. */
Test(demand, blocks_leave_neighbours_alone, .init = scratch_make,
     .fini = scratch_remove, .timeout = 120)
{
    const char *path = scratch_file("neighbours");
    pastset_space *space = space_make(path), *seen;
    pastset_element *before =
        element_make(space, "before", "u64", PASTSET_BLOCK, 100, false);
    pastset_element *e = large_make(space, "e", PASTSET_DISCARD), *other;
    pastset_element *after =
        element_make(space, "after", "u64", PASTSET_BLOCK, 100, false);

    check_status(pastset_space_open(&seen, path), 0);
    other = pastset_space_find(seen, "e");
    cr_assert_not_null(other);
    for (uint64_t i = 0; i < 5u * LARGE / 2; i++) {
        cr_assert_eq(put(e, i), 0);
        if (i % (LARGE / 40) == 0) {
            uint64_t value = 0;
            size_t bytes = sizeof(value);
            check_status(pastset_read(other, i, &value, &bytes, PASTSET_NOWAIT),
                         0);
            cr_assert_eq(value, i);
        }
        if (i % (LARGE / 40) == 1 && i < 2u * LARGE) {
            cr_assert_eq(put(before, i / (LARGE / 40)), 0);
            cr_assert_eq(put(after, i / (LARGE / 40)), 0);
        }
    }
    check_range(other, 3u * LARGE / 2, 5u * LARGE / 2);
    for (uint64_t i = 0; i < 80; i++) {
        check_range(before, i, i + 1);
        check_range(after, i, i + 1);
    }
    pastset_space_close(seen);
    pastset_space_close(space);
}

/* No disk for a block: the element is there without. */
Test(demand, without_a_first_block_on_a_full_disk, .init = scratch_make,
     .fini = scratch_remove)
{
    const char *path = scratch_file("no_block");
    pastset_space *space = space_make(path);
    pastset_element *other = on_demand(space, PASTSET_GROW, true), *e;
    struct rlimit before, now;
    uint64_t i = 0;

    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    now = before;
    now.rlim_cur = (rlim_t)(pastset_space_used_bytes(space) + (1u << 20));
    setrlimit(RLIMIT_FSIZE, &now);
    e = large_make(space, "large", PASTSET_GROW);
    while (i < LARGE && put(e, i) == 0)
        i++;
    cr_expect_lt(i, LARGE);
    cr_expect_eq(put(e, i), PASTSET_ENOSPC);
    setrlimit(RLIMIT_FSIZE, &before);
    for (; i < LARGE; i++)
        cr_assert_eq(put(e, i), 0);
    check_range(e, 0, LARGE);
    cr_expect_eq(put(other, 0), 0);
    pastset_space_close(space);
}

/* A space that has room for the element, and not for what is before a block. */
Test(demand, without_a_first_block_where_there_are_no_addresses,
     .init = scratch_make, .fini = scratch_remove)
{
    pastset_space *space;
    pastset_space_options options = {.path = scratch_file("narrow"),
                                     .max_bytes = (18u << 20) + (64u << 10),
                                     .max_elements = 16};
    pastset_element *e;

    check_status(pastset_space_create(&space, &options), 0);
    e = large_make(space, "e", PASTSET_GROW);
    for (uint64_t i = 0; i < LARGE; i++)
        cr_assert_eq(put(e, i), 0);
    check_range(e, 0, LARGE);
    pastset_space_close(space);
}

Test(demand, discarding_elements_take_memory_as_they_fill)
{
    keep_the_newest(true);
    keep_the_newest(false);
}

/* The disk is full in the middle of the element's first round, and has room
 * again later: what was refused is counted, and what came is in order. */
static void survive(pastset_policy policy, bool single_writer)
{
    const char *path = space_path("full");
    pastset_space *space = space_make(path);
    pastset_element *e = on_demand(space, policy, single_writer);
    struct rlimit before, small;
    struct stat status;
    pastset_ledger ledger;
    uint64_t refused = 0, i = 0;

    signal(SIGXFSZ, SIG_IGN);
    cr_assert_eq(stat(path, &status), 0);
    getrlimit(RLIMIT_FSIZE, &before);
    small = before;
    small.rlim_cur = (rlim_t)status.st_size + CAPACITY * 8 / 2;
    setrlimit(RLIMIT_FSIZE, &small);
    while (i < CAPACITY && !refused) {
        int err = put(e, i);
        if (!err)
            i++;
        else
            refused++;
        cr_assert(err == 0 || err == PASTSET_ENOSPC, "%d", err);
    }
    cr_assert_lt(i, CAPACITY);
    cr_expect_eq(put(e, i), PASTSET_ENOSPC);
    check_error("full");
    pastset_element_refuse(e, 3, PASTSET_ENOSPC);
    pastset_element_refuse(e, 5, PASTSET_EFULL);
    pastset_element_ledger(e, &ledger);
    cr_expect_eq(ledger.written, i);
    cr_expect_eq(ledger.refused, refused + 1 + 3 + 5);
    cr_expect_eq(ledger.starved, refused + 1 + 3);
    setrlimit(RLIMIT_FSIZE, &before);
    for (; i < CAPACITY; i++)
        cr_assert_eq(put(e, i), 0);
    check_range(e, 0, CAPACITY);
    pastset_space_close(space);
    unlink(path);
}

Test(demand, a_full_disk_refuses_and_counts)
{
    survive(PASTSET_DISCARD, true);
    survive(PASTSET_DISCARD, false);
    survive(PASTSET_BLOCK, true);
    survive(PASTSET_GROW, false);
}

/* -1: none of ours. */
static int descriptor_of(const char *path)
{
    char link[64], to[512];

    for (int fd = 3; fd < 1024; fd++) {
        ssize_t length;
        snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
        length = readlink(link, to, sizeof(to) - 1);
        to[length > 0 ? length : 0] = 0;
        if (length > 0 && strcmp(to, path) == 0)
            return fd;
    }
    return -1;
}

/* As programs do that close all that they know nothing of. */
Test(demand, another_file_with_its_descriptor_is_left_alone)
{
    enum { BYTES = 1 << 20 };
    static char text[BYTES], now[BYTES + 1];
    const char *path = space_path("taken");
    pastset_space *space = space_make(path);
    pastset_element *e = on_demand(space, PASTSET_GROW, true);
    int fd = descriptor_of(path);
    FILE *other = tmpfile();
    uint64_t count = 0;
    int err = 0;

    cr_assert_geq(fd, 0);
    memset(text, 'x', sizeof(text));
    cr_assert(other && fwrite(text, BYTES, 1, other) == 1 &&
              fflush(other) == 0);
    while (count < 1000 && !err)
        err = put(e, count++);
    check_status(err, 0);
    cr_assert_eq(dup2(fileno(other), fd), fd);
    while (!err && count < CAPACITY)
        err = put(e, count++);
    check_status(err, PASTSET_EIO);
    check_error("descriptor");
    check_range(e, 0, count - 1);
    cr_expect_eq(pread(fileno(other), now, sizeof(now), 0), BYTES);
    cr_expect(memcmp(text, now, BYTES) == 0);
    fclose(other);
    pastset_space_close(space);
    unlink(path);
}

Test(demand, prefault_takes_all_of_it_at_once)
{
    const char *path = space_path("prefaulted");
    pastset_space *space = space_make(path);
    uint64_t before = disk_of(path);
    pastset_type type = type_make("u64");
    pastset_element_options options = {.name = "e",
                                       .type = &type,
                                       .policy = PASTSET_DISCARD,
                                       .capacity = CAPACITY,
                                       .prefault = true,
                                       .on_demand = true};
    pastset_element *e;

    check_status(pastset_element_create(&e, space, &options), 0);
    cr_expect_geq(disk_of(path) - before, CAPACITY * 8ull);
    pastset_space_close(space);
    unlink(path);
}

/* --- waiting writers --- */

Test(demand, writers_that_wait_are_timed)
{
    pastset_space *space = space_make(NULL);
    pastset_element *e =
        element_make(space, "e", "u64", PASTSET_BLOCK, 1, false);
    pastset_ledger ledger;
    uint64_t value = 1;

    cr_assert_eq(put(e, 0), 0);
    cr_assert_eq(put(e, 1), PASTSET_EAGAIN);
    pastset_element_ledger(e, &ledger);
    cr_expect_eq(ledger.blocked_ns, 0);
    for (unsigned i = 1; i <= 2; i++) {
        check_status(pastset_write(e, &value, sizeof(value), 25, NULL),
                     PASTSET_ETIMEDOUT);
        pastset_element_ledger(e, &ledger);
        cr_expect_geq(ledger.blocked_ns, i * 25000000ull);
    }
    pastset_space_close(space);
}

/* --- what is saved --- */

Test(demand, another_process_tells_what_it_has_saved)
{
    const char *path = space_path("saved");
    pastset_space *space = space_make(path), *opened;
    pastset_element *e = on_demand(space, PASTSET_BLOCK, true), *theirs;
    int status;
    pid_t child;

    cr_expect_eq(pastset_element_saved(e), 0);
    check_status(pastset_element_tell_saved(e, 1), PASTSET_ENOTSUP);
    child = fork();
    if (child == 0) {
        bool well = pastset_space_open(&opened, path) == 0;
        theirs = well ? pastset_space_find(opened, "e") : NULL;
        /* Another file has the name by now; it is the old one that is told. */
        well = theirs && unlink(path) == 0 &&
               pastset_element_tell_saved(theirs, 7) == 0 &&
               pastset_element_tell_saved(theirs, 42) == 0 &&
               pastset_element_saved(theirs) == 42;
        if (well)
            pastset_space_close(opened);
        _exit(well ? 0 : 1);
    }
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    cr_expect_eq(pastset_element_saved(e), 42);
    pastset_space_close(space);
}
