/* view_print.h - the tables of views, for programs: what `eventspace view
 * --format json` prints, and what a server sends. */
#ifndef VIEWER_VIEW_PRINT_H
#define VIEWER_VIEW_PRINT_H

#include <stdio.h>

#include "scopes/reading/snapshot.h"
#include "scopes/views/view.h"

/* Of a window (`has_window`), only the tuples that the view is made from are to
 * be read. `view` NULL: all views. */
void viewer_view_narrow(scopes_snapshot_options *options,
                        const scopes_view *view, const scopes_view_input *input,
                        bool has_window);

/* One object, without a newline behind it: the name of the view, what became of
 * the events, and the rows. Errors: those of viewer_table_print. */
int viewer_view_print(const scopes_table *table, const scopes_view *view,
                      const scopes_snapshot *snapshot, FILE *file);

/* What became of the events of a run, as members of a JSON object. */
void viewer_ledger_print(const scopes_ledger *ledger, FILE *file);

#endif
