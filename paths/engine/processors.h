/* processors.h - which processors a process may use, and how many at a time.
 * Threads: any. */
#ifndef PATHS_PROCESSORS_H
#define PATHS_PROCESSORS_H

#include <sched.h>
#include <stdint.h>

/* A set as text: the `affinity` attribute of a process, "0", "0-3", "0,2-3".
 * Errors: PASTSET_EINVAL with a text that says how one is written. */
int paths_processors_parse(cpu_set_t *out, const char *text);

#endif
