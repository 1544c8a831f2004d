/* stat.c - what /proc/stat says. */
#include "measure/load/load_internal.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "pastset/status.h"

#define STAT "/proc/stat"

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

int measure__stat_read(measure__stat *out, FILE *file, int processor)
{
    bool has_ticks = false, has_running = false;
    char word[16] = "cpu", *line = NULL;
    size_t room = 0;

    if (processor >= 0)
        snprintf(word, sizeof(word), "cpu%d", processor);
    *out = (measure__stat){0};
    while (!(has_ticks && has_running) && getline(&line, &room, file) > 0) {
        const char *at;
        if ((at = behind(line, word))) {
            out->ticks = ticks_read(at);
            has_ticks = true;
        } else if ((at = behind(line, "procs_running"))) {
            out->running = (uint32_t)strtoul(at, NULL, 10);
            has_running = true;
        }
    }
    free(line);
    if (!has_ticks)
        return pastset_fail(PASTSET_EINVAL, "there is no processor %d",
                            processor);
    return has_running ? 0
                       : pastset_fail(PASTSET_ENOTSUP, STAT
                                      " does not tell how many threads run");
}

int measure__stat_now(measure__stat *out, int processor)
{
    FILE *file = fopen(STAT, "re");
    int err;

    if (!file)
        return pastset_fail(PASTSET_ENOTSUP, STAT ": %s", strerror(errno));
    err = measure__stat_read(out, file, processor);
    fclose(file);
    return err;
}
