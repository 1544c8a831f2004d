/* archiver.h - the archive scope: writes what a run's hosts trace to disk, for
 * as long as the run lasts, so that trace elements can stay small.
 *
 *     feed (all hosts of this machine) ─► archive writers, one per host
 *
 * It runs beside the hosts, in a process that is none of them, so that it goes
 * on when one of them is killed, and reads the rest from its file.
 *
 * Threads:   run by one thread; stop from any.
 * Ownership: create gives, destroy takes back. */
#ifndef SCOPES_ARCHIVER_H
#define SCOPES_ARCHIVER_H

#include "scopes/archive.h"
#include "scopes/feed.h"

typedef struct scopes_archiver scopes_archiver;

/* Opens the run and its archives, which are continued if they are there.
 * Errors: those of eventspace_run_open and scopes_archive_create. */
int scopes_archiver_create(scopes_archiver **out, const char *directory,
                           const scopes_pace *pace);
void scopes_archiver_destroy(scopes_archiver *archiver);

/* Gathers and writes until every host that is on this machine has ended and
 * all of its tuples are saved, or until stopped. Blocks are flushed every
 * second at least.
 * Errors: PASTSET_EIO, PASTSET_ENOSPC: it names the file. What was written
 * before stays good. */
int scopes_archiver_run(scopes_archiver *archiver);
/* All hosts have ended: it saves what is left and ends. Any thread. */
void scopes_archiver_stop(scopes_archiver *archiver);

/* made = archived (seen) + missed, exactly, after run. */
void scopes_archiver_ledger(const scopes_archiver *archiver,
                            scopes_ledger *out);
void scopes_archiver_cost(const scopes_archiver *archiver,
                          scopes_feed_cost *out);

#endif
