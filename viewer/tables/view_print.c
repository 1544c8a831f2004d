/* view_print.c - see view_print.h. */
#include "viewer/tables/view_print.h"

#include <inttypes.h>
#include <string.h>

#include "viewer/tables/table_print.h"

void viewer_view_narrow(scopes_snapshot_options *options,
                        const scopes_view *view, const scopes_view_input *input,
                        bool has_window)
{
    const char *name = view ? view->name : "";
    bool of_threads = strcmp(name, "communication") == 0;
    bool of_tops = of_threads || strcmp(name, "steps") == 0 ||
                   strcmp(name, "process") == 0;

    options->numbered = input->each;
    options->tops_only = of_tops && has_window;
    if (of_threads || strcmp(name, "tuples") == 0)
        options->threads = input->threads;
}

void viewer_ledger_print(const scopes_ledger *ledger, FILE *file)
{
    fprintf(file,
            "\"events_recorded\":%" PRIu64 ",\"events_read\":%" PRIu64
            ",\"events_filtered\":%" PRIu64 ",\"events_lost\":%" PRIu64,
            ledger->recorded, ledger->read, ledger->filtered, ledger->lost);
}

int viewer_view_print(const scopes_table *table, const scopes_view *view,
                      const scopes_snapshot *snapshot, FILE *file)
{
    int err;

    fprintf(file, "{\"view\":\"%s\",", view->name);
    viewer_ledger_print(&snapshot->event_table->ledger, file);
    fprintf(file, ",\"damaged_processes\":%zu,\"rows\":",
            eventspace_run_damaged(snapshot->run));
    err = viewer_table_print(table, VIEWER_JSON, file);
    putc('}', file);
    return err;
}
