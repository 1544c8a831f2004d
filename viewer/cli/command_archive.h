/* command_archive.h - archiving in a thread, for `eventspace archive` and for
 * `eventspace run --archive`. */
#ifndef VIEWER_COMMAND_ARCHIVE_H
#define VIEWER_COMMAND_ARCHIVE_H

#include <pthread.h>

#include "scopes/archive/archiver.h"
#include "viewer/cli/command.h"

/* What becomes of a run whose archive cannot be written, as its disk is full:
 * it goes on and loses events, it waits for room, or it ends. */
typedef enum command_when_full {
    COMMAND_LOSE,
    COMMAND_WAIT,
    COMMAND_END,
} command_when_full;

/* The longest interval between two looks for new events. */
#define COMMAND_INTERVAL_MS 3600000

typedef struct command_archiving {
    const char *directory;
    const char *process; /* NULL: of all */
    scopes_throttle throttle;
    scopes_archiver_until until;
    command_when_full when_full;
    const char *_Atomic *end; /* of a run whose processes wait for the archive:
                                 takes the reason why it is to end. NULL: this
                                 is no such run */
    /* What follows is filled in. */
    scopes_archiver *archiver; /* NULL: it could not be made */
    pthread_t thread;
    bool running;
    bool failed;
    bool told; /* of the first trouble */
} command_archiving;

/* Starts the thread, which takes no signals. When it fails, then or later, it
 * says so on standard error, at once.
 * COMMAND_OK or COMMAND_FAILED. */
int cli_archiving_start(command_archiving *archiving);
/* Waits for its end; on a terminal it tells meanwhile how far it is. Then one
 * line says what was archived. COMMAND_OK or COMMAND_FAILED. */
int cli_archiving_end(command_archiving *archiving);

#endif
