/* ticks_internal.h - what the kernel thinks of the processor's counter. */
#ifndef EVENTSPACE_TICKS_INTERNAL_H
#define EVENTSPACE_TICKS_INTERNAL_H

#include <stdbool.h>

/* Does the kernel go by the time stamp counter, or could it? `current` and
 * `available` are the texts of its files in sysfs; NULL: cannot be read.
 * Without its word that of the processor has to do. */
bool eventspace__ticks_believed(const char *current, const char *available);

/* The same of this machine, now. */
bool eventspace__ticks_believed_now(void);

/* The counter is in use, and the kernel has come to reject it since. */
bool eventspace__ticks_rejected(void);

#endif
