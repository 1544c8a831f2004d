/* disk.c - see disk.h. */
#include "eventspace/run/disk.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#define LINE_BYTES 8192

/* Is `path` this folder, or in it? */
static bool is_in(const char *path, const char *folder)
{
    size_t length = strlen(folder);

    if (length > 0 && folder[length - 1] == '/')
        length--;
    return strncmp(path, folder, length) == 0 &&
           (path[length] == '/' || path[length] == 0);
}

/* A line of mountinfo: "ID PARENT MAJOR:MINOR ROOT WHERE OPTIONS [...] - TYPE
 * WHAT ..." (proc(5)). One file system may be seen at several places: the
 * deepest that the path is in counts, and of those the last, which hides the
 * others. */
static void line_take(char *out, size_t capacity, const char *line,
                      unsigned long device, const char *path, size_t *depth)
{
    char where[1024], type[64], what[1024];
    unsigned of_major, of_minor;
    const char *dash = strstr(line, " - ");

    if (!dash ||
        sscanf(line, "%*d %*d %u:%u %*s %1023s", &of_major, &of_minor, where) !=
            3 ||
        makedev(of_major, of_minor) != device || !is_in(path, where) ||
        strlen(where) < *depth ||
        sscanf(dash, " - %63s %1023s", type, what) != 2)
        return;
    *depth = strlen(where);
    snprintf(out, capacity, "%s (%s, %s)", where, what, type);
}

void eventspace_disk_name(char *out, size_t capacity, const char *path)
{
    char line[LINE_BYTES], real[PATH_MAX];
    struct stat status;
    size_t depth = 0;
    FILE *mounts;

    out[0] = 0;
    if (stat(path, &status) != 0 || !realpath(path, real))
        return;
    mounts = fopen("/proc/self/mountinfo", "re");
    if (!mounts)
        return;
    while (fgets(line, sizeof(line), mounts))
        line_take(out, capacity, line, status.st_dev, real, &depth);
    fclose(mounts);
}
