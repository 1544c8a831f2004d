/* availability.c - see availability_internal.h. */
#include "measure/sensors/availability_internal.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "pastset/status.h"

struct measure__sensor {
    int processor;
    uint32_t processors;
    double sum; /* of what was seen since the last time */
    uint32_t looks;
    measure__ticks ticks; /* then */
};

/* --- shares --- */

double measure__availability(double others, uint32_t processors)
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
    measure__ticks now;
    int err;

    if (!a)
        return pastset_no_memory("for a sensor");
    err = measure__ticks_now(&now, processor);
    if (err) {
        free(a);
        return err;
    }
    a->processor = processor;
    a->processors = processors_here(processor);
    a->ticks = now;
    *out = a;
    return 0;
}

void measure__sensor_close(measure__sensor *a)
{
    free(a);
}

int measure__sensor_look(measure__sensor *a)
{
    unsigned others = 0;
    measure__competitors now = {0};
    int err = a->processor >= 0 ? measure__competitors_now(&now, a->processor)
                                : measure__running_now(&others);

    if (!err && a->processor < 0 && others > 0)
        others--; /* but for us */
    if (err)
        return err;
    a->sum += measure__availability(a->processor >= 0 ? now.load : others,
                                    a->processors);
    a->looks++;
    return 0;
}

int measure__sensor_take(measure__sensor *a, double *share)
{
    measure__ticks now;
    int err = measure__ticks_now(&now, a->processor);

    if (err)
        return err;
    if (a->looks == 0)
        return pastset_fail(PASTSET_ENOENT,
                            "nothing has been seen of the processors yet");
    *share = a->sum / a->looks * measure__availability_left(a->ticks, now);
    a->sum = 0;
    a->looks = 0;
    a->ticks = now;
    return 0;
}
