/* check.h - what the tests of eventspace share: files in a
 * directory of their own that goes away with the test. */
#ifndef TESTS_EVENTSPACE_CHECK_H
#define TESTS_EVENTSPACE_CHECK_H

#include <criterion/criterion.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/check.h"

static char test_directory[64];
static pid_t test_directory_owner;

static inline int directory_forget(const char *name, const struct stat *status,
                                   int kind, struct FTW *walk)
{
    (void)status;
    (void)kind;
    (void)walk;
    return remove(name);
}

static inline void directory_remove(void)
{
    if (*test_directory)
        nftw(test_directory, directory_forget, 8, FTW_DEPTH | FTW_PHYS);
    *test_directory = 0;
}

static inline void directory_at_exit(void)
{
    if (getpid() == test_directory_owner)
        directory_remove();
}

/* A test that is skipped ends with exit(), and what its suite has for the end
 * is not called. */
static inline void directory_make(void)
{
    strcpy(test_directory, "/tmp/es_test.XXXXXX");
    cr_assert_not_null(mkdtemp(test_directory));
    test_directory_owner = getpid();
    cr_assert_eq(atexit(directory_at_exit), 0);
}

/* A name in the directory; a few of them stay valid at a time. */
static inline const char *in_directory(const char *name)
{
    static char names[8][320];
    static unsigned next;
    char *out = names[next++ % 8];
    snprintf(out, sizeof(names[0]), "%s/%s", test_directory, name);
    return out;
}

static inline void file_write(const char *file, const void *data, size_t bytes)
{
    FILE *out = fopen(file, "w");
    cr_assert_not_null(out, "%s", file);
    cr_assert_eq(fwrite(data, 1, bytes, out), bytes);
    fclose(out);
}

static inline size_t file_read(const char *file, char *data, size_t capacity)
{
    FILE *in = fopen(file, "r");
    size_t bytes;
    cr_assert_not_null(in, "%s", file);
    bytes = fread(data, 1, capacity - 1, in);
    data[bytes] = 0;
    fclose(in);
    return bytes;
}

#endif
