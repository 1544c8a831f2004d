/* sql_run.c - a run, and what its tables need. */
#include "viewer/sql/sql_internal.h"

#include <stdlib.h>
#include <string.h>

#include "pastset/array.h"
#include "pastset/status.h"

struct viewer__sql_run {
    unsigned references; /* of one connection, so of one thread */
    bool owned;
    eventspace_run *run;
    scopes_topology *topology;
    scopes_source *source;
    scopes_snapshot *aligned;  /* of no events, for its clocks; NULL */
    viewer__sql_window *whole; /* the run; NULL: not asked for */
    viewer__sql_window *last;  /* part; NULL */
    scopes_ledger ledger;
    uint64_t strange, messages_damaged;
};

struct viewer__sql_window {
    unsigned references;
    viewer__sql_run *sql; /* borrowed */
    viewer__sql_span span;
    scopes_snapshot *snapshot; /* NULL: not taken yet */
    viewer__sql_made *tables;  /* by position */
    size_t table_count;
};

int viewer__sql_run_create(viewer__sql_run **out, eventspace_run *run,
                           bool owned)
{
    viewer__sql_run *sql = calloc(1, sizeof(*sql));
    int err;

    *out = NULL;
    if (!sql)
        return pastset_no_memory("for the tables of a run");
    sql->references = 1;
    sql->run = run;
    err = scopes_topology_create(&sql->topology, eventspace_run_map(run));
    if (!err)
        err = scopes_source_open(&sql->source, run);
    if (err) {
        viewer__sql_run_unref(sql);
        return err;
    }
    sql->owned = owned;
    *out = sql;
    return 0;
}

viewer__sql_run *viewer__sql_run_ref(viewer__sql_run *sql)
{
    sql->references++;
    return sql;
}

void viewer__sql_run_unref(void *context)
{
    viewer__sql_run *sql = context;

    if (--sql->references > 0)
        return;
    viewer__sql_window_unref(sql->last);
    viewer__sql_window_unref(sql->whole);
    scopes_snapshot_destroy(sql->aligned);
    scopes_source_close(sql->source);
    scopes_topology_destroy(sql->topology);
    if (sql->owned)
        eventspace_run_close(sql->run);
    free(sql);
}

eventspace_run *viewer__sql_run_opened(viewer__sql_run *sql)
{
    return sql->run;
}

const scopes_topology *viewer__sql_topology(viewer__sql_run *sql)
{
    return sql->topology;
}

scopes_source *viewer__sql_source(viewer__sql_run *sql)
{
    return sql->source;
}

scopes_ledger *viewer__sql_ledger(viewer__sql_run *sql)
{
    return &sql->ledger;
}

void viewer__sql_note_strange(viewer__sql_run *sql, uint64_t events)
{
    if (events > sql->strange)
        sql->strange = events;
}

uint64_t viewer__sql_strange(const viewer__sql_run *sql)
{
    return sql->strange;
}

void viewer__sql_note_messages(viewer__sql_run *sql, uint64_t damaged)
{
    sql->messages_damaged = damaged;
}

uint64_t viewer__sql_messages_damaged(const viewer__sql_run *sql)
{
    return sql->messages_damaged;
}

/* Clocks that differ are aligned from all operations between processes, as for
 * a view of the whole run; but no other event is loaded, as there are none so
 * late. */
int viewer__sql_clocks(viewer__sql_run *sql, const scopes_clocks **out)
{
    scopes_snapshot_options options = SCOPES_SNAPSHOT_ALL;
    const scopes_snapshot *whole = sql->whole ? sql->whole->snapshot : NULL;
    int err = 0;

    *out = NULL;
    options.from_ns = options.to_ns = INT64_MAX / 8;
    options.too_many = UINT64_MAX;
    if (!whole && !sql->aligned)
        err = scopes_snapshot_take(&sql->aligned, sql->run, &options);
    if (!err)
        *out = whole ? whole->clocks : sql->aligned->clocks;
    return err;
}

/* --- windows --- */

bool viewer__sql_window_is(const viewer__sql_window *window,
                           viewer__sql_span span)
{
    return window && window->span.from_ns == span.from_ns &&
           window->span.to_ns == span.to_ns &&
           window->span.numbered == span.numbered;
}

int viewer__sql_window_take(viewer__sql_window **out, viewer__sql_run *sql,
                            viewer__sql_span span)
{
    bool all = span.from_ns == INT64_MIN && span.to_ns == INT64_MAX;
    viewer__sql_window **kept = all ? &sql->whole : &sql->last;

    *out = NULL;
    span.numbered &= !all;
    if (!viewer__sql_window_is(*kept, span)) {
        viewer__sql_window *made = calloc(1, sizeof(*made));
        if (!made)
            return pastset_no_memory("for the tables of a run");
        *made = (viewer__sql_window){.references = 1, .sql = sql, .span = span};
        viewer__sql_window_unref(*kept);
        *kept = made;
    }
    *out = *kept;
    (*out)->references++;
    return 0;
}

static void made_fini(viewer__sql_made *made)
{
    size_t columns = made->table ? scopes_table_columns(made->table) : 0;

    for (size_t i = 0; made->indexes && i < columns; i++)
        free(made->indexes[i]);
    free(made->indexes);
    scopes_table_destroy(made->table);
}

void viewer__sql_window_unref(viewer__sql_window *window)
{
    if (!window || --window->references > 0)
        return;
    for (size_t i = 0; i < window->table_count; i++)
        made_fini(&window->tables[i]);
    free(window->tables);
    scopes_snapshot_destroy(window->snapshot);
    free(window);
}

viewer__sql_run *viewer__sql_window_run(viewer__sql_window *window)
{
    return window->sql;
}

/* The clocks that were there before stay those of `event`: queries under way
 * use them. */
int viewer__sql_snapshot(viewer__sql_window *window,
                         const scopes_snapshot **out)
{
    scopes_snapshot_options options = SCOPES_SNAPSHOT_ALL;
    int err = 0;

    options.from_ns = window->span.from_ns;
    options.to_ns = window->span.to_ns;
    options.numbered = window->span.numbered;
    if (!window->snapshot)
        err =
            scopes_snapshot_take(&window->snapshot, window->sql->run, &options);
    *out = window->snapshot;
    return err;
}

viewer__sql_made *viewer__sql_place(viewer__sql_window *window, size_t position)
{
    while (window->table_count <= position) {
        viewer__sql_made *more = pastset_array_grow(
            window->tables, window->table_count, sizeof(*more));
        if (!more)
            return NULL;
        window->tables = more;
        window->tables[window->table_count++] = (viewer__sql_made){0};
    }
    return &window->tables[position];
}
