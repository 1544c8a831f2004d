/* archiver.h - the archive scope: writes what a run's processes trace to disk,
 * for as long as the run lasts, so that trace elements can stay small.
 *
 *     tail reader (all processes of this machine) ─► archive writers, one per
 *     process
 *
 * It runs beside the processes, in one that is none of the map's, so that it
 * goes on when one of them is killed, and reads the rest from its file. It says
 * in each stream up to where it is in the archive, so that a process can wait
 * for it. What it comes too late for is counted: by the gaps between blocks,
 * and by what it says of each stream in the end.
 *
 * Threads:   run by one thread; stop, ledger and cost from any.
 * Ownership: create gives, destroy takes back. */
#ifndef SCOPES_ARCHIVER_H
#define SCOPES_ARCHIVER_H

#include "scopes/archive/archive.h"
#include "scopes/reading/tail_reader.h"

typedef struct scopes_archiver scopes_archiver;

/* Opens the run and its archives, which are continued if they are there: of
 * the process of this name, or (NULL) of all.
 * `throttle` NULL: as scopes_throttle says, but an interval of 5 ms, since what
 * comes between two pulls has to have room in the trace elements. Errors: those
 * of eventspace_run_open and scopes_archive_writer_open, PASTSET_ENOENT (no
 * such process), PASTSET_EINVAL (the share). */
int scopes_archiver_create(scopes_archiver **out, const char *directory,
                           const char *process,
                           const scopes_throttle *throttle);
void scopes_archiver_destroy(scopes_archiver *archiver);

/* When `run` ends by itself. */
typedef enum scopes_archiver_until {
    SCOPES_ARCHIVER_END,  /* all processes that have come up here have ended; it
                             waits for the first one to come */
    SCOPES_ARCHIVER_STOP, /* not before stop: who started the processes knows
                             best when they have ended */
    SCOPES_ARCHIVER_ONCE, /* when all that is there now is saved */
} scopes_archiver_until;

/* Gathers and writes, and in the end saves all that is there. Blocks are
 * flushed every second at least.
 * Errors: PASTSET_EIO, PASTSET_ENOSPC, with the name of the file; what was
 * written before stays good. PASTSET_ENOMEM, PASTSET_EFORMAT. It goes on after
 * an error, trying again from time to time, and tells the first one when it
 * ends. */
int scopes_archiver_run(scopes_archiver *archiver, scopes_archiver_until until);
/* Who is told, by the thread that runs it, when something goes wrong, such as a
 * full disk: `text` says what. It is tried again from time to time. */
typedef enum scopes_archiver_answer {
    SCOPES_ARCHIVER_LOSE, /* processes go on; what trace elements have no room
                             for is lost, and counted. Also when nobody is
                             told */
    SCOPES_ARCHIVER_WAIT, /* until it goes well processes wait */
} scopes_archiver_answer;

typedef struct scopes_archiver_guard {
    scopes_archiver_answer (*trouble)(const char *text, void *context);
    /* The processes wait for this archiver: they were started so
     * (eventspace_launch_options.archived). One that runs beside must not tell
     * them what it has saved, or not. */
    bool awaited;
    /* Of processes that wait, and cannot be told that they need not: a space
     * that this process may not read or write. They would wait for ever. */
    void (*hopeless)(const char *text, void *context);
    void *context;
} scopes_archiver_guard;

/* Before run. The guard is copied; each of its functions may be NULL. */
void scopes_archiver_set_guard(scopes_archiver *archiver,
                               const scopes_archiver_guard *guard);

/* It saves what is there and ends. Any thread, and signal handlers. */
void scopes_archiver_stop(scopes_archiver *archiver);

/* After run: recorded = read (saved, also by earlier archivers) + lost,
 * exactly, of all that its processes had made when it ended. While it runs,
 * from any thread: as of the last flush. */
void scopes_archiver_ledger(scopes_archiver *archiver, scopes_ledger *out);
/* After run: what is wrong with the files of a process that ended and could not
 * be read; NULL when each could. */
const char *scopes_archiver_unread(const scopes_archiver *archiver);
/* The same rules. `bytes` are those of the files. */
void scopes_archiver_cost(scopes_archiver *archiver,
                          scopes_tail_reader_cost *out);

#endif
