/* silence_internal.h - connections that have ended without a word.
 *
 * A machine that vanishes closes nothing. On an idle connection the kernel
 * finds that out by itself (paths__socket_tune); where something is on its way,
 * it would go on sending it for a quarter of an hour. Who is only slow still
 * confirms what it gets.
 *
 * Threads: the loop's. */
#ifndef PATHS_SILENCE_INTERNAL_H
#define PATHS_SILENCE_INTERNAL_H

#include "paths/engine/process_internal.h"

/* Is something on its way to the other side, of which nothing has been heard
 * for long? */
bool paths__socket_is_silent(int fd);
/* Ends the connections that are silent, and, some time after, those to
 * processes that have died: of such as are only said to have died, too. */
void paths__silence_tidy(paths_process *process);

#endif
