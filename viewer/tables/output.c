/* output.c - see output.h. */
#include "viewer/tables/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "eventspace/run/disk.h"
#include "pastset/status.h"

/* Of `error`, an errno. */
static int fail(const char *file, int error)
{
    char folder[PATH_MAX], where[2048] = "";
    const char *slash = strrchr(file, '/');

    if (error == ENOSPC || error == EDQUOT) {
        snprintf(folder, sizeof(folder), "%.*s",
                 slash ? (int)(slash - file) + 1 : 1, slash ? file : ".");
        eventspace_disk_name(where, sizeof(where), folder);
    }
    return pastset_fail(pastset_status_from_errno(error), "%.400s: %s%s%s",
                        file, strerror(error),
                        *where ? " on the file system " : "", where);
}

/* Returns an errno, or 0. */
static int all_write(int fd, const char *bytes, size_t count)
{
    while (count > 0) {
        ssize_t n = write(fd, bytes, count);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errno;
        bytes += n;
        count -= (size_t)n;
    }
    return 0;
}

static int fd_write(int fd, const void *bytes, size_t count)
{
    int error = fd < 0 ? errno : all_write(fd, bytes, count);

    if (fd >= 0 && close(fd) != 0 && !error)
        error = errno;
    return error;
}

/* The number of one of this process's files, if it is named by that. */
static int own_file(const char *file)
{
    int fd = -1, used = 0;

    if (strcmp(file, "/dev/stdout") == 0)
        return STDOUT_FILENO;
    if ((sscanf(file, "/dev/fd/%d%n", &fd, &used) == 1 ||
         sscanf(file, "/proc/self/fd/%d%n", &fd, &used) == 1) &&
        used > 0 && !file[used])
        return fd;
    return -1;
}

static int in_place(const char *file, const void *bytes, size_t count)
{
    return fd_write(open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666),
                    bytes, count);
}

/* Beside a file there may be nothing, or in its place: it is a mount, its
 * folder is somebody else's, or its name is as long as names may be. */
static bool is_no_place(int error)
{
    return error == EACCES || error == EPERM || error == EROFS ||
           error == EBUSY || error == EXDEV || error == ENAMETOOLONG;
}

/* Returns an errno, or 0. */
static int replace(const char *file, const struct stat *old, const void *bytes,
                   size_t count)
{
    char part[PATH_MAX];
    int length, fd, error;

    length = snprintf(part, sizeof(part), "%s.%ld.part", file, (long)getpid());
    if (length < 0 || (size_t)length >= sizeof(part))
        return ENAMETOOLONG;
    /* A file of its own: one that is there, or a link, is somebody else's. */
    fd = open(part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0)
        return errno;
    if (old)
        (void)fchmod(fd, old->st_mode & 07777);
    error = fd_write(fd, bytes, count);
    if (!error && rename(part, file) != 0)
        error = errno;
    if (error)
        unlink(part);
    return error;
}

int viewer_output_write(const char *file, const void *bytes, size_t count)
{
    char real[PATH_MAX];
    struct stat old;
    int own = own_file(file), error;
    bool there = stat(file, &old) == 0;

    if (own >= 0) /* as it is: it may append */
        error = all_write(own, bytes, count);
    else if (there && !S_ISREG(old.st_mode))
        error = in_place(file, bytes, count);
    else
        /* Through links: they stay, and lead to what is new. */
        error = replace(there && realpath(file, real) ? real : file,
                        there ? &old : NULL, bytes, count);
    if (there && is_no_place(error))
        error = in_place(file, bytes, count);
    return error ? fail(file, error) : 0;
}
