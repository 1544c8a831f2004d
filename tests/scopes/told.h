/* told.h - what views tell of a run, for tests: one that has been, or one made
 * by hand. */
#ifndef TESTS_SCOPES_TOLD_H
#define TESTS_SCOPES_TOLD_H

#include "scopes/views/view.h"

typedef struct told {
    paths_map *map; /* of one made by hand */
    eventspace_run *run;
    scopes_event_table *event_table;
    scopes_topology *topology;
    scopes_clocks *clocks;
    scopes_scheduling *scheduling;
    scopes_view_input view_input; /* change it as wanted */
} told;

/* How many events are in a list of them. */
#define SIZE(list) (sizeof(list) / sizeof(*(list)))

/* Of a run directory: all of it. */
void told_run(told *t, const char *directory);
/* Of events made by hand on the processes of an instrumented map. Their ticks
 * are nanoseconds after the start of all processes. Needs a scratch
 * directory. */
void told_made(told *t, const char *map_text, const eventspace_trace *events,
               size_t count);
/* Takes so many in a hundred of its events away, whichever. */
void told_lose(told *t, unsigned percent, unsigned seed);
void told_end(told *t);

scopes_table *told_view(told *t, const char *view);

/* Cells by the keys of their columns; the test fails when there is none. */
const char *table_text(const scopes_table *table, size_t row, const char *key);
int64_t table_integer(const scopes_table *table, size_t row, const char *key);
double table_real(const scopes_table *table, size_t row, const char *key);

/* The only row with these texts: key, text, key, text ..., NULL. The test
 * fails unless there is exactly one. */
size_t table_row(const scopes_table *table, ...) __attribute__((sentinel));
/* How many there are. */
size_t table_count(const scopes_table *table, ...) __attribute__((sentinel));

/* The whole table, for messages of tests that fail. Freed by the caller. */
char *table_dump(const scopes_table *table);

#endif
