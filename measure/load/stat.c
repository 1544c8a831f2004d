/* stat.c - what /proc/stat and /proc/loadavg say. */
#include "measure/load/load_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pastset/status.h"

#define STAT "/proc/stat"
#define AVERAGE "/proc/loadavg"

size_t measure__slurp(int folder, const char *name, char *text, size_t capacity)
{
    int fd = openat(folder, name, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? 0 : read(fd, text, capacity - 1);
    if (fd >= 0)
        close(fd);
    text[got > 0 ? got : 0] = 0;
    return got > 0 ? (size_t)got : 0;
}

/* Behind a word at the begin of a line, or NULL. */
static const char *behind(const char *line, const char *word)
{
    size_t bytes = strlen(word);

    return strncmp(line, word, bytes) == 0 && line[bytes] == ' ' ? line + bytes
                                                                 : NULL;
}

/* user, nice, system, idle, iowait, irq, softirq, steal; what guests have is in
 * user. */
static measure__ticks ticks_read(const char *at)
{
    measure__ticks ticks = {0};

    for (int i = 0; i < 8; i++) {
        char *end;
        uint64_t given = strtoull(at, &end, 10);
        ticks.all += given;
        if (i == 3 || i == 4)
            ticks.idle += given;
        if (i == 7)
            ticks.stolen = given;
        at = end;
    }
    return ticks;
}

int measure__ticks_read(measure__ticks *out, FILE *file, int processor)
{
    char word[16] = "cpu", *line = NULL;
    const char *at = NULL;
    size_t room = 0;

    if (processor >= 0)
        snprintf(word, sizeof(word), "cpu%d", processor);
    while (!at && getline(&line, &room, file) > 0)
        if ((at = behind(line, word)))
            *out = ticks_read(at);
    free(line);
    return at ? 0
              : pastset_fail(PASTSET_EINVAL, "there is no processor %d",
                             processor);
}

int measure__ticks_now(measure__ticks *out, int processor)
{
    FILE *file = fopen(STAT, "re");
    int err;

    if (!file)
        return pastset_fail(PASTSET_ENOTSUP, STAT ": %s", strerror(errno));
    err = measure__ticks_read(out, file, processor);
    fclose(file);
    return err;
}

/* "0.20 0.18 0.12 3/803 11206" */
int measure__running_read(unsigned *out, const char *text)
{
    return sscanf(text, "%*f %*f %*f %u/", out) == 1
               ? 0
               : pastset_fail(PASTSET_ENOTSUP,
                              AVERAGE " does not tell how many threads run");
}

/* Some microseconds; the same number in /proc/stat costs a hundred. */
int measure__running_now(unsigned *out)
{
    char text[128];

    if (!measure__slurp(AT_FDCWD, AVERAGE, text, sizeof(text)))
        return pastset_fail(PASTSET_ENOTSUP, AVERAGE ": %s", strerror(errno));
    return measure__running_read(out, text);
}
