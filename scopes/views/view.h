/* view.h - views: functions from a path map, trace tuples and clocks to a
 * table.
 *
 * Paper 004, section 4.5. Each view is a file of views/, whose head says what
 * its rows and columns mean. All of them exist for a whole run, for a run that
 * was cut short, and for a window of one that goes on: what is not there is not
 * told, and the ledger of the event table says how much that is.
 *
 * Threads:   any, each with its own table. */
#ifndef SCOPES_VIEW_H
#define SCOPES_VIEW_H

#include "paths/map/number_list.h"
#include "scopes/clocks/clock.h"
#include "scopes/causality/in_flight.h"
#include "scopes/causality/rounds.h"
#include "scopes/causality/off_processor.h"
#include "scopes/reading/event_table.h"
#include "scopes/reading/snapshot.h"
#include "scopes/tables/table.h"
#include "scopes/causality/topology.h"

/* What a view is made from. */
typedef struct scopes_view_input {
    const paths_map *map;
    const scopes_topology *topology;
    const scopes_event_table *event_table;
    const scopes_clocks *clocks;
    bool each; /* a row for each round, operation or step rather than
                  sums over all of them */
    /* Only what is of the threads with these numbers; NULL: all. Views that
     * have no threads take no notice. */
    const paths_number_list *threads;
    const char *of; /* only what is of the element, wrapper or proxy of
                       this name; NULL: all */
    const scopes_pending_list *pending; /* NULL: nothing is known of it */
    const eventspace_run
        *run; /* for what its processes define; NULL: nothing */
    const scopes_scheduling *scheduling; /* NULL: the same */
} scopes_view_input;

/* All of a look at a run. What it refers to is the snapshot's. */
scopes_view_input scopes_view_input_of(const scopes_snapshot *snapshot);

typedef struct scopes_view {
    const char *name;    /* "last-arriver" */
    const char *summary; /* one line, without a full stop */
    const char *each;    /* what a row is with `each`; NULL: there is no such */
    const scopes_column *columns;
    size_t column_count;
    const scopes_column *each_columns;
    size_t each_column_count;
    /* Adds the rows. Errors: PASTSET_ENOMEM. */
    int (*make)(scopes_table *out, const scopes_view_input *view_input);
    bool collective;        /* its rows are of collective wrappers only */
    bool eventless;         /* it needs no events */
    const char *when_empty; /* why it has no rows of a run that has events;
                               NULL: nothing is to be said */
    /* When several are made: those of a lower turn are begun first. -1: it
     * takes longest; 1: it needs what another makes, too, and would wait. */
    int turn;
} scopes_view;

/* NULL when there is none of that name / past the last. */
const scopes_view *scopes_view_find(const char *name);
const scopes_view *scopes_view_at(size_t position);

/* Makes the table, with the columns that belong to `view_input->each`. The
 * caller destroys it before event table, clocks, topology and map. Errors:
 * PASTSET_ENOMEM, PASTSET_ENOENT (no thread, or nothing in the map, of the name
 * that was asked for), PASTSET_EINVAL (`each`, but the view has no such rows).
 */
int scopes_view_make(scopes_table **out, const scopes_view *view,
                     const scopes_view_input *view_input);

/* Makes `count` views at once, on all processors, where what several of them
 * need is made once. `each` is only taken from `view_input` for those that have
 * such rows. The event table must not be used by others meanwhile. The caller
 * destroys all tables. After an error there is none. Errors: as above. */
int scopes_views_make(scopes_table **out, const scopes_view *const *list,
                      size_t count, const scopes_view_input *view_input);

#endif
