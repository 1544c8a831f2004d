/* command_info.c - eventspace info: what a run directory holds.
 *
 * One list at a time is printed as a table or as CSV, the hosts unless another
 * is asked for. JSON has all lists in one object. */
#include "viewer/command.h"

#include "pastset/status.h"
#include "scopes/communication.h"
#include "viewer/facts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef enum info_list {
    LIST_HOSTS,
    LIST_THREADS,
    LIST_ELEMENTS,
    LIST_COLLECTORS,
    LISTS,
} info_list;

typedef struct info {
    eventspace_run *run;
    const paths_map *map;
    viewer_facts facts;
    bool notes_below; /* texts of hosts stand below the list, not in it */
} info;

/* --- hosts --- */

static const viewer_column host_columns[] = {
    {"host", "host", VIEWER_TEXT},
    {"state", "state", VIEWER_TEXT},
    {"pid", "pid", VIEWER_NUMBER},
    {"threads", "threads", VIEWER_COUNT},
    {"elements", "elements", VIEWER_COUNT},
    {"traces", "traces", VIEWER_COUNT},
    {"events_made", "events", VIEWER_COUNT},
    {"events_present", "present", VIEWER_COUNT},
    {"events_dropped", "dropped", VIEWER_COUNT},
    {"events_drained", "drained", VIEWER_COUNT},
    {"tick_source", "ticks", VIEWER_TEXT},
    {"text", "text", VIEWER_TEXT},       /* these last two may be long: */
    {"problem", "problem", VIEWER_TEXT}, /* see `notes_below` */
};
#define HOST_NOTES 2

static void add_host(const info *i, viewer_table *table, const char *name,
                     const viewer_host_facts *facts)
{
    static const eventspace_run_host nobody;
    const eventspace_run_host *host = facts->host ? facts->host : &nobody;
    viewer_table_text(table, name);
    viewer_table_text(table, facts->state);
    viewer_table_integer(table, facts->host ? host->meta.pid : VIEWER_BLANK);
    viewer_table_integer(table, facts->threads);
    viewer_table_integer(table, (int64_t)facts->elements);
    viewer_table_integer(table, (int64_t)facts->traces);
    viewer_table_integer(table, (int64_t)facts->events.made);
    viewer_table_integer(table, (int64_t)facts->events.present);
    viewer_table_integer(table, (int64_t)facts->events.dropped);
    viewer_table_integer(table, (int64_t)facts->events.drained);
    viewer_table_text(table, host->meta.tick_source);
    if (i->notes_below)
        return;
    viewer_table_text(table, host->meta.text);
    viewer_table_text(table, host->problem);
}

static int list_hosts(info *i, viewer_table *table)
{
    for (size_t k = 0; k < i->facts.host_count; k++)
        add_host(i, table, i->facts.hosts[k].host->name, &i->facts.hosts[k]);
    if (i->notes_below)
        add_host(i, table, "all", &i->facts.total);
    return 0;
}

/* --- threads --- */

static const viewer_column thread_columns[] = {
    {"number", "no.", VIEWER_NUMBER},
    {"thread", "thread", VIEWER_TEXT},
    {"host", "host", VIEWER_TEXT},
    {"paths", "paths", VIEWER_COUNT},
    {"operations", "operations", VIEWER_COUNT},
    {"missing", "missing", VIEWER_COUNT},
};

static const char *host_name(const paths_map *map, uint32_t host)
{
    return host < map->host_count ? map->hosts[host].name : "";
}

static int list_threads(info *i, viewer_table *table)
{
    scopes_communication *view;
    int err = scopes_communication_read(&view, i->run);
    if (err)
        return err;
    for (uint32_t k = 0; k < view->thread_count; k++) {
        const scopes_thread *thread = &view->threads[k];
        viewer_table_integer(table, k);
        viewer_table_text(table, thread->name);
        viewer_table_text(table, host_name(i->map, thread->host));
        viewer_table_integer(table, i->map->nodes[thread->node].out_count);
        viewer_table_integer(table, (int64_t)thread->operations);
        viewer_table_integer(table, (int64_t)thread->missing);
    }
    scopes_communication_destroy(view);
    return 0;
}

/* --- elements --- */

static const viewer_column element_columns[] = {
    {"element", "element", VIEWER_TEXT},
    {"host", "host", VIEWER_TEXT},
    {"trace", "trace", VIEWER_TEXT},
    {"type", "type", VIEWER_TEXT},
    {"policy", "policy", VIEWER_TEXT},
    {"capacity", "capacity", VIEWER_COUNT},
    {"written", "written", VIEWER_COUNT},
    {"read", "read", VIEWER_COUNT},
    {"consumed", "consumed", VIEWER_COUNT},
    {"truncated", "truncated", VIEWER_COUNT},
    {"dropped", "dropped", VIEWER_COUNT},
    {"refused", "refused", VIEWER_COUNT},
    {"present", "present", VIEWER_COUNT},
};

static const char *policy_name(pastset_policy policy)
{
    switch (policy) {
    case PASTSET_BLOCK:
        return "block";
    case PASTSET_DISCARD:
        return "discard";
    case PASTSET_GROW:
        return "grow";
    }
    return "?";
}

static void add_element(viewer_table *table, const char *host,
                        pastset_element *element, bool trace)
{
    pastset_ledger ledger;
    pastset_element_ledger(element, &ledger);
    viewer_table_text(table, pastset_element_name(element));
    viewer_table_text(table, host);
    viewer_table_text(table, trace ? "yes" : "no");
    viewer_table_text(table, pastset_element_type(element)->text);
    viewer_table_text(table, policy_name(pastset_element_policy(element)));
    viewer_table_integer(table, (int64_t)pastset_element_capacity(element));
    viewer_table_integer(table, (int64_t)ledger.written);
    viewer_table_integer(table, (int64_t)ledger.read);
    viewer_table_integer(table, (int64_t)ledger.consumed);
    viewer_table_integer(table, (int64_t)ledger.truncated);
    viewer_table_integer(table, (int64_t)ledger.dropped);
    viewer_table_integer(table, (int64_t)ledger.refused);
    viewer_table_integer(table, (int64_t)ledger.present);
}

static int list_elements(info *i, viewer_table *table)
{
    for (size_t k = 0; k < i->facts.host_count; k++) {
        const eventspace_run_host *host = i->facts.hosts[k].host;
        size_t count = host->space ? pastset_space_count(host->space) : 0;
        for (size_t e = 0; e < count; e++) {
            pastset_element *element = pastset_space_at(host->space, e);
            add_element(table, host->name, element,
                        eventspace_run_is_trace(i->run, element));
        }
    }
    return 0;
}

/* --- collectors --- */

static const viewer_column collector_columns[] = {
    {"collector", "id", VIEWER_NUMBER}, {"name", "collector", VIEWER_TEXT},
    {"host", "host", VIEWER_TEXT},      {"trace", "trace element", VIEWER_TEXT},
    {"events", "events", VIEWER_COUNT}, {"bytes", "bytes", VIEWER_COUNT},
    {"failed", "failed", VIEWER_COUNT},
};

typedef struct collected {
    uint64_t events;
    uint64_t bytes;  /* of the tuples that passed */
    uint64_t failed; /* with a status other than 0 */
} collected;

typedef struct counting {
    collected *collectors;
    uint32_t count;
} counting;

/* Ids that the map does not have are of no collector: a damaged file. */
static int count_event(const eventspace_trace *event, void *context)
{
    counting *c = context;
    if (event->collector >= c->count)
        return 0;
    c->collectors[event->collector].events++;
    c->collectors[event->collector].bytes += event->bytes;
    c->collectors[event->collector].failed += event->status != 0;
    return 0;
}

static void add_collector(viewer_table *table, const paths_map *map,
                          uint32_t id, uint32_t index, const collected *c)
{
    const paths_map_node *node = &map->nodes[index];
    const char *trace = paths_node_get(node, "trace");
    viewer_table_integer(table, id);
    viewer_table_text(table, node->name);
    viewer_table_text(table, host_name(map, node->host));
    viewer_table_text(table, trace ? trace : "");
    viewer_table_integer(table, (int64_t)c->events);
    viewer_table_integer(table, (int64_t)c->bytes);
    viewer_table_integer(table, (int64_t)c->failed);
}

static int list_collectors(info *i, viewer_table *table)
{
    counting c = {.count = eventspace_run_collectors(i->run)};
    c.collectors = calloc((size_t)c.count + 1, sizeof(*c.collectors));
    int err = 0;
    if (!c.collectors)
        return pastset_fail(PASTSET_ENOMEM, "no memory to count events");
    for (size_t k = 0; k < i->facts.host_count && !err; k++)
        err = eventspace_run_each(i->run, k, count_event, &c);
    for (uint32_t id = 0; id < c.count && !err; id++) {
        uint32_t node = eventspace_run_collector(i->run, id);
        if (node != PATHS_NONE)
            add_collector(table, i->map, id, node, &c.collectors[id]);
    }
    free(c.collectors);
    return err;
}

/* --- all of them --- */

#define COLUMNS(list) list, sizeof(list) / sizeof(*(list))

static const struct {
    const char *name; /* in JSON */
    const viewer_column *columns;
    size_t column_count;
    int (*fill)(info *i, viewer_table *table);
} lists[LISTS] = {
    [LIST_HOSTS] = {"hosts", COLUMNS(host_columns), list_hosts},
    [LIST_THREADS] = {"threads", COLUMNS(thread_columns), list_threads},
    [LIST_ELEMENTS] = {"elements", COLUMNS(element_columns), list_elements},
    [LIST_COLLECTORS] = {"collectors", COLUMNS(collector_columns),
                         list_collectors},
};

static int print_list(info *i, info_list list, viewer_format format)
{
    size_t columns = lists[list].column_count;
    if (list == LIST_HOSTS && i->notes_below)
        columns -= HOST_NOTES;
    viewer_table *table = viewer_table_create(lists[list].columns, columns);
    int err = table ? lists[list].fill(i, table) : 0;
    if (!err)
        err = viewer_table_print(table, format, stdout);
    viewer_table_destroy(table);
    return err;
}

static int print_json(info *i)
{
    const viewer_host_facts *total = &i->facts.total;
    json_t *head =
        json_pack("{s:o, s:o, s:s, s:I, s:I, s:I, s:I, s:I, s:I}", "run",
                  viewer_json_text(eventspace_run_directory(i->run)), "map",
                  viewer_json_text(i->map->name), "state", total->state,
                  "threads", (json_int_t)total->threads, "events_made",
                  (json_int_t)total->events.made, "events_present",
                  (json_int_t)total->events.present, "events_dropped",
                  (json_int_t)total->events.dropped, "events_drained",
                  (json_int_t)total->events.drained, "trace_bytes",
                  (json_int_t)total->events.bytes);
    fputs("{\"total\": ", stdout);
    int err = json_dumpf(head, stdout, 0);
    json_decref(head);
    if (err)
        return pastset_fail(PASTSET_ENOMEM, "the totals were not written");
    for (info_list list = 0; list < LISTS && !err; list++) {
        printf(",\n\"%s\": ", lists[list].name);
        err = print_list(i, list, VIEWER_JSON);
    }
    puts("}");
    return err;
}

static void print_note(const char *host, const char *state, const char *text)
{
    if (*text)
        printf("%s %s: %s\n", host, state, text);
}

static void print_notes(const info *i)
{
    putchar('\n');
    for (size_t k = 0; k < i->facts.host_count; k++) {
        const eventspace_run_host *host = i->facts.hosts[k].host;
        print_note(host->name, i->facts.hosts[k].state, host->meta.text);
        print_note(host->name, "files", host->problem);
    }
}

static void print_summary(const info *i)
{
    const viewer_facts *facts = &i->facts;
    const eventspace_events *events = &facts->total.events;
    printf("%s: %s, %zu host%s, %u thread%s\n",
           eventspace_run_directory(i->run), i->map->name, facts->host_count,
           facts->host_count == 1 ? "" : "s", facts->total.threads,
           facts->total.threads == 1 ? "" : "s");
    printf("events: %" PRIu64 " made, %" PRIu64 " present (%.1f MB), %" PRIu64
           " lost\n",
           events->made, events->present, (double)events->bytes / 1e6,
           events->dropped);
}

static int print_info(info *i, info_list list, viewer_format format)
{
    if (format == VIEWER_JSON)
        return print_json(i);
    i->notes_below = format == VIEWER_TABLE;
    int err = print_list(i, list, format);
    if (!err && list == LIST_HOSTS && format == VIEWER_TABLE) {
        print_notes(i);
        print_summary(i);
    }
    return err;
}

/* --- the command --- */

typedef struct info_arguments {
    const char *run;
    info_list list;
    viewer_format format;
} info_arguments;

static const struct argp_option info_options[] = {
    {"format", 'f', "table|csv|json", 0, "How to print (default table)", 0},
    {"threads", 't', NULL, 0, "List the threads instead of the hosts", 0},
    {"elements", 'e', NULL, 0, "List the elements instead", 0},
    {"collectors", 'c', NULL, 0, "List the events of each collector instead",
     0},
    {0},
};

static error_t parse_info(int key, char *text, struct argp_state *state)
{
    info_arguments *a = state->input;
    switch (key) {
    case 'f':
        a->format = command_format(text, state);
        return 0;
    case 't':
        a->list = LIST_THREADS;
        return 0;
    case 'e':
        a->list = LIST_ELEMENTS;
        return 0;
    case 'c':
        a->list = LIST_COLLECTORS;
        return 0;
    case ARGP_KEY_ARG:
        command_take(&a->run, text, state);
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "the run directory is missing");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

int command_info(int argc, char **argv)
{
    static const struct argp argp = {
        info_options,
        parse_info,
        "RUN",
        "Tells what a run directory holds: the hosts and how they ended, and "
        "the events, with exact losses. JSON has all lists.\vA run may be "
        "looked at while it goes on, and after a host was killed.",
        NULL,
        NULL,
        NULL};
    info_arguments a = {0};
    info i = {0};
    if (argp_parse(&argp, argc, argv, 0, NULL, &a))
        return COMMAND_USAGE;
    if (eventspace_run_open(&i.run, a.run))
        return command_fail();
    i.map = eventspace_run_map(i.run);
    int err = viewer_facts_take(&i.facts, i.run);
    if (!err)
        err = print_info(&i, a.list, a.format);
    viewer_facts_drop(&i.facts);
    eventspace_run_close(i.run);
    return command_end_output(err);
}
