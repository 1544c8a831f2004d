/* scratch.c - see scratch.h. */
#include "tests/support/scratch.h"

#include <criterion/criterion.h>
#include <ftw.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAMES 16

static char directory[64];
static pid_t owner;

/* Children that a test forks may end with exit() too. */
static void at_exit(void)
{
    if (getpid() == owner)
        scratch_remove();
}

/* A test that is skipped ends with exit(), and what its suite has for the end
 * is not called. */
void scratch_make(void)
{
    strcpy(directory, "/tmp/es_test.XXXXXX");
    cr_assert_not_null(mkdtemp(directory));
    owner = getpid();
    cr_assert_eq(atexit(at_exit), 0);
}

static int forget(const char *name, const struct stat *status, int kind,
                  struct FTW *walk)
{
    (void)status;
    (void)kind;
    (void)walk;
    return remove(name);
}

void scratch_remove(void)
{
    if (*directory)
        nftw(directory, forget, 8, FTW_DEPTH | FTW_PHYS);
    *directory = 0;
}

const char *scratch_file(const char *format, ...)
{
    static char names[NAMES][512];
    static unsigned next;
    char *out = names[next++ % NAMES];
    int used = snprintf(out, sizeof(names[0]), "%s/", directory);
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(out + used, sizeof(names[0]) - (size_t)used, format, arguments);
    va_end(arguments);
    return out;
}

const char *scratch_write(const char *name, const char *text)
{
    const char *file = scratch_file("%s", name);
    FILE *out = fopen(file, "w");

    cr_assert_not_null(out, "%s", file);
    fputs(text, out);
    cr_assert_eq(fclose(out), 0);
    return file;
}

char *file_read(const char *file, size_t *bytes)
{
    FILE *in = fopen(file, "rb");
    char *text = NULL;
    long length;

    cr_assert_not_null(in, "%s", file);
    fseek(in, 0, SEEK_END);
    length = ftell(in);
    rewind(in);
    text = malloc((size_t)length + 1);
    cr_assert(text && fread(text, 1, (size_t)length, in) == (size_t)length,
              "%s", file);
    text[length] = 0;
    fclose(in);
    if (bytes)
        *bytes = (size_t)length;
    return text;
}
