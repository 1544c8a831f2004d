/* replace.c - a file that is there as a whole or not at all, in place of the
 * one that was.
 *
 * Written without a name first, so that a process that is killed meanwhile
 * leaves nothing; what replaces another file has a name of its own for no
 * longer than between two system calls. File systems without that have it all
 * along. */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "eventspace/run/run_internal.h"
#include "pastset/unnamed.h"

#define PATH_BYTES 4096

static bool name_give(int fd, const char *file, const char *temporary)
{
    if (pastset_unnamed_name(fd, file))
        return true;
    if (errno != EEXIST || !pastset_unnamed_name(fd, temporary))
        return false;
    if (rename(temporary, file) == 0)
        return true;
    remove(temporary);
    return false;
}

static bool replace_unnamed(const char *file, const char *temporary,
                            const void *data, size_t bytes)
{
    int fd = pastset_unnamed_open(file, 0666);
    bool done = fd >= 0 && write(fd, data, bytes) == (ssize_t)bytes &&
                name_give(fd, file, temporary);

    if (fd >= 0)
        close(fd);
    return done;
}

/* Returns 0 or an errno, as do those that follow. */
static int write_named(const char *file, const void *data, size_t bytes)
{
    FILE *out = fopen(file, "we");
    size_t written;

    if (!out)
        return errno;
    written = fwrite(data, 1, bytes, out);
    if (fclose(out) != 0 || written != bytes) {
        int error = errno;
        remove(file);
        return error;
    }
    return 0;
}

/* On a full disk: over what is there, which has its place already. */
static int write_over(const char *file, const void *data, size_t bytes)
{
    int fd = open(file, O_WRONLY | O_CLOEXEC);
    int error;

    if (fd < 0)
        return errno;
    /* What there is no room for must not spoil what is there. */
    error = posix_fallocate(fd, 0, (off_t)bytes);
    if (!error && pwrite(fd, data, bytes, 0) != (ssize_t)bytes)
        error = EIO;
    if (!error && ftruncate(fd, (off_t)bytes) != 0)
        error = errno;
    close(fd);
    return error;
}

int eventspace__file_replace(const char *file, const void *data, size_t bytes)
{
    char temporary[PATH_BYTES];
    int length = snprintf(temporary, sizeof(temporary), "%s.tmp", file), error;

    if (length < 0 || (size_t)length >= sizeof(temporary))
        return ENAMETOOLONG;
    if (replace_unnamed(file, temporary, data, bytes))
        return 0;
    error = write_named(temporary, data, bytes);
    if (!error && rename(temporary, file) != 0) {
        error = errno;
        remove(temporary);
    }
    if (error == ENOSPC && access(file, F_OK) == 0)
        error = write_over(file, data, bytes);
    return error;
}
