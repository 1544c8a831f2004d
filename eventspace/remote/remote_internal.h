/* remote_internal.h - between remote.c and remote_job.c, and a task without a
 * command, for tests. */
#ifndef EVENTSPACE_REMOTE_INTERNAL_H
#define EVENTSPACE_REMOTE_INTERNAL_H

#include "eventspace/remote/remote.h"

/* A task that is whatever is at the other end of a socket, which is taken over.
 * Errors: PASTSET_ENOMEM. */
int eventspace__remote_of(eventspace_remote **out, const char *name, int fd);

/* For texts. */
const char *eventspace__remote_name(const eventspace_remote *task);

#endif
