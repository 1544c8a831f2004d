/* output.c - see output.h. */
#include "viewer/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "eventspace/disk.h"
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

/* Beside what stands in these folders nothing can be made, and it may lead to
 * a file that is somebody's standard output. */
static bool is_special(const char *file)
{
    struct stat status;

    return strncmp(file, "/dev/", 5) == 0 || strncmp(file, "/proc/", 6) == 0 ||
           (stat(file, &status) == 0 && !S_ISREG(status.st_mode));
}

int viewer_output_write(const char *file, const void *bytes, size_t count)
{
    char part[PATH_MAX];
    int length, error;

    if (strcmp(file, "/dev/stdout") == 0) { /* as it is: it may append */
        error = all_write(STDOUT_FILENO, bytes, count);
        return error ? fail(file, error) : 0;
    }
    if (is_special(file)) {
        error = fd_write(open(file, O_WRONLY | O_CLOEXEC), bytes, count);
        return error ? fail(file, error) : 0;
    }
    length = snprintf(part, sizeof(part), "%s.%ld.part", file, (long)getpid());
    if (length < 0 || (size_t)length >= sizeof(part))
        return fail(file, ENAMETOOLONG);
    /* A file of its own: one that is there, or a link, is somebody else's. */
    error = fd_write(open(part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666),
                     bytes, count);
    if (!error && rename(part, file) != 0)
        error = errno;
    if (error && error != EEXIST)
        unlink(part);
    return error ? fail(file, error) : 0;
}
