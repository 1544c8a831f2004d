/* told.c - see told.h. */
#include "tests/scopes/told.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/scopes/fake_run.h"
#include "tests/support/check.h"
#include "tests/support/golden.h"
#include "tests/support/scratch.h"
#include "scopes/reading/reading_internal.h"

static void told_rest(told *t)
{
    const paths_map *map = eventspace_run_map(t->run);

    check_status(scopes_topology_create(&t->topology, map), 0);
    check_status(scopes_clocks_create(&t->clocks, t->run, t->event_table,
                                      t->topology, SCOPES_CLOCK_HULL,
                                      PATHS_NONE),
                 0);
    check_status(
        scopes_scheduling_read(&t->scheduling, t->run, t->topology, t->clocks),
        0);
    t->view_input = (scopes_view_input){.map = map,
                                        .topology = t->topology,
                                        .event_table = t->event_table,
                                        .clocks = t->clocks,
                                        .threads = NULL,
                                        .run = t->run,
                                        .scheduling = t->scheduling};
}

void told_run(told *t, const char *directory)
{
    scopes_filter everything = {0};
    scopes_source *source;

    *t = (told){0};
    check_status(eventspace_run_open(&t->run, directory), 0);
    check_status(scopes_source_open(&source, t->run), 0);
    check_status(scopes_event_table_load(&t->event_table, source, &everything),
                 0);
    scopes_source_close(source);
    told_rest(t);
}

void told_made(told *t, const char *map_text, const eventspace_trace *events,
               size_t count)
{
    static unsigned made;
    const char *directory = scratch_file("made.%u", made++);
    eventspace_trace *later = malloc((count + 1) * sizeof(*later));
    fake_run *run;

    *t = (told){.map = map_parse(map_text)};
    cr_assert_eq(mkdir(directory, 0700), 0);
    run = fake_run_begin(directory, t->map);
    cr_assert_not_null(run, "%s", pastset_error());
    check_status(fake_run_end(run), 0);
    check_status(eventspace_run_open(&t->run, directory), 0);
    for (size_t i = 0; i < count; i++) {
        later[i] = events[i];
        later[i].start += FAKE_START;
        later[i].end += FAKE_START;
    }
    check_status(scopes_event_table_create(&t->event_table,
                                           eventspace_run_map(t->run), later,
                                           count, NULL),
                 0);
    free(later);
    told_rest(t);
}

void told_lose(told *t, unsigned percent, unsigned seed)
{
    const paths_map *map = eventspace_run_map(t->run);
    eventspace_trace *left =
        malloc((t->event_table->ledger.read + 1) * sizeof(*left));
    uint64_t state = seed;
    size_t count = 0;

    for (uint32_t id = 0; id < t->event_table->collectors; id++) {
        const scopes_series *series = scopes_event_series(t->event_table, id);
        for (size_t i = 0; i < series->count; i++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            if ((state >> 33) % 100 >= percent)
                left[count++] = *scopes_event_at(series->events, i);
        }
    }
    cr_assert_lt(count, t->event_table->ledger.read);
    scopes_scheduling_destroy(t->scheduling);
    scopes_clocks_destroy(t->clocks);
    scopes_topology_destroy(t->topology);
    scopes_event_table_destroy(t->event_table);
    check_status(
        scopes_event_table_create(&t->event_table, map, left, count, NULL), 0);
    free(left);
    told_rest(t);
}

void told_end(told *t)
{
    scopes_scheduling_destroy(t->scheduling);
    scopes_clocks_destroy(t->clocks);
    scopes_topology_destroy(t->topology);
    scopes_event_table_destroy(t->event_table);
    eventspace_run_close(t->run);
    paths_map_destroy(t->map);
}

scopes_table *told_view(told *t, const char *view)
{
    scopes_table *table;

    cr_assert_not_null(scopes_view_find(view), "there is no view %s", view);
    check_status(
        scopes_view_make(&table, scopes_view_find(view), &t->view_input), 0);
    return table;
}

static scopes_cell cell(const scopes_table *table, size_t row, const char *key,
                        scopes_kind *kind)
{
    cr_assert_lt(row, scopes_table_rows(table), "there is no row %zu", row);
    for (size_t i = 0; i < scopes_table_columns(table); i++) {
        const scopes_column *column = scopes_table_column(table, i);
        if (strcmp(column->key, key) == 0) {
            *kind = column->kind;
            return scopes_table_cell(table, row, i);
        }
    }
    cr_assert_fail("there is no column %s", key);
    return (scopes_cell){0};
}

const char *table_text(const scopes_table *table, size_t row, const char *key)
{
    scopes_kind kind;
    scopes_cell found = cell(table, row, key, &kind);

    cr_assert_eq(kind, SCOPES_TEXT, "%s is no text", key);
    return found.text;
}

int64_t table_integer(const scopes_table *table, size_t row, const char *key)
{
    scopes_kind kind;
    scopes_cell found = cell(table, row, key, &kind);

    cr_assert(kind == SCOPES_COUNT || kind == SCOPES_NUMBER ||
                  kind == SCOPES_TIME_NS,
              "%s is no integer", key);
    return found.integer;
}

double table_real(const scopes_table *table, size_t row, const char *key)
{
    scopes_kind kind;
    scopes_cell found = cell(table, row, key, &kind);

    cr_assert(kind == SCOPES_SHARE || kind == SCOPES_REAL, "%s is not real",
              key);
    return found.real;
}

static bool row_has(const scopes_table *table, size_t row, va_list texts)
{
    const char *key;

    while ((key = va_arg(texts, const char *))) {
        const char *text = va_arg(texts, const char *);
        if (strcmp(table_text(table, row, key), text) != 0)
            return false;
    }
    return true;
}

static size_t find(const scopes_table *table, va_list texts, size_t *last)
{
    size_t found = 0;

    for (size_t row = 0; row < scopes_table_rows(table); row++) {
        va_list copy;
        va_copy(copy, texts);
        if (row_has(table, row, copy)) {
            *last = row;
            found++;
        }
        va_end(copy);
    }
    return found;
}

size_t table_row(const scopes_table *table, ...)
{
    size_t row = 0, found;
    char *text;
    va_list texts;

    va_start(texts, table);
    found = find(table, texts, &row);
    va_end(texts);
    text = table_dump(table);
    cr_assert_eq(found, 1, "%zu rows are as wanted, in\n%s", found, text);
    free(text);
    return row;
}

size_t table_count(const scopes_table *table, ...)
{
    size_t row, found;
    va_list texts;

    va_start(texts, table);
    found = find(table, texts, &row);
    va_end(texts);
    return found;
}

static void print(FILE *out, const scopes_table *table, size_t row, size_t i)
{
    scopes_cell found = scopes_table_cell(table, row, i);

    switch (scopes_table_column(table, i)->kind) {
    case SCOPES_TEXT:
        fprintf(out, "%s ", found.text[0] ? found.text : "-");
        break;
    case SCOPES_SHARE:
    case SCOPES_REAL:
        fprintf(out, "%g ", found.real);
        break;
    default:
        fprintf(out, "%lld ", (long long)found.integer);
    }
}

char *table_dump(const scopes_table *table)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);

    for (size_t i = 0; i < scopes_table_columns(table); i++)
        fprintf(out, "%s ", scopes_table_column(table, i)->key);
    fputc('\n', out);
    for (size_t row = 0; row < scopes_table_rows(table) && row < 200; row++) {
        for (size_t i = 0; i < scopes_table_columns(table); i++)
            print(out, table, row, i);
        fputc('\n', out);
    }
    fclose(out);
    return text;
}
