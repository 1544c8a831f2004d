/* watch.h - looks at a run from outside, again and again, whether threads of it
 * wait for each other for ever (scopes/views/deadlocks.c).
 *
 * Only notes of what threads are in are read, and events only if some seem to
 * hang: the program is not stopped, asked or slowed. A deadlock is told when
 * threads are found in it that were in the same operations at the look before.
 *
 * Threads:   one.
 * Ownership: create gives it to you, destroy takes it back. */
#ifndef VIEWER_WATCH_H
#define VIEWER_WATCH_H

#include <stdbool.h>

typedef struct viewer_watch viewer_watch;

/* Of a run that may not be there yet. What another run has left in the
 * directory before is not told. Errors: PASTSET_ENOMEM. */
int viewer_watch_create(viewer_watch **out, const char *directory);
void viewer_watch_destroy(viewer_watch *watch);

/* Looks; unless the look is to be `whole`, most of the time only at whether
 * anybody stands still, and about once in ten times at the files of the run.
 * Lines to be told, valid until the next look: "rank_3 waits in MPI_Recv
 * from rank_1 at solve.f90:214, tag 7, for rank_1 (in MPI_Barrier at
 * main.f90:88)"; NULL: there is no deadlock, as far as can be known now. */
const char *viewer_watch_look(viewer_watch *watch, bool whole);
/* As the last whole look has found it. */
bool viewer_watch_is_running(const viewer_watch *watch);

#endif
