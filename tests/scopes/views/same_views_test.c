/* same_views_test.c - each view of runs of different kinds comes to what it has
 * always come to (same_views.txt, a sum for each table), whether it is made
 * alone or together with all others, and with whatever memory.
 *
 * When a view is to change, EVENTSPACE_SAME_VIEWS=FILE writes the new sums. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "scopes/reading/snapshot.h"
#include "scopes/views/view.h"
#include "tests/scopes/views/made_runs.h"
#include "tests/support/check.h"
#include "tests/support/scratch.h"
#ifndef SAME_VIEWS_OLD
#include "scopes/memory/memory_internal.h"
#endif

TestSuite(same_views, .init = scratch_make, .fini = scratch_remove,
          .timeout = 300);

#define SUMS TEST_SOURCE_DIR "/scopes/views/same_views.txt"
#define VIEWS_MAX 64

/* --- a table as a number --- */

static uint64_t sum_add(uint64_t sum, const char *text)
{
    for (; *text; text++)
        sum = (sum ^ (unsigned char)*text) * UINT64_C(1099511628211);
    return (sum ^ ',') * UINT64_C(1099511628211);
}

static uint64_t sum_of(const scopes_table *table)
{
    uint64_t sum = UINT64_C(14695981039346656037);
    char text[64];

    for (size_t row = 0; row < scopes_table_rows(table); row++) {
        for (size_t i = 0; i < scopes_table_columns(table); i++) {
            const scopes_column *column = scopes_table_column(table, i);
            scopes_cell cell = scopes_table_cell(table, row, i);
            if (column->kind == SCOPES_SHARE || column->kind == SCOPES_REAL)
                snprintf(text, sizeof(text), "%.9g", cell.real);
            else if (column->kind != SCOPES_TEXT)
                snprintf(text, sizeof(text), "%" PRId64, cell.integer);
            sum = sum_add(sum, column->kind == SCOPES_TEXT ? cell.text : text);
        }
    }
    return sum;
}

static char *line_of(const made_run *run, const scopes_view *view, bool each,
                     const scopes_table *table)
{
    char *line;

    cr_assert_gt(asprintf(&line, "%s: %s%s, %zu rows, %016" PRIx64 "\n",
                          run->name, view->name, each ? " each" : "",
                          scopes_table_rows(table), sum_of(table)),
                 0);
    return line;
}

/* --- what it was --- */

static char *known; /* all of the file */
static FILE *written;

static void check(char *line)
{
    if (written)
        fputs(line, written);
    else
        cr_expect(strstr(known, line), "this was different: %s", line);
    free(line);
}

static void known_read(void)
{
    const char *out = getenv("EVENTSPACE_SAME_VIEWS");
    size_t bytes;

    known = file_read(SUMS, &bytes);
    written = out ? fopen(out, "we") : NULL;
}

static void known_end(void)
{
    free(known);
    if (written)
        fclose(written);
}

/* --- looking --- */

static const char *directory_make(const made_run *kind)
{
    const char *directory = scratch_file("run %s", kind->name);

    cr_assert_eq(mkdir(directory, 0700), 0);
    made_run_make(directory, kind);
    return directory;
}

static scopes_view_input input_of(const scopes_snapshot *snapshot, bool each)
{
    return (scopes_view_input){.map = snapshot->topology->map,
                               .topology = snapshot->topology,
                               .event_table = snapshot->event_table,
                               .clocks = snapshot->clocks,
                               .each = each,
                               .pending = snapshot->pending,
                               .run = snapshot->run,
                               .scheduling = snapshot->scheduling};
}

static void check_alone(const made_run *kind, const scopes_snapshot *snapshot)
{
    const scopes_view *view;

    for (size_t i = 0; (view = scopes_view_at(i)); i++) {
        for (int each = 0; each <= (view->each != NULL); each++) {
            scopes_view_input view_input = input_of(snapshot, each);
            scopes_table *table;
            check_status(scopes_view_make(&table, view, &view_input), 0);
            check(line_of(kind, view, each, table));
            scopes_table_destroy(table);
        }
    }
}

static void check_together(const made_run *kind,
                           const scopes_snapshot *snapshot)
{
#ifndef SAME_VIEWS_OLD
    const scopes_view *views[VIEWS_MAX];
    scopes_table *tables[VIEWS_MAX];
    size_t count = 0;

    while ((views[count] = scopes_view_at(count)))
        count++;
    for (int each = 0; each < 2; each++) {
        scopes_view_input view_input = input_of(snapshot, each);
        check_status(scopes_views_make(tables, views, count, &view_input), 0);
        for (size_t i = 0; i < count; i++) {
            check(line_of(kind, views[i], each && views[i]->each, tables[i]));
            scopes_table_destroy(tables[i]);
        }
    }
#else
    (void)kind;
    (void)snapshot;
#endif
}

static void check_run(const made_run *kind, const char *directory)
{
    scopes_snapshot_options options = SCOPES_SNAPSHOT_ALL;
    scopes_snapshot *snapshot;
    eventspace_run *run;

    if (kind->to_ns) {
        options.from_ns = kind->from_ns;
        options.to_ns = kind->to_ns;
        options.numbered = true;
    }
    check_status(eventspace_run_open(&run, directory), 0);
    check_status(scopes_snapshot_take(&snapshot, run, &options), 0);
    check_alone(kind, snapshot);
    if (!written)
        check_together(kind, snapshot);
    scopes_snapshot_destroy(snapshot);
    eventspace_run_close(run);
}

Test(same_views, of_runs_of_all_kinds)
{
    known_read();
    for (unsigned i = 0; i < made_run_count; i++)
        check_run(&made_runs[i], directory_make(&made_runs[i]));
    known_end();
}

#ifndef SAME_VIEWS_OLD
Test(same_views, when_there_is_hardly_any_memory)
{
    known_read();
    for (unsigned i = 0; i < made_run_count; i++) {
        const char *directory = directory_make(&made_runs[i]);
        check_status(scopes__memory_limit(1, 4096), 0);
        check_run(&made_runs[i], directory);
        check_status(scopes_memory_limit(0), 0);
    }
    known_end();
}

Test(same_views, limits_that_are_too_low_are_refused)
{
    check_status(scopes_memory_limit(SCOPES_MEMORY_MIN - 1), PASTSET_EINVAL);
    check_status(scopes_memory_limit(SCOPES_MEMORY_MIN), 0);
    check_status(scopes_memory_limit(0), 0);
}
#endif
