/* event_module.c - the table `event`: the trace tuples of a run, streamed.
 *
 * A query is one walk of a cursor (scopes/reading/cursor.h) through the files
 * of the run. Nothing is kept but the batch that it is in.
 *
 * What a query asks of times, collectors, threads and processes goes into the
 * cursor's filter, so that what it does not want is not read: a stream is
 * bisected for the begin of a window, and blocks of an archive are passed over
 * by their heads. The filter may let more through than was asked for: SQLite
 * looks at each row once more, as it does for all other conditions.
 *
 * How constraints get from xBestIndex to xFilter: idxStr has two letters for
 * each argument, its column and its operation. Clocks are aligned only for
 * queries that use a time in nanoseconds (idxNum).
 *
 * A row has no number: where a walk comes to it depends on its filter. SQLite
 * walks once for each side of an OR, and knows by the primary key which rows it
 * has had. */
#include "viewer/sql/sql_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pastset/request.h"
#include "pastset/status.h"

enum {
    COLLECTOR,
    PROCESS,
    THREAD,
    SEQUENCE,
    VERB,
    BYTES,
    STATUS,
    START_TICKS,
    END_TICKS,
    START_NS,
    END_NS,
    DURATION_NS,
    COLUMNS,
};

const size_t viewer__event_column_count = COLUMNS;
const scopes_column viewer__event_columns[] = {
    [COLLECTOR] = {"collector", "collector", SCOPES_NUMBER},
    [PROCESS] = {"process", "process", SCOPES_TEXT},
    [THREAD] = {"thread", "thread", SCOPES_NUMBER},
    [SEQUENCE] = {"sequence", "sequence", SCOPES_NUMBER},
    [VERB] = {"verb", "verb", SCOPES_TEXT},
    [BYTES] = {"bytes", "bytes", SCOPES_COUNT},
    [STATUS] = {"status", "status", SCOPES_TEXT},
    [START_TICKS] = {"start_ticks", "start ticks", SCOPES_NUMBER},
    [END_TICKS] = {"end_ticks", "end ticks", SCOPES_NUMBER},
    [START_NS] = {"start_ns", "start ms", SCOPES_TIME_NS},
    [END_NS] = {"end_ns", "end ms", SCOPES_TIME_NS},
    [DURATION_NS] = {"duration_ns", "duration ms", SCOPES_TIME_NS},
};

#define USES_CLOCKS 1
#define CLOCK_COLUMNS (1u << START_NS | 1u << END_NS | 1u << DURATION_NS)

/* Operations of constraints, in idxStr. */
#define IS '='
#define IS_IN 'i'
#define AT_LEAST '>' /* or more than */
#define AT_MOST '<'  /* or less than */

typedef struct event_table {
    sqlite3_vtab base;
    viewer__sql_run *sql;
    double rows; /* about how many there are */
} event_table;

typedef struct event_cursor {
    sqlite3_vtab_cursor base;
    viewer__sql_run *sql;
    const scopes_clocks *clocks; /* NULL: no time in nanoseconds is used */
    scopes_cursor *cursor;       /* NULL: it is at its end */
    scopes_batch batch;
    size_t at; /* in the batch */

    /* What is wanted. */
    int64_t from_ns, to_ns;
    scopes_filter filter;
    uint64_t *from_ticks, *to_ticks;        /* by process */
    bool *collectors, *processes, *threads; /* NULL: all */
    paths_number_list thread_list;          /* borrows `threads` */

    bool *known;      /* by id: of a collector, or defined by a process */
    uint32_t ids;     /* that it has */
    uint64_t strange; /* events of no known id */
} event_cursor;

/* --- the table --- */

static double count_rows(viewer__sql_run *sql)
{
    eventspace_events events;

    if (eventspace_run_events(viewer__sql_run_opened(sql), SIZE_MAX, &events))
        return 1e6;
    return (double)events.recorded + 1;
}

/* All that is in a tuple, as no part of it need be unique. */
#define KEY                                                                    \
    "PRIMARY KEY (process, collector, thread, sequence, start_ticks, "         \
    "end_ticks, verb, bytes, status)"

static char *declaration(void)
{
    char *text = viewer__sql_declaration(viewer__event_columns,
                                         viewer__event_column_count, "");
    char *keyed = text ? sqlite3_mprintf("%.*s, " KEY ") WITHOUT ROWID",
                                         (int)strlen(text) - 1, text)
                       : NULL;

    sqlite3_free(text);
    return keyed;
}

static int event_connect(sqlite3 *db, void *context, int argc,
                         const char *const *argv, sqlite3_vtab **out,
                         char **error)
{
    event_table *table = sqlite3_malloc(sizeof(*table));
    char *text = declaration();
    int code = table && text ? sqlite3_declare_vtab(db, text) : SQLITE_NOMEM;

    (void)argc;
    (void)argv;
    (void)error;
    sqlite3_free(text);
    if (code) {
        sqlite3_free(table);
        return code;
    }
    *table = (event_table){.sql = viewer__sql_run_ref(context),
                           .rows = count_rows(context)};
    *out = &table->base;
    return SQLITE_OK;
}

static int event_disconnect(sqlite3_vtab *base)
{
    event_table *table = (event_table *)base;

    viewer__sql_run_unref(table->sql);
    sqlite3_free(table);
    return SQLITE_OK;
}

/* --- which constraints can be used --- */

static char operation_of(unsigned char op)
{
    switch (op) {
    case SQLITE_INDEX_CONSTRAINT_EQ:
        return IS;
    case SQLITE_INDEX_CONSTRAINT_GT:
    case SQLITE_INDEX_CONSTRAINT_GE:
        return AT_LEAST;
    case SQLITE_INDEX_CONSTRAINT_LT:
    case SQLITE_INDEX_CONSTRAINT_LE:
        return AT_MOST;
    default:
        return 0;
    }
}

/* Whether all values of `x in (...)` come at once; else SQLite would walk the
 * run once for each of them. */
static bool takes_all_of(sqlite3_index_info *info, int constraint)
{
    return sqlite3_libversion_number() >= 3038000 &&
           sqlite3_vtab_in(info, constraint, 1);
}

/* What of a constraint goes into the filter; 0: nothing. */
static char use(sqlite3_index_info *info, int i)
{
    int column = info->aConstraint[i].iColumn;
    char operation = operation_of(info->aConstraint[i].op);

    if (!info->aConstraint[i].usable || !operation)
        return 0;
    if (column == START_NS || column == END_NS)
        return operation;
    if (operation != IS ||
        (column != COLLECTOR && column != THREAD && column != PROCESS))
        return 0;
    /* Names of processes are compared as they are, or by SQLite. */
    if (strcmp(sqlite3_vtab_collation(info, i), "BINARY") != 0)
        return 0;
    return takes_all_of(info, i) ? IS_IN : IS;
}

/* By how much a constraint makes a walk shorter, for SQLite to choose by. */
static double share_of(int column, char operation)
{
    if (column == START_NS || column == END_NS)
        return operation == IS ? 0.01 : 0.3;
    return operation == IS ? 0.2 : 0.4;
}

static int event_best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
    const event_table *table = (const event_table *)base;
    char *text = sqlite3_malloc(2 * info->nConstraint + 1);
    double rows = table->rows, cost;
    int used = 0;

    if (!text)
        return SQLITE_NOMEM;
    info->idxNum = (info->colUsed & CLOCK_COLUMNS) ? USES_CLOCKS : 0;
    for (int i = 0; i < info->nConstraint; i++) {
        int column = info->aConstraint[i].iColumn;
        char operation = use(info, i);
        if (!operation)
            continue;
        if (column == START_NS || column == END_NS)
            info->idxNum = USES_CLOCKS;
        text[2 * used] = (char)('a' + column);
        text[2 * used + 1] = operation;
        info->aConstraintUsage[i].argvIndex = ++used;
        rows *= share_of(column, operation);
    }
    text[2 * used] = '\0';
    info->idxStr = text;
    info->needToFreeIdxStr = 1;
    /* Each walk passes all streams, also for a few rows: joins had better walk
     * once, and look other tables up. */
    cost = 1000 + table->rows / 4 + 10 * rows;
    info->estimatedCost = cost;
    info->estimatedRows = (sqlite3_int64)rows + 1;
    return SQLITE_OK;
}

/* --- the filter --- */

static int event_open(sqlite3_vtab *base, sqlite3_vtab_cursor **out)
{
    event_cursor *c = sqlite3_malloc(sizeof(*c));

    if (!c)
        return SQLITE_NOMEM;
    *c = (event_cursor){.sql = ((event_table *)base)->sql};
    *out = &c->base;
    return SQLITE_OK;
}

static void account(event_cursor *c)
{
    if (c->cursor)
        scopes_cursor_ledger(c->cursor, viewer__sql_ledger(c->sql));
    viewer__sql_note_strange(c->sql, c->strange);
    c->strange = 0;
    scopes_cursor_close(c->cursor);
    c->cursor = NULL;
}

static void filter_drop(event_cursor *c)
{
    account(c);
    free(c->from_ticks);
    free(c->to_ticks);
    free(c->collectors);
    free(c->processes);
    free(c->threads);
    c->from_ticks = c->to_ticks = NULL;
    c->collectors = c->processes = c->threads = NULL;
    c->filter = (scopes_filter){0};
}

static int event_close(sqlite3_vtab_cursor *base)
{
    event_cursor *c = (event_cursor *)base;

    filter_drop(c);
    free(c->known);
    sqlite3_free(c);
    return SQLITE_OK;
}

/* Narrows the window, which is one of events that are under way in it: what
 * starts after a time ends after it too. What is no number is left to SQLite;
 * whole nanoseconds around a real number are enough. */
static void ask_time(event_cursor *c, char operation, sqlite3_value *value)
{
    double real = sqlite3_value_double(value);
    int64_t low, high;

    switch (sqlite3_value_type(value)) {
    case SQLITE_INTEGER:
        low = high = sqlite3_value_int64(value);
        break;
    case SQLITE_FLOAT:
        if (!(fabs(real) < (double)(INT64_MAX / 2)))
            return;
        low = (int64_t)floor(real);
        high = (int64_t)ceil(real);
        break;
    default:
        return;
    }
    if (operation != AT_MOST && low > c->from_ns)
        c->from_ns = low;
    if (operation != AT_LEAST && high < c->to_ns)
        c->to_ns = high;
}

/* One value of a constraint; false: it is for SQLite to look at. */
typedef bool ask(event_cursor *c, bool *wanted, size_t count,
                 sqlite3_value *value);

static bool ask_number(event_cursor *c, bool *wanted, size_t count,
                       sqlite3_value *value)
{
    sqlite3_int64 number = sqlite3_value_int64(value);

    (void)c;
    if (sqlite3_value_type(value) == SQLITE_NULL)
        return true; /* nothing is equal to it */
    if (sqlite3_value_type(value) != SQLITE_INTEGER || number < 0 ||
        (uint64_t)number >= count)
        return false;
    wanted[number] = true;
    return true;
}

static bool ask_process(event_cursor *c, bool *wanted, size_t count,
                        sqlite3_value *value)
{
    const paths_map *map = eventspace_run_map(viewer__sql_run_opened(c->sql));
    const char *name = (const char *)sqlite3_value_text(value);
    uint32_t process;

    if (sqlite3_value_type(value) == SQLITE_NULL)
        return true;
    if (sqlite3_value_type(value) != SQLITE_TEXT || !name)
        return false;
    process = paths_map_find_process(map, name);
    if (process == PATHS_NONE || process >= count)
        return false;
    wanted[process] = true;
    return true;
}

/* Calls `each` for the value, or for all values, of a constraint. */
static bool ask_values(event_cursor *c, char operation, sqlite3_value *value,
                       ask *each, bool *wanted, size_t count)
{
    sqlite3_value *one;
    int code;

    if (operation != IS_IN)
        return each(c, wanted, count, value);
    for (code = sqlite3_vtab_in_first(value, &one); code == SQLITE_OK;
         code = sqlite3_vtab_in_next(value, &one))
        if (!each(c, wanted, count, one))
            return false;
    return code == SQLITE_DONE;
}

/* What is wanted so far and by this constraint too, which may not be used.
 * Errors: PASTSET_ENOMEM. */
static int ask_list(event_cursor *c, char operation, sqlite3_value *value,
                    ask *each, bool **list, size_t count)
{
    bool *wanted = calloc(count + 1, sizeof(*wanted));

    if (!wanted)
        return pastset_no_memory("for a query");
    if (!ask_values(c, operation, value, each, wanted, count)) {
        free(wanted);
        return 0;
    }
    for (size_t i = 0; *list && i < count; i++)
        wanted[i] = wanted[i] && (*list)[i];
    free(*list);
    *list = wanted;
    return 0;
}

static int ask_one(event_cursor *c, int column, char operation,
                   sqlite3_value *value)
{
    const scopes_topology *topology = viewer__sql_topology(c->sql);

    switch (column) {
    case START_NS:
    case END_NS:
        ask_time(c, operation, value);
        return 0;
    case COLLECTOR:
        return ask_list(c, operation, value, ask_number, &c->collectors,
                        eventspace_run_ids(viewer__sql_run_opened(c->sql)));
    case PROCESS:
        return ask_list(c, operation, value, ask_process, &c->processes,
                        topology->map->process_count);
    default:
        return ask_list(c, operation, value, ask_number, &c->threads,
                        topology->thread_count);
    }
}

/* Ticks at a time, and somewhat before or after it, as doubles round. */
#define MARGIN_NS(ns) (1000 + llabs((ns) >> 40))

static uint64_t ticks_before(const scopes_clocks *clocks, uint32_t process,
                             int64_t ns)
{
    return ns > INT64_MIN / 2
               ? scopes_clocks_ticks(clocks, process, ns - MARGIN_NS(ns))
               : 0;
}

static uint64_t ticks_after(const scopes_clocks *clocks, uint32_t process,
                            int64_t ns)
{
    if (ns > INT64_MAX / 4 ||
        !(scopes_clocks_process(clocks, process)->ns_per_tick > 0))
        return UINT64_MAX;
    return scopes_clocks_ticks(clocks, process, ns + MARGIN_NS(ns));
}

/* The window in the ticks of each process; of one that is not wanted nothing
 * comes late enough. */
static int set_window(event_cursor *c)
{
    uint32_t count = viewer__sql_topology(c->sql)->map->process_count;
    bool has_window = c->from_ns != INT64_MIN || c->to_ns != INT64_MAX;

    if (!has_window && !c->processes)
        return 0;
    c->from_ticks = calloc(count + 1, sizeof(*c->from_ticks));
    c->to_ticks = calloc(count + 1, sizeof(*c->to_ticks));
    if (!c->from_ticks || !c->to_ticks)
        return pastset_no_memory("for a query");
    for (uint32_t i = 0; i < count; i++) {
        c->to_ticks[i] = UINT64_MAX;
        if (c->processes && !c->processes[i])
            c->from_ticks[i] = UINT64_MAX;
        else if (has_window && c->from_ns > c->to_ns)
            c->from_ticks[i] = UINT64_MAX;
        else if (has_window) {
            c->from_ticks[i] = ticks_before(c->clocks, i, c->from_ns);
            c->to_ticks[i] = ticks_after(c->clocks, i, c->to_ns);
        }
    }
    c->filter.from_ticks = c->from_ticks;
    c->filter.to_ticks = c->to_ticks;
    return 0;
}

/* Errors: PASTSET_ENOMEM. */
static int take_known(event_cursor *c)
{
    const eventspace_run *run = viewer__sql_run_opened(c->sql);

    if (c->known)
        return 0;
    c->ids = eventspace_run_ids(run);
    c->known = calloc(c->ids + 1u, sizeof(*c->known));
    if (!c->known)
        return pastset_no_memory("for a query");
    for (uint32_t id = 0; id < c->ids; id++)
        c->known[id] = eventspace_run_collector(run, id) != PATHS_NONE ||
                       eventspace_run_definition_of(run, id);
    return 0;
}

static uint64_t strange_in_batch(const event_cursor *c)
{
    uint64_t strange = 0;

    for (size_t i = 0; i < c->batch.count; i++) {
        uint32_t id = c->batch.events[i].collector;
        strange += id >= c->ids || !c->known[id];
    }
    return strange;
}

/* Some may be of what was defined since the query began. */
static int count_strange(event_cursor *c)
{
    int err = 0;

    if (strange_in_batch(c)) {
        err = eventspace_run_define(viewer__sql_run_opened(c->sql));
        free(c->known);
        c->known = NULL;
        if (!err)
            err = take_known(c);
    }
    if (!err)
        c->strange += strange_in_batch(c);
    return err;
}

static int event_next(sqlite3_vtab_cursor *base)
{
    event_cursor *c = (event_cursor *)base;
    int err;

    if (++c->at < c->batch.count)
        return SQLITE_OK;
    c->at = 0;
    err = scopes_cursor_next(c->cursor, &c->batch);
    if (!err) {
        err = count_strange(c);
        return err ? viewer__sql_fail(base->pVtab) : SQLITE_OK;
    }
    account(c);
    return err == PASTSET_EAGAIN ? SQLITE_OK : viewer__sql_fail(base->pVtab);
}

static int event_filter(sqlite3_vtab_cursor *base, int index,
                        const char *constraints, int argc, sqlite3_value **argv)
{
    event_cursor *c = (event_cursor *)base;
    int err = 0;

    filter_drop(c);
    c->from_ns = INT64_MIN;
    c->to_ns = INT64_MAX;
    c->clocks = NULL;
    err = take_known(c);
    if (!err && index == USES_CLOCKS)
        err = viewer__sql_clocks(c->sql, &c->clocks);
    for (int i = 0; i < argc && !err; i++)
        err = ask_one(c, constraints[2 * i] - 'a', constraints[2 * i + 1],
                      argv[i]);
    if (!err)
        err = set_window(c);
    c->filter.collectors = c->collectors;
    c->filter.collector_count =
        eventspace_run_ids(viewer__sql_run_opened(c->sql));
    c->thread_list = (paths_number_list){
        c->threads, viewer__sql_topology(c->sql)->thread_count};
    c->filter.threads = c->threads ? &c->thread_list : NULL;
    if (!err)
        err = scopes_cursor_open(&c->cursor, viewer__sql_source(c->sql),
                                 &c->filter);
    if (err)
        return viewer__sql_fail(base->pVtab);
    c->batch = (scopes_batch){0};
    c->at = 0;
    return event_next(base);
}

/* --- rows --- */

static int event_eof(sqlite3_vtab_cursor *base)
{
    return !((event_cursor *)base)->cursor;
}

static int64_t time_of(const event_cursor *c, uint64_t ticks)
{
    return scopes_clocks_ns(c->clocks, (uint32_t)c->batch.process, ticks);
}

static int event_column(sqlite3_vtab_cursor *base, sqlite3_context *context,
                        int column)
{
    const event_cursor *c = (const event_cursor *)base;
    const eventspace_trace *event = &c->batch.events[c->at];
    const char *text = NULL;
    int64_t number = 0;

    switch (column) {
    case COLLECTOR:
        number = event->collector;
        break;
    case PROCESS:
        text = scopes_topology_process_name(viewer__sql_topology(c->sql),
                                            (uint32_t)c->batch.process);
        break;
    case THREAD:
        number = event->thread;
        break;
    case SEQUENCE:
        number = event->sequence;
        break;
    case VERB:
        text = eventspace_trace_verb(event->operation);
        break;
    case BYTES:
        number = event->bytes;
        break;
    case STATUS:
        text = event->status ? pastset_status_name(-event->status) : "";
        break;
    case START_TICKS:
        number = (int64_t)event->start;
        break;
    case END_TICKS:
        number = (int64_t)event->end;
        break;
    case START_NS:
        number = time_of(c, event->start);
        break;
    case END_NS:
        number = time_of(c, event->end);
        break;
    case DURATION_NS:
        number = time_of(c, event->end) - time_of(c, event->start);
        break;
    }
    if (text)
        sqlite3_result_text(context, text, -1, SQLITE_STATIC);
    else
        sqlite3_result_int64(context, number);
    return SQLITE_OK;
}

const sqlite3_module viewer__event_module = {
    .xCreate = event_connect,
    .xConnect = event_connect,
    .xBestIndex = event_best_index,
    .xDisconnect = event_disconnect,
    .xDestroy = event_disconnect,
    .xOpen = event_open,
    .xClose = event_close,
    .xFilter = event_filter,
    .xNext = event_next,
    .xEof = event_eof,
    .xColumn = event_column,
};
