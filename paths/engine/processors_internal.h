/* processors_internal.h - the processor quota of a control group. */
#ifndef PATHS_PROCESSORS_INTERNAL_H
#define PATHS_PROCESSORS_INTERNAL_H

/* How many processors the control groups of this process have time for, those
 * that it is in and all above them; infinite when none has a quota. All files
 * are looked for below `root`, "" for those of the machine. */
double paths__processors_quota(const char *root);

#endif
