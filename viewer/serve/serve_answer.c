/* serve_answer.c - what takes long, made of a run as it is now.
 *
 * A run that goes on is opened each time: what is added to its map would make
 * what is known of it wrong. */
#include "viewer/serve/run_server_internal.h"

#include <stdio.h>
#include <stdlib.h>

#include "eventspace/options/node_list.h"
#include "pastset/status.h"
#include "pastset/text.h"
#include "viewer/report/report.h"
#include "viewer/tables/facts.h"
#include "viewer/tables/table_print.h"
#include "viewer/tables/view_print.h"

typedef struct making {
    const viewer_serve_run *run;
    const viewer__asked *asked;
    const viewer_serve_panels *more;
    eventspace_run *opened;
    FILE *file;
} making;

/* --- views --- */

static int print_view(const making *m, const paths_number_list *threads)
{
    scopes_snapshot_options window = viewer__asked_window(m->asked);
    scopes_view_input choice = {.each = m->asked->detail,
                                .threads = threads->count ? threads : NULL};
    scopes_view_input input;
    scopes_snapshot *snapshot;
    scopes_table *table;
    int err;

    viewer_view_narrow(&window, m->asked->view, &choice,
                       m->asked->from_ns != INT64_MIN ||
                           m->asked->to_ns != INT64_MAX ||
                           m->asked->last_ns > 0);
    err = scopes_snapshot_take(&snapshot, m->opened, &window);
    if (err)
        return err;
    input = scopes_view_input_of(snapshot);
    input.each = choice.each;
    input.threads = choice.threads;
    input.of = *m->asked->name ? m->asked->name : NULL;
    err = scopes_view_make(&table, m->asked->view, &input);
    if (!err) {
        err = viewer_view_print(table, m->asked->view, snapshot, m->file);
        scopes_table_destroy(table);
    }
    scopes_snapshot_destroy(snapshot);
    return err;
}

static int make_view(const making *m)
{
    paths_number_list threads = {0};
    int err = 0;

    if (*m->asked->threads)
        err = eventspace_node_list_read(
            &threads, m->asked->threads, &eventspace_kind_threads,
            eventspace_run_map(m->opened), m->run->name);
    if (!err)
        err = print_view(m, &threads);
    paths_number_list_fini(&threads);
    return err;
}

/* --- all of them --- */

static int make_report(const making *m, bool *has_map)
{
    scopes_snapshot_options window = viewer__asked_window(m->asked);
    viewer_report_run of = {.run = m->opened, .name = m->run->name};
    void *made = NULL;
    int err = 0;

    if (m->more->make)
        err = m->more->make(&made, &of, m->more->context);
    if (!err)
        err = viewer_report_print(&of, &window, has_map, m->file);
    if (made)
        m->more->end(made);
    return err;
}

/* Where a process has told nothing yet, all is still to come: so it is when a
 * run has just taken the place of another one. */
static bool is_over(const eventspace_run *run)
{
    for (size_t i = 0; i < eventspace_run_process_count(run); i++)
        if (!eventspace_run_process_at(run, i)->has_meta)
            return false;
    return !viewer_is_running(run);
}

static int make(making *m, bool *over)
{
    bool has_map = true;
    int err = eventspace_run_open(&m->opened, m->run->directory);

    if (err)
        return err;
    /* Before it is read: then it was all there. What could not be read, or
     * drawn, may be the next time. */
    *over = is_over(m->opened);
    err = m->asked->kind == VIEWER__ASKED_REPORT ? make_report(m, &has_map)
                                                 : make_view(m);
    *over = *over && has_map && eventspace_run_damaged(m->opened) == 0;
    eventspace_run_close(m->opened);
    return err;
}

int viewer__answer_make(viewer_server *server, const viewer__asked *asked,
                        char **text, size_t *bytes, bool *over)
{
    making m = {.run = &server->runs[asked->run],
                .asked = asked,
                .more = &server->panels,
                .file = pastset_text_begin(text, bytes)};
    int err;

    *over = false;
    if (!m.file)
        return pastset_no_memory("for an answer");
    err = asked->kind == VIEWER__ASKED_HISTORY
              ? viewer__live_print_history(server, asked->run, m.file, over)
              : make(&m, over);
    if (!pastset_text_end(m.file) && !err)
        err = pastset_no_memory("for an answer");
    return err;
}
