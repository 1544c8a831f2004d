/* unnamed.c - see unnamed.h. */
#include "pastset/unnamed.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PATH_BYTES 4096

int pastset_unnamed_open(const char *file, mode_t mode)
{
    char folder[PATH_BYTES];
    const char *slash = strrchr(file, '/');

    snprintf(folder, sizeof(folder), "%.*s",
             slash ? (int)(slash - file) + 1 : 1, slash ? file : ".");
    return open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, mode);
}

bool pastset_unnamed_name(int fd, const char *file)
{
    char unnamed[40];

    snprintf(unnamed, sizeof(unnamed), "/proc/self/fd/%d", fd);
    return linkat(AT_FDCWD, unnamed, AT_FDCWD, file, AT_SYMLINK_FOLLOW) == 0;
}
