/* pack_fail.c - what ends packing and unpacking: a signal, the disk, and what
 * libarchive says. */
#include "viewer/pack/pack_internal.h"

#include <archive.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "eventspace/run/disk.h"
#include "pastset/status.h"

volatile sig_atomic_t viewer_pack_stop;

int viewer__pack_stopped(void)
{
    return viewer_pack_stop ? pastset_fail(PASTSET_ECANCELED, "interrupted")
                            : 0;
}

bool viewer__pack_is_full(int error)
{
    return error == ENOSPC || error == EDQUOT;
}

/* Of a file that is there or is to be made. */
static void disk_name(char *out, size_t capacity, const char *file)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(file, '/');

    snprintf(folder, sizeof(folder), "%.*s",
             slash ? (int)(slash - file) + 1 : 1, slash ? file : ".");
    eventspace_disk_name(out, capacity,
                         access(file, F_OK) == 0 ? file : folder);
}

int viewer__pack_fail(struct archive *from, const char *file)
{
    int error = archive_errno(from);
    const char *text = archive_error_string(from);
    char where[2048] = "";
    int status = PASTSET_EIO;

    if (viewer_pack_stop)
        return viewer__pack_stopped();
    if (viewer__pack_is_full(error)) {
        disk_name(where, sizeof(where), file);
        status = PASTSET_ENOSPC;
        text = strerror(error);
    } else if (error == ENOMEM) {
        status = PASTSET_ENOMEM;
    }
    return pastset_fail(status, "%s: %s%s%s", file,
                        text ? text : strerror(error),
                        *where ? ", on the file system " : "", where);
}
