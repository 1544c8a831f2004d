/* disk.c - see disk.h. */
#include "eventspace/run/disk.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#define LINE_BYTES 8192

/* A line of mountinfo: "ID PARENT MAJOR:MINOR ROOT WHERE OPTIONS [...] - TYPE
 * WHAT ..." (proc(5)). The last that fits is the one that is seen. */
static void line_take(char *out, size_t capacity, const char *line,
                      unsigned long device)
{
    char where[1024], type[64], what[1024];
    unsigned of_major, of_minor;
    const char *dash = strstr(line, " - ");

    if (dash &&
        sscanf(line, "%*d %*d %u:%u %*s %1023s", &of_major, &of_minor, where) ==
            3 &&
        makedev(of_major, of_minor) == device &&
        sscanf(dash, " - %63s %1023s", type, what) == 2)
        snprintf(out, capacity, "%s (%s, %s)", where, what, type);
}

void eventspace_disk_name(char *out, size_t capacity, const char *path)
{
    char line[LINE_BYTES];
    struct stat status;
    FILE *mounts;

    out[0] = 0;
    if (stat(path, &status) != 0)
        return;
    mounts = fopen("/proc/self/mountinfo", "re");
    if (!mounts)
        return;
    while (fgets(line, sizeof(line), mounts))
        line_take(out, capacity, line, status.st_dev);
    fclose(mounts);
}
