/* processors_internal.h - how many processors there are for this process. */
#ifndef PATHS_PROCESSORS_INTERNAL_H
#define PATHS_PROCESSORS_INTERNAL_H

#include <stdint.h>

/* How many the calling thread may keep busy: those it is bound to, and no more
 * than the quota of its control group has time for (1.5 processors are 1, as
 * two threads that spin would use it up and then stand still); 1 at least. */
uint32_t paths_processors_count(void);

/* How many processors the control groups of this process have time for, those
 * that it is in and all above them; infinite when none has a quota. All files
 * are looked for below `root`, "" for those of the machine. */
double paths__processors_quota(const char *root);

#endif
