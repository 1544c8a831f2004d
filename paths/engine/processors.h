/* processors.h - which processors a host may use, and how many at a time.
 * Threads: any. */
#ifndef PATHS_PROCESSORS_H
#define PATHS_PROCESSORS_H

#include <sched.h>
#include <stdint.h>

/* A set as text: the `affinity` attribute of a host, "0", "0-3", "0,2-3".
 * Errors: PASTSET_EINVAL with a text that says how one is written. */
int paths_processors_parse(cpu_set_t *out, const char *text);

/* How many the calling thread may keep busy: those it is bound to, and no more
 * than the quota of its control group has time for (1.5 processors are 1, as
 * two threads that spin would use it up and then stand still); 1 at least. */
uint32_t paths_processors_count(void);

#endif
