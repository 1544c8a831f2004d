/* space_test.c - spaces, their files, and what others see of them. */
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "support.h"
#include "pastset/space_internal.h"

static pastset_space *open_at(const char *path)
{
    pastset_space *space;
    check_status(pastset_space_open(&space, path), 0);
    return space;
}

Test(space, refuses_sizes_that_cannot_be, .timeout = 120)
{
    pastset_space *space;
    pastset_space_options small = {.max_bytes = 4096};
    pastset_space_options large = {.max_bytes = 1ull << 45};
    pastset_space_options many = {.max_elements = 1u << 21};
    check_status(pastset_space_create(&space, &small), PASTSET_EINVAL);
    cr_assert_null(space);
    check_status(pastset_space_create(&space, &large), PASTSET_EINVAL);
    check_status(pastset_space_create(&space, &many), PASTSET_EINVAL);
}

/* How many bytes of them this process has. */
static rlim_t addresses(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    unsigned long long pages = 0;

    cr_assert_not_null(file);
    cr_assert_eq(fscanf(file, "%llu", &pages), 1);
    fclose(file);
    return (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

/* Where addresses are limited, as on the login nodes of many clusters. */
Test(space, is_no_larger_than_the_environment_says, .timeout = 120)
{
    pastset_space_options options = {0};
    struct rlimit few = {.rlim_cur = addresses() + (8ull << 30),
                         .rlim_max = RLIM_INFINITY};
    pastset_space *space;

    unsetenv("EVENTSPACE_SPACE_BYTES");
    cr_assert_eq(setrlimit(RLIMIT_AS, &few), 0);
    check_status(pastset_space_create(&space, &options), PASTSET_ENOMEM);
    cr_assert_null(space);
    check_error("EVENTSPACE_SPACE_BYTES");
    check_error("ulimit -v");
    setenv("EVENTSPACE_SPACE_BYTES", "1073741824", true);
    check_status(pastset_space_create(&space, &options), 0);
    cr_expect_eq(space->mapped_bytes, 1ull << 30);
    pastset_space_close(space);
    options.max_bytes = 1ull << 40; /* also where more is asked for */
    check_status(pastset_space_create(&space, &options), 0);
    cr_expect_eq(space->mapped_bytes, 1ull << 30);
    pastset_space_close(space);
    options.max_bytes = 1ull << 26; /* and less is less */
    check_status(pastset_space_create(&space, &options), 0);
    cr_expect_eq(space->mapped_bytes, 1ull << 26);
    pastset_space_close(space);
}

Test(space, refuses_a_number_of_bytes_that_is_none, .timeout = 120)
{
    static const char *const wrong[] = {"4G", "-1", " 1073741824", "many",
                                        "99999999999999999999"};
    pastset_space_options options = {0};
    pastset_space *space;

    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        setenv("EVENTSPACE_SPACE_BYTES", wrong[i], true);
        check_status(pastset_space_create(&space, &options), PASTSET_EINVAL);
        cr_assert_null(space);
        check_error(wrong[i]);
    }
    setenv("EVENTSPACE_SPACE_BYTES", "4096", true);
    check_status(pastset_space_create(&space, &options), PASTSET_EINVAL);
    check_error("at least");
    setenv("EVENTSPACE_SPACE_BYTES", "", true);
    check_status(pastset_space_create(&space, &options), 0);
    pastset_space_close(space);
}

Test(space, says_which_file_cannot_be_made, .timeout = 120)
{
    pastset_space *space;
    pastset_space_options options = {.path = "/nowhere/at/all.space"};
    check_status(pastset_space_create(&space, &options), PASTSET_ENOENT);
    check_error("/nowhere/at/all.space");
    check_status(pastset_space_open(&space, options.path), PASTSET_ENOENT);
    check_error("/nowhere/at/all.space");
}

Test(space, is_a_file_for_its_owner_only_whatever_the_umask, .timeout = 120)
{
    const char *path = space_path("owner");
    struct stat status;
    mode_t before = umask(0);

    /* Also where there was one before that all could read. */
    close(open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    pastset_space_close(space_make(path));
    umask(before);
    cr_assert_eq(stat(path, &status), 0);
    cr_expect_eq(status.st_mode & 07777, 0600, "%o", status.st_mode);
    unlink(path);
}

Test(space, lists_elements_in_the_order_of_creation, .timeout = 120)
{
    pastset_space *space = space_make(NULL);
    pastset_element *a = element_make(space, "a", "u8", PASTSET_BLOCK, 1, 0);
    pastset_element *b = element_make(space, "b", "u8", PASTSET_BLOCK, 1, 0);
    pastset_element *c = element_make(space, "c", "u8", PASTSET_BLOCK, 1, 0);
    cr_assert_eq(pastset_space_count(space), 3);
    check_status(pastset_element_delete(b), 0);
    cr_assert_eq(pastset_space_count(space), 2);
    cr_assert_eq(pastset_space_at(space, 0), a);
    cr_assert_eq(pastset_space_at(space, 1), c);
    cr_assert_null(pastset_space_at(space, 2));
    cr_assert_eq(pastset_space_find(space, "c"), c);
    cr_assert_null(pastset_space_find(space, "b"));
    pastset_space_close(space);
}

Test(space, takes_no_more_elements_than_it_was_made_for, .timeout = 120)
{
    pastset_space *space;
    pastset_space_options options = {.max_elements = 2, .max_bytes = 1 << 20};
    pastset_type type = type_make("u8");
    pastset_element_options third = {.name = "3", .type = &type, .capacity = 1};
    pastset_element *element;
    uint64_t used;
    check_status(pastset_space_create(&space, &options), 0);
    element_make(space, "1", "u8", PASTSET_BLOCK, 1, false);
    element_make(space, "2", "u8", PASTSET_BLOCK, 1, false);
    used = pastset_space_used_bytes(space);
    check_status(pastset_element_create(&element, space, &third),
                 PASTSET_ENOSPC);
    cr_assert_eq(pastset_space_used_bytes(space), used);
    pastset_space_close(space);
}

Test(space, refuses_an_element_that_does_not_fit, .timeout = 120)
{
    pastset_space *space;
    pastset_space_options options = {.max_elements = 2, .max_bytes = 1 << 20};
    pastset_type type = type_make("u8[1024]");
    pastset_element_options large = {
        .name = "large", .type = &type, .capacity = 1024};
    pastset_element *element;
    check_status(pastset_space_create(&space, &options), 0);
    check_status(pastset_element_create(&element, space, &large),
                 PASTSET_ENOSPC);
    check_error("large");
    large.capacity = UINT64_MAX;
    check_status(pastset_element_create(&element, space, &large),
                 PASTSET_ENOSPC);
    large.capacity = 100;
    check_status(pastset_element_create(&element, space, &large), 0);
    pastset_space_close(space);
}

Test(space, a_full_disk_is_an_error_at_creation, .timeout = 120)
{
    pastset_space *space = space_make(space_path("full"));
    pastset_type type = type_make("u8[1024]");
    pastset_element_options options = {
        .name = "large", .type = &type, .capacity = 10000};
    struct rlimit limit = {.rlim_cur = 1000000, .rlim_max = 1000000};
    pastset_element *element;
    /* The size of a file is limited here, as a disk is. */
    signal(SIGXFSZ, SIG_IGN);
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    check_status(pastset_element_create(&element, space, &options),
                 PASTSET_ENOSPC);
    check_error("large");
    pastset_space_close(space);
    unlink(space_path("full"));
}

Test(space, the_same_name_twice_is_refused_and_costs_nothing, .timeout = 120)
{
    pastset_space *space = space_make(NULL);
    pastset_type type = type_make("u8");
    pastset_element_options options = {
        .name = "a", .type = &type, .capacity = 1};
    pastset_element *element, *again;
    uint64_t used;
    check_status(pastset_element_create(&element, space, &options), 0);
    used = pastset_space_used_bytes(space);
    check_status(pastset_element_create(&again, space, &options),
                 PASTSET_EEXIST);
    cr_assert_null(again);
    cr_assert_eq(pastset_space_used_bytes(space), used);
    check_status(pastset_element_delete(element), 0);
    check_status(pastset_element_create(&again, space, &options), 0);
    pastset_space_close(space);
}

/* --- files --- */

Test(space, a_file_is_read_while_it_is_written, .timeout = 120)
{
    const char *path = space_path("live");
    pastset_space *space = space_make(path), *reader;
    pastset_element *writer =
        element_make(space, "a", "u64", PASTSET_DISCARD, 4, true);
    pastset_element *seen;
    put_range(writer, 0, 3);
    reader = open_at(path);
    cr_assert_eq(pastset_space_count(reader), 1);
    seen = pastset_space_find(reader, "a");
    cr_assert_eq(get(seen, 2), 2);
    cr_assert_eq(get(seen, 3), PASTSET_EAGAIN);
    put_range(writer, 3, 6);
    cr_assert_eq(get(seen, 5), 5);
    cr_assert_eq(get(seen, 1), PASTSET_EEXPIRED);
    cr_assert_eq(ledger_of(seen).dropped, 2);
    cr_assert_eq(ledger_of(seen).first, 2);
    /* One more element is there after a refresh. */
    put(element_make(space, "b", "u64", PASTSET_GROW, 100000, false), 77);
    cr_assert_null(pastset_space_find(reader, "b"));
    check_status(pastset_space_refresh(reader), 0);
    cr_assert_eq(get(pastset_space_find(reader, "b"), 0), 77);
    pastset_space_close(reader);
    pastset_space_close(space);
    unlink(path);
}

Test(space, a_file_that_was_opened_is_never_changed, .timeout = 120)
{
    const char *path = space_path("ro");
    pastset_space *space = space_make(path), *reader;
    pastset_element *e =
        element_make(space, "a", "u64", PASTSET_BLOCK, 4, false);
    pastset_type type = type_make("u8");
    pastset_element_options options = {
        .name = "b", .type = &type, .capacity = 1};
    uint64_t value;
    size_t bytes = sizeof(value);
    put_range(e, 0, 3);
    pastset_space_close(space);
    reader = open_at(path);
    e = pastset_space_find(reader, "a");
    check_status(put(e, 1), PASTSET_ENOTSUP);
    cr_assert_eq(observe(e), PASTSET_ENOTSUP);
    cr_assert_eq(take(e, 1), PASTSET_ENOTSUP);
    check_status(pastset_read(e, 9, &value, &bytes, PASTSET_FOREVER),
                 PASTSET_ENOTSUP);
    check_status(pastset_read(e, 9, &value, &bytes, 5), PASTSET_ENOTSUP);
    check_status(pastset_element_delete(e), PASTSET_ENOTSUP);
    check_status(pastset_element_truncate(e, 1), PASTSET_ENOTSUP);
    check_status(pastset_element_set_delta(e, 1), PASTSET_EINVAL);
    check_status(pastset_element_create(&e, reader, &options), PASTSET_ENOTSUP);
    e = pastset_space_find(reader, "a");
    cr_assert_eq(get(e, 1), 1);
    cr_assert_eq(get(e, 3), PASTSET_EAGAIN);
    check_error("would have to wait");
    cr_assert_eq(ledger_of(e).read, 0);
    pastset_space_close(reader);
    unlink(path);
}

/* Of 16 spaces of 8 TiB, no processor's 47 bits of addresses have room. */
Test(space, more_are_read_than_addresses_have_room_for, .timeout = 120)
{
    const char *path = space_path("wide");
    pastset_space_options options = {.path = path, .max_bytes = 1ull << 43};
    pastset_space *space, *opened[40];
    pastset_element *later;

    check_status(pastset_space_create(&space, &options), 0);
    element_make(space, "e", "u64", PASTSET_GROW, 1u << 20, 0);
    for (int i = 0; i < 40; i++) {
        opened[i] = open_at(path);
        cr_assert_not_null(pastset_space_find(opened[i], "e"));
    }
    /* And go on being read when they grow. */
    later = element_make(space, "later", "u64", PASTSET_GROW, 1u << 20, 0);
    check_status(put(later, 7), 0);
    for (int i = 0; i < 40; i++) {
        pastset_element *first = pastset_space_find(opened[i], "e"), *found;
        check_status(pastset_space_refresh(opened[i]), 0);
        cr_assert_eq(pastset_space_find(opened[i], "e"), first);
        check_status(pastset_element_tell_saved(first, 1), 0);
        found = pastset_space_find(opened[i], "later");
        cr_assert_not_null(found);
        cr_assert_eq(get(found, 0), 7);
    }
    cr_assert_eq(pastset_element_saved(pastset_space_find(space, "e")), 1);
    cr_assert_eq(pastset_element_saved(later), 0);
    for (int i = 0; i < 40; i++)
        pastset_space_close(opened[i]);
    pastset_space_close(space);
    unlink(path);
}

Test(space, closing_leaves_its_elements_in_the_file, .timeout = 120)
{
    const char *path = space_path("kept");
    pastset_space *space = space_make(path), *reader;
    pastset_element *gone;
    put(element_make(space, "stays", "u64", PASTSET_BLOCK, 1, false), 5);
    gone = element_make(space, "goes", "u64", PASTSET_BLOCK, 1, false);
    check_status(pastset_element_delete(gone), 0);
    pastset_space_close(space);
    reader = open_at(path);
    cr_assert_eq(pastset_space_count(reader), 1);
    cr_assert_eq(get(pastset_space_at(reader, 0), 0), 5);
    pastset_space_close(reader);
    unlink(path);
}

Test(space, a_new_file_of_that_name_leaves_readers_of_the_old_one,
     .timeout = 120)
{
    const char *path = space_path("anew");
    pastset_space *old = space_make(path), *reader, *anew;
    pastset_element *seen;
    element_make(old, "a", "u64", PASTSET_BLOCK, 10000, false);
    put_range(pastset_space_find(old, "a"), 0, 10000);
    reader = open_at(path);
    seen = pastset_space_find(reader, "a");
    anew = space_make(path);
    cr_assert_eq(get(seen, 9999), 9999);
    pastset_space_close(reader);
    reader = open_at(path);
    cr_assert_eq(pastset_space_count(reader), 0);
    pastset_space_close(reader);
    pastset_space_close(anew);
    pastset_space_close(old);
    unlink(path);
}

/* --- after kill -9 --- */

enum { ROUNDS = 12 };

/* Writes until it is killed, and keeps the number of published tuples. */
static void write_forever(const char *path, bool single_writer,
                          pastset_policy policy, _Atomic uint64_t *published)
{
    pastset_space *space = space_make(path);
    pastset_element *e =
        element_make(space, "e", "u64[4]", policy,
                     policy == PASTSET_GROW ? 300000 : 64, single_writer);
    for (uint64_t i = 0;; i++) {
        uint64_t tuple[4] = {i, i, i, i};
        if (pastset_write(e, tuple, sizeof(tuple), PASTSET_NOWAIT, NULL) != 0) {
            /* Full: now it consumes. */
            size_t bytes = sizeof(tuple);
            if (pastset_observe(e, tuple, &bytes, PASTSET_NOWAIT, NULL) != 0)
                _exit(1);
            i--;
            continue;
        }
        atomic_store_explicit(published, i + 1, memory_order_release);
    }
}

/* Everything that was published is there and whole, and the ledger is exact. */
static void check_left(const char *path, uint64_t published)
{
    pastset_space *space = open_at(path);
    pastset_element *e = pastset_space_find(space, "e");
    pastset_ledger l = ledger_of(e);
    pastset_cursor cursor = {0};
    uint64_t tuple[4];
    size_t bytes = sizeof(tuple);
    cr_assert(l.written == published || l.written == published + 1,
              "%lu written, %lu published", l.written, published);
    while (pastset_read_next(e, &cursor, tuple, &bytes, PASTSET_NOWAIT) == 0) {
        for (int i = 0; i < 4; i++)
            cr_assert_eq(tuple[i], cursor.next - 1);
        bytes = sizeof(tuple);
    }
    cr_assert_eq(cursor.next, l.written);
    cr_assert_eq(cursor.read, l.present);
    cr_assert_eq(cursor.lost, l.written - l.present);
    pastset_space_close(space);
}

static void kill_and_look(const char *name, bool single_writer,
                          pastset_policy policy)
{
    void *shared = shared_make(4096);
    _Atomic uint64_t *published = shared;
    const char *path = space_path(name);
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t enough = (uint64_t)round * round * 997 + 1;
        pid_t child;
        *published = 0;
        unlink(path);
        child = fork();
        if (child == 0)
            write_forever(path, single_writer, policy, published);
        while (*published < enough)
            ;
        kill(child, SIGKILL);
        cr_assert_eq(waitpid(child, NULL, 0), child);
        check_left(path, *published);
    }
    unlink(path);
    munmap(shared, 4096);
}

Test(space, all_that_one_writer_published_is_there_after_a_kill, .timeout = 300)
{
    kill_and_look("kill1", true, PASTSET_DISCARD);
}

Test(space, all_that_was_written_under_a_lock_is_there_after_a_kill,
     .timeout = 300)
{
    kill_and_look("kill2", false, PASTSET_DISCARD);
}

Test(space, a_growing_element_is_there_after_a_kill, .timeout = 300)
{
    kill_and_look("kill3", true, PASTSET_GROW);
    kill_and_look("kill4", false, PASTSET_GROW);
}

Test(space, the_ledger_is_exact_after_a_kill_while_consuming, .timeout = 300)
{
    kill_and_look("kill5", false, PASTSET_BLOCK);
    kill_and_look("kill6", true, PASTSET_BLOCK);
}

/* Another process reads along, and every ledger that it sees adds up. */
static void check_live(bool single_writer, pastset_policy policy)
{
    void *shared = shared_make(4096);
    _Atomic uint64_t *published = shared;
    const char *path = space_path("along");
    pastset_space *space;
    pastset_element *e;
    pastset_cursor cursor = {0};
    uint64_t tuple[4];
    pid_t child;
    unlink(path);
    child = fork();
    if (child == 0)
        write_forever(path, single_writer, policy, published);
    while (*published == 0)
        ;
    space = open_at(path);
    e = pastset_space_find(space, "e");
    for (int i = 0; i < 200000; i++) {
        uint64_t before = *published;
        size_t bytes = sizeof(tuple);
        pastset_ledger l = ledger_of(e);
        cr_assert_geq(l.written, before);
        cr_assert_leq(l.present, 65);
        if (pastset_read_next(e, &cursor, tuple, &bytes, PASTSET_NOWAIT) == 0)
            for (int k = 0; k < 4; k++)
                cr_assert_eq(tuple[k], cursor.next - 1);
        cr_assert_eq(cursor.next, cursor.read + cursor.lost);
    }
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    pastset_space_close(space);
    unlink(path);
    munmap(shared, 4096);
}

Test(space, another_process_reads_along, .timeout = 300)
{
    check_live(true, PASTSET_DISCARD);
    check_live(false, PASTSET_DISCARD);
    check_live(false, PASTSET_BLOCK);
    check_live(true, PASTSET_BLOCK);
}

/* --- damaged files --- */

static void corpus_file(char *path, size_t capacity, const char *name)
{
    snprintf(path, capacity, "%s/fuzz/corpus/space/%s", TEST_SOURCE_DIR, name);
}

static pastset_space *corpus_make(const char *name)
{
    pastset_space_options options = {.max_bytes = 1 << 20, .max_elements = 8};
    pastset_space *space;
    char path[1024];
    corpus_file(path, sizeof(path), name);
    options.path = path;
    check_status(pastset_space_create(&space, &options), 0);
    return space;
}

/* The files that fuzzing starts from; UPDATE_GOLDEN=1 makes them anew, which
 * is needed whenever the layout changes. */
static void corpus_update(void)
{
    pastset_space *space = corpus_make("one_writer");
    put_range(element_make(space, "ring", "u64", PASTSET_DISCARD, 5, true), 0,
              13);
    put_range(element_make(space, "block", "u64", PASTSET_BLOCK, 5, true), 0,
              4);
    pastset_space_close(space);

    space = corpus_make("one_writer_variable");
    pastset_element *e =
        element_make(space, "words", "bytes[24]", PASTSET_DISCARD, 5, true);
    for (size_t i = 0; i < 7; i++)
        check_status(pastset_write(e, "abcdefghijkl", i, 0, NULL), 0);
    pastset_space_close(space);

    space = corpus_make("holes");
    e = element_make(space, "holes", "u64", PASTSET_DISCARD, 6, false);
    put_range(e, 0, 9);
    cr_assert_eq(take(e, 5), 5);
    cr_assert_eq(take(e, 7), 7);
    cr_assert_eq(observe(e), 3);
    pastset_space_close(space);

    space = corpus_make("variable");
    e = element_make(space, "words", "bytes[24]", PASTSET_GROW, 9, false);
    for (size_t i = 0; i < 7; i++)
        check_status(pastset_write(e, "abcdefghijkl", i, 0, NULL), 0);
    e = element_make(space, "fields", "i32 f64[2] u8", PASTSET_BLOCK, 3, false);
    check_status(pastset_write(e, "12345678901234567890\n", 21, 0, NULL), 0);
    pastset_space_close(space);

    space = corpus_make("deleted");
    e = element_make(space, "gone", "u64", PASTSET_GROW, 3, false);
    put_range(e, 0, 2);
    check_status(pastset_element_delete(e), 0);
    pastset_space_close(space);

    pastset_space_close(corpus_make("empty"));
}

Test(space, reads_the_files_that_fuzzing_starts_from, .timeout = 120)
{
    static const char *const names[] = {"one_writer", "one_writer_variable",
                                        "holes",      "variable",
                                        "deleted",    "empty"};
    static const size_t counts[] = {2, 1, 1, 2, 0, 0};
    if (getenv("UPDATE_GOLDEN"))
        corpus_update();
    for (int i = 0; i < 6; i++) {
        char path[1024];
        pastset_space *space;
        corpus_file(path, sizeof(path), names[i]);
        space = open_at(path);
        cr_assert_eq(pastset_space_count(space), counts[i], "%s", names[i]);
        pastset_space_close(space);
    }
}

/* Each byte of the part at `begin` is replaced by each of a few values; the
 * file is refused or can be read, whatever stands there. */
static void damage(const char *path, const char *bytes, size_t length,
                   size_t begin, size_t end)
{
    static const unsigned char values[] = {0, 1, 2, 0x7f, 0x80, 0xff};
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    cr_assert_eq(write(fd, bytes, length), (ssize_t)length);
    for (size_t at = begin; at < end && at < length; at++) {
        for (size_t v = 0; v < sizeof(values); v++) {
            pastset_space *space;
            cr_assert_eq(pwrite(fd, &values[v], 1, (off_t)at), 1);
            if (pastset_space_open(&space, path) != 0)
                continue;
            for (size_t i = 0; i < pastset_space_count(space); i++) {
                pastset_element *e = pastset_space_at(space, i);
                static char tuple[1 << 16];
                size_t capacity = sizeof(tuple);
                ledger_of(e);
                (void)pastset_read_first(e, tuple, &capacity, 0, NULL);
                capacity = sizeof(tuple);
                (void)pastset_read_last(e, tuple, &capacity, 0, NULL);
                (void)get(e, 7);
            }
            pastset_space_close(space);
        }
        cr_assert_eq(pwrite(fd, bytes + at, 1, (off_t)at), 1);
    }
    close(fd);
}

Test(space, no_damaged_byte_of_a_header_makes_it_crash, .timeout = 300)
{
    static const char *const names[] = {"one_writer", "one_writer_variable",
                                        "holes", "variable"};
    for (int i = 0; i < 4; i++) {
        static char bytes[65536];
        char from[1024];
        size_t length;
        FILE *file;
        corpus_file(from, sizeof(from), names[i]);
        file = fopen(from, "rb");
        cr_assert_not_null(file);
        length = fread(bytes, 1, sizeof(bytes), file);
        fclose(file);
        damage(space_path("damage"), bytes, length, 0, 64);
        damage(space_path("damage"), bytes, length, 4096, 4096 + 32);
        damage(space_path("damage"), bytes, length, 8192, 8192 + 900);
    }
    unlink(space_path("damage"));
}

Test(space, a_file_cut_anywhere_is_refused_or_read_as_far_as_it_goes,
     .timeout = 300)
{
    static char bytes[65536];
    const char *path = space_path("cut");
    char from[1024];
    size_t length;
    FILE *file;
    corpus_file(from, sizeof(from), "one_writer");
    file = fopen(from, "rb");
    cr_assert_not_null(file);
    length = fread(bytes, 1, sizeof(bytes), file);
    fclose(file);
    for (size_t cut = 0; cut < length; cut += cut < 12200 ? 61 : 1)
        damage(path, bytes, cut, 40, 41);
    unlink(path);
}

static void put_bytes(const char *path, const void *bytes, size_t count,
                      off_t at)
{
    int fd = open(path, O_RDWR);
    cr_assert_eq(pwrite(fd, bytes, count, at), (ssize_t)count);
    close(fd);
}

Test(space, a_damaged_element_does_not_hide_the_others, .timeout = 120)
{
    const char *path = space_path("one_bad");
    pastset_space *space = space_make(path), *reader;
    uint64_t bad = 12345, good;
    uint32_t many = 0x80000003;
    for (int i = 0; i < 3; i++) {
        char name[] = {(char)('a' + i), 0};
        put(element_make(space, name, "u64", PASTSET_GROW, 10, false),
            (uint64_t)i);
    }
    pastset_space_close(space);
    {
        int fd = open(path, O_RDONLY);
        cr_assert_eq(pread(fd, &good, 8, 4096 + 8), 8);
        close(fd);
    }
    put_bytes(path, &bad, 8, 4096 + 8);
    reader = open_at(path);
    cr_assert_eq(pastset_space_count(reader), 2);
    cr_assert_eq(get(pastset_space_find(reader, "a"), 0), 0);
    cr_assert_null(pastset_space_find(reader, "b"));
    cr_assert_eq(get(pastset_space_find(reader, "c"), 0), 2);
    for (int i = 0; i < 2; i++) {
        check_status(pastset_space_refresh(reader), PASTSET_EFORMAT);
        check_error("element 1 of 3: damaged");
    }
    /* It is looked at again each time. */
    put_bytes(path, &good, 8, 4096 + 8);
    check_status(pastset_space_refresh(reader), 0);
    cr_assert_eq(pastset_space_count(reader), 3);
    cr_assert_eq(get(pastset_space_find(reader, "b"), 0), 1);
    pastset_space_close(reader);

    put_bytes(path, &many, 4, 40); /* the number of elements */
    reader = open_at(path);
    cr_assert_eq(pastset_space_count(reader), 3);
    check_status(pastset_space_refresh(reader), PASTSET_EFORMAT);
    check_error("claims 2147483651 elements");
    pastset_space_close(reader);
    unlink(path);
}

Test(space, what_is_no_space_is_called_that, .timeout = 120)
{
    const char *path = space_path("other");
    pastset_space *space;
    char text[9000] = "This is a text and not a space.";
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    check_status(pastset_space_open(&space, path), PASTSET_EFORMAT);
    check_error("too short");
    cr_assert_eq(write(fd, text, sizeof(text)), (ssize_t)sizeof(text));
    check_status(pastset_space_open(&space, path), PASTSET_EFORMAT);
    check_error("is not a space file");
    cr_assert_null(space);
    close(fd);
    unlink(path);
}

/* --- closing --- */

static void *wait_in(void *argument)
{
    uint64_t value;
    size_t bytes = sizeof(value);
    int err = pastset_read(argument, 5, &value, &bytes, PASTSET_FOREVER);
    return (void *)(intptr_t)err;
}

Test(space, closing_ends_the_threads_that_wait_in_it, .timeout = 120)
{
    for (int round = 0; round < 200; round++) {
        pastset_space *space = space_make(NULL);
        pastset_element *e =
            element_make(space, "e", "u64", PASTSET_BLOCK, 4, round % 2);
        pthread_t threads[4];
        held h;
        for (int i = 0; i < 4; i++)
            pthread_create(&threads[i], NULL, wait_in, e);
        cr_assert_eq(held_submit(e, &h, PASTSET_READ, 7), PASTSET_HELD);
        until_held(e, 5);
        pastset_space_close(space);
        cr_assert_eq(h.request.status, PASTSET_EDELETED);
        for (int i = 0; i < 4; i++) {
            void *result;
            pthread_join(threads[i], &result);
            cr_assert_eq((intptr_t)result, PASTSET_EDELETED);
        }
    }
}
