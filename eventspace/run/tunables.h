/* tunables.h - the tunables of a process (tunable.h) as others see them, in its
 * space.
 *
 * A tunable is an element, "~tunable NAME", with one tuple: what it is at
 * first, and the least and the most that it may be. What it is now is the
 * number that the element is told (pastset/element.h), as the bits of a double.
 *
 * Threads: any, as with elements. */
#ifndef EVENTSPACE_TUNABLES_H
#define EVENTSPACE_TUNABLES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "pastset/element.h"
#include "pastset/space.h"

/* As all that the runtime makes (paths/map/map.h). */
#define EVENTSPACE_TUNABLE_PREFIX "~tunable "
#define EVENTSPACE_TUNABLE_TYPE "f64[3]"
#define EVENTSPACE_TUNABLE_NAME 100 /* bytes at most */

typedef struct eventspace_tunable_bounds {
    double initial, least, most;
} eventspace_tunable_bounds;

/* -0 is 0: nobody has to tell them apart. */
static inline uint64_t eventspace_tunable_bits(double value)
{
    uint64_t bits;

    value = value == 0 ? 0 : value;
    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

static inline double eventspace_tunable_of_bits(uint64_t bits)
{
    double value;

    memcpy(&value, &bits, sizeof(value));
    return value;
}

/* No number is not. */
static inline bool
eventspace_tunable_may_be(const eventspace_tunable_bounds *bounds, double value)
{
    return value >= bounds->least && value <= bounds->most;
}

/* False: the element is no tunable, or is being made. */
bool eventspace_tunable_bounds_read(eventspace_tunable_bounds *out,
                                    pastset_element *element);

typedef struct eventspace_tunable_seen {
    const char *name; /* borrowed from the element */
    eventspace_tunable_bounds bounds;
    double value;
    pastset_element *element;
} eventspace_tunable_seen;

/* The element with that index in its space. False: it is no tunable. */
bool eventspace_tunable_at(eventspace_tunable_seen *out, pastset_space *space,
                           size_t index);

#endif
