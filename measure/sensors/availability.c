/* availability.c - see availability_internal.h. */
#include "measure/sensors/availability_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "measure/load/load_internal.h"
#include "pastset/status.h"

#define STAT "/proc/stat"
#define ROOM_BYTES 65536 /* at first: it grows with the processors */

struct measure__sensor {
    int fd; /* of /proc/stat */
    int processor;
    uint32_t processors;
    char *text;
    size_t room;
    double sum; /* of what was seen since the last time */
    uint32_t looks;
    measure__ticks ticks; /* then */
};

/* --- /proc/stat --- */

static bool line_find(const char **at, const char *text, const char *key)
{
    size_t bytes = strlen(key);

    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, key, bytes) == 0 && line[bytes] == ' ') {
            *at = line + bytes;
            return true;
        }
        if (!*line)
            break;
    }
    return false;
}

int measure__stat_read(measure__stat *out, const char *text, int processor)
{
    char key[16] = "cpu";
    uint64_t given[8] = {0}; /* user, nice, system, idle, iowait, irq, softirq,
                                steal */
    const char *at;

    *out = (measure__stat){0};
    if (!line_find(&at, text, "procs_running"))
        return pastset_fail(PASTSET_EFORMAT,
                            STAT " does not tell how many threads run");
    out->running = (uint32_t)strtoul(at, NULL, 10);
    if (processor >= 0)
        snprintf(key, sizeof(key), "cpu%d", processor);
    if (!line_find(&at, text, key))
        return pastset_fail(PASTSET_EINVAL, "there is no processor %d",
                            processor);
    for (int i = 0; i < 8; i++) {
        char *end;
        given[i] = strtoull(at, &end, 10);
        out->ticks.all += given[i];
        at = end;
    }
    out->ticks.stolen = given[7];
    return 0;
}

static int room_double(measure__sensor *a)
{
    char *text = realloc(a->text, a->room * 2);

    if (!text)
        return pastset_no_memory("for a sensor");
    a->text = text;
    a->room *= 2;
    return 0;
}

static int stat_now(measure__sensor *a, measure__stat *out)
{
    size_t used = 0;
    ssize_t got = -1;
    int err = 0;

    if (lseek(a->fd, 0, SEEK_SET) < 0)
        return pastset_fail(PASTSET_ENOTSUP, STAT ": %s", strerror(errno));
    while (!err && got != 0) {
        got = read(a->fd, a->text + used, a->room - 1 - used);
        if (got < 0 && errno != EINTR)
            return pastset_fail(PASTSET_ENOTSUP, STAT ": %s", strerror(errno));
        used += got > 0 ? (size_t)got : 0;
        if (used + 1 == a->room)
            err = room_double(a);
    }
    a->text[used] = 0;
    return err ? err : measure__stat_read(out, a->text, a->processor);
}

/* --- shares --- */

double measure__availability(uint32_t others, uint32_t processors)
{
    return fmin(1, (double)processors / (others + 1.0));
}

double measure__availability_left(measure__ticks from, measure__ticks to)
{
    uint64_t all = to.all - from.all, stolen = to.stolen - from.stolen;

    return to.all > from.all && to.stolen >= from.stolen && stolen <= all
               ? 1 - (double)stolen / (double)all
               : 1;
}

static uint32_t processors_here(int processor)
{
    long online = processor < 0 ? sysconf(_SC_NPROCESSORS_ONLN) : 1;

    return online > 0 ? (uint32_t)online : 1;
}

/* --- the sensor --- */

int measure__sensor_open(measure__sensor **out, int processor)
{
    measure__sensor *a = calloc(1, sizeof(*a));
    measure__stat now;
    int err = 0;

    if (!a)
        return pastset_no_memory("for a sensor");
    a->processor = processor;
    a->processors = processors_here(processor);
    a->room = ROOM_BYTES;
    a->text = malloc(a->room);
    a->fd = open(STAT, O_RDONLY | O_CLOEXEC);
    if (!a->text)
        err = pastset_no_memory("for a sensor");
    else if (a->fd < 0)
        err = pastset_fail(PASTSET_ENOTSUP, STAT ": %s", strerror(errno));
    else
        err = stat_now(a, &now);
    if (err) {
        measure__sensor_close(a);
        return err;
    }
    a->ticks = now.ticks;
    *out = a;
    return 0;
}

void measure__sensor_close(measure__sensor *a)
{
    if (!a)
        return;
    if (a->fd >= 0)
        close(a->fd);
    free(a->text);
    free(a);
}

int measure__sensor_look(measure__sensor *a)
{
    measure__stat now;
    unsigned others;
    int err;

    if (a->processor >= 0) {
        err = measure__threads_running(&others, a->processor);
    } else {
        err = stat_now(a, &now);
        others = now.running > 0 ? now.running - 1 : 0; /* but for us */
    }
    if (err)
        return err;
    a->sum += measure__availability(others, a->processors);
    a->looks++;
    return 0;
}

int measure__sensor_take(measure__sensor *a, double *share)
{
    measure__stat now;
    int err = stat_now(a, &now);

    if (err)
        return err;
    if (a->looks == 0)
        return pastset_fail(PASTSET_ENOENT,
                            "nothing has been seen of the processors yet");
    *share =
        a->sum / a->looks * measure__availability_left(a->ticks, now.ticks);
    a->sum = 0;
    a->looks = 0;
    a->ticks = now.ticks;
    return 0;
}
