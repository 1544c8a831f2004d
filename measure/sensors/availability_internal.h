/* availability_internal.h - the share of a processor that one more busy thread
 * would get, now and on average.
 *
 * With n threads that run or are ready on p processors it would get
 * min(1, p/(n+1)), as the scheduler shares in equal parts (002, 1.1; the
 * Network Weather Service calls it the availability). A look counts them; a
 * value is the mean of many looks, at times that do not keep step with
 * anything. What the host of a virtual machine took away is taken off.
 *
 * A look costs some microseconds where all processors are looked at: the kernel
 * has the number. For one processor all threads of the machine are gone
 * through.
 *
 * Threads:   one thread per sensor.
 * Ownership: open gives, close takes back. */
#ifndef MEASURE_AVAILABILITY_INTERNAL_H
#define MEASURE_AVAILABILITY_INTERNAL_H

#include <stdint.h>

#include "measure/load/load_internal.h"

typedef struct measure__sensor measure__sensor;

/* `processor`: -1: all of the machine. Errors: PASTSET_EINVAL (no
 * such processor), PASTSET_ENOTSUP (no /proc), PASTSET_ENOMEM. */
int measure__sensor_open(measure__sensor **out, int processor);
/* NULL is allowed. */
void measure__sensor_close(measure__sensor *sensor);

/* Errors: PASTSET_ENOTSUP. */
int measure__sensor_look(measure__sensor *sensor);
/* The mean of the looks since the last time. Errors: PASTSET_ENOENT (there was
 * none), PASTSET_ENOTSUP. */
int measure__sensor_take(measure__sensor *sensor, double *share);

/* The share of one processor that one more thread gets. */
double measure__availability(double others, uint32_t processors);
/* The part of the time between that was not stolen. */
double measure__availability_left(measure__ticks from, measure__ticks to);

#endif
