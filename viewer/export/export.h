/* export.h - a run in the formats of other tools.
 *
 * Nothing of a run is kept in memory but what is under way at a moment: events
 * go from the files of the run to the output. Formats that want them in the
 * order of their times have them sorted on disk, in TMPDIR (export_sort.c).
 *
 * Threads: one thread per run. */
#ifndef VIEWER_EXPORT_H
#define VIEWER_EXPORT_H

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>

#include "eventspace/run/run.h"
#include "paths/map/number_list.h"
#include "scopes/reading/source.h"

typedef enum viewer_export_format {
    VIEWER_EXPORT_CHROME,
    VIEWER_EXPORT_PERFETTO,
    VIEWER_EXPORT_OTF2,
    VIEWER_EXPORT_CSV,
    VIEWER_EXPORT_JSONL,
    VIEWER_EXPORT_PROMETHEUS,
} viewer_export_format;

/* Which part of the run: as views have it (scopes/reading/snapshot.h). The
 * lists are borrowed. */
typedef struct viewer_export_options {
    int64_t from_ns, to_ns; /* INT64_MIN, INT64_MAX: all */
    int64_t last_ns;        /* if > 0, instead of these */
    const paths_number_list *threads, *collectors; /* NULL: all */
    const bool *processes;                         /* of the map; NULL: all */
} viewer_export_options;

/* Set by whoever wants an export to end, such as a signal's handler: then it
 * fails with PASTSET_ECANCELED. */
extern volatile sig_atomic_t viewer_export_stop;

/* Writes the run to `file`, which is flushed; not of OTF2, which is many files.
 * `ledger`: what became of the events.
 * Errors: PASTSET_EIO, PASTSET_ENOSPC (also of TMPDIR), PASTSET_ENOMEM, those
 * of scopes_snapshot_take. */
int viewer_export(eventspace_run *run, viewer_export_format format,
                  const viewer_export_options *options, FILE *file,
                  scopes_ledger *ledger);
/* Writes it as OTF2 to a directory that is there and empty. Errors: as above.
 * After an error there may be files in it. */
int viewer_export_otf2(eventspace_run *run,
                       const viewer_export_options *options,
                       const char *directory, scopes_ledger *ledger);

#endif
