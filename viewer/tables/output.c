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

/* --- bit by bit --- */

struct viewer_output {
    FILE *file;
    char *name;          /* as it was given */
    char part[PATH_MAX]; /* "" if it is written in place */
    char real[PATH_MAX]; /* what it is to replace */
};

/* A file beside the other; -1 and errno when there can be none. */
static int part_open(viewer_output *o, const struct stat *old)
{
    int fd, length = snprintf(o->part, sizeof(o->part), "%s.%ld.part", o->real,
                              (long)getpid());

    if (length < 0 || (size_t)length >= sizeof(o->part)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    fd = open(o->part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd >= 0 && old)
        (void)fchmod(fd, old->st_mode & 07777);
    return fd;
}

static int output_open(viewer_output *o)
{
    struct stat old;
    int own = own_file(o->name), fd;
    bool there = stat(o->name, &old) == 0;

    if (own >= 0)
        return fcntl(own, F_DUPFD_CLOEXEC, 0);
    if (!there || S_ISREG(old.st_mode)) {
        if (!there || !realpath(o->name, o->real))
            snprintf(o->real, sizeof(o->real), "%s", o->name);
        fd = part_open(o, there ? &old : NULL);
        if (fd >= 0 || !there || !is_no_place(errno))
            return fd;
    }
    o->part[0] = '\0';
    return open(o->name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
}

static void output_free(viewer_output *o)
{
    free(o->name);
    free(o);
}

int viewer_output_begin(viewer_output **out, const char *file)
{
    viewer_output *o = calloc(1, sizeof(*o));
    int fd, error;

    *out = NULL;
    if (!o || !(o->name = strdup(file))) {
        free(o);
        return pastset_no_memory("to write a file");
    }
    fd = output_open(o);
    o->file = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (!o->file) {
        error = errno;
        if (fd >= 0)
            close(fd);
        if (fd >= 0 && o->part[0])
            unlink(o->part);
        output_free(o);
        return fail(file, error);
    }
    *out = o;
    return 0;
}

FILE *viewer_output_file(viewer_output *output)
{
    return output->file;
}

int viewer_output_end(viewer_output *o, int err)
{
    int error = 0;

    errno = 0;
    if (err && ferror(o->file) && strstr(pastset_error(), strerror(ENOSPC)))
        err = fail(o->name, ENOSPC); /* and not of another file */
    else if (err && ferror(o->file))
        pastset_fail_while(err, "%.400s", o->name);
    if (fclose(o->file) != 0)
        error = errno ? errno : EIO;
    if (!err && !error && o->part[0] && rename(o->part, o->real) != 0)
        error = errno;
    if (o->part[0] && (err || error))
        unlink(o->part);
    if (!err && error)
        err = fail(o->name, error);
    output_free(o);
    return err;
}
