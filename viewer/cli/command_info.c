/* command_info.c - eventspace info: what a run directory holds.
 *
 * One list at a time is printed as a table or as CSV, the processes unless
 * another is asked for. JSON has all lists in one object. */
#include "viewer/cli/command.h"

#include "pastset/status.h"
#include "viewer/tables/counts.h"
#include "viewer/tables/facts.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef enum info_list {
    LIST_PROCESSES,
    LIST_THREADS,
    LIST_ELEMENTS,
    LIST_COLLECTORS,
    LIST_OVERHEAD,
    LISTS,
} info_list;

typedef struct info {
    const char *name; /* of the run, as it was given */
    eventspace_run *run;
    const paths_map *map;
    viewer_facts facts;
    viewer_counts counts; /* `topology` NULL: not counted (yet) */
    double event_cost_ns; /* 0: not measured (yet) */
    bool notes_below; /* texts of processes stand below the list, not in it */
} info;

/* --- processes --- */

static const scopes_column process_columns[] = {
    {"process", "process", SCOPES_TEXT},
    {"state", "state", SCOPES_TEXT},
    {"pid", "pid", SCOPES_NUMBER},
    {"threads", "threads", SCOPES_COUNT},
    {"elements", "elements", SCOPES_COUNT},
    {"streams", "streams", SCOPES_COUNT},
    {"events_recorded", "recorded", SCOPES_COUNT},
    {"events_present", "present", SCOPES_COUNT},
    {"events_lost", "lost", SCOPES_COUNT},
    {"events_spilled", "spilled", SCOPES_COUNT},
    {"blocked_ns", "blocked ms", SCOPES_TIME_NS},
    {"tick_source", "ticks", SCOPES_TEXT},
    {"text", "text", SCOPES_TEXT},       /* these last two may be long: */
    {"problem", "problem", SCOPES_TEXT}, /* see `notes_below` */
};
#define PROCESS_NOTES 2

static void add_process(const info *i, scopes_table *table, const char *name,
                        const viewer_process_facts *facts)
{
    static const eventspace_run_process nobody;
    const eventspace_run_process *process =
        facts->process ? facts->process : &nobody;
    scopes_table_text(table, name);
    scopes_table_text(table, facts->state);
    scopes_table_integer(table,
                         facts->process ? process->meta.pid : SCOPES_BLANK);
    scopes_table_integer(table, facts->threads);
    scopes_table_integer(table, (int64_t)facts->elements);
    scopes_table_integer(table, (int64_t)facts->streams);
    scopes_table_integer(table, (int64_t)facts->events.recorded);
    scopes_table_integer(table, (int64_t)facts->events.present);
    scopes_table_integer(table, (int64_t)facts->events.lost);
    scopes_table_integer(table, (int64_t)facts->events.spilled);
    scopes_table_integer(table, (int64_t)facts->events.blocked_ns);
    scopes_table_text(table, process->meta.tick_source);
    if (i->notes_below)
        return;
    scopes_table_text(table, process->meta.text);
    scopes_table_text(table, process->problem);
}

static int list_processes(info *i, scopes_table *table)
{
    for (size_t k = 0; k < i->facts.process_count; k++)
        add_process(i, table, i->facts.processes[k].process->name,
                    &i->facts.processes[k]);
    if (i->notes_below)
        add_process(i, table, "all", &i->facts.total);
    return 0;
}

/* --- threads --- */

static const scopes_column thread_columns[] = {
    {"number", "no.", SCOPES_NUMBER},
    {"thread", "thread", SCOPES_TEXT},
    {"process", "process", SCOPES_TEXT},
    {"paths", "paths", SCOPES_COUNT},
    {"operations", "operations", SCOPES_COUNT},
    {"lost", "lost", SCOPES_COUNT},
};

static const char *process_name(const paths_map *map, uint32_t process)
{
    return process < map->process_count ? map->processes[process].name : "";
}

/* Counted once for all lists. */
static int count_all(info *i)
{
    int err = 0;

    if (!i->counts.topology)
        err = viewer_counts_take(&i->counts, i->run);
    return err;
}

static int list_threads(info *i, scopes_table *table)
{
    int err = count_all(i);
    const scopes_topology *topology = i->counts.topology;
    for (uint32_t k = 0; !err && k < topology->thread_count; k++) {
        const paths_map_node *thread = &i->map->nodes[topology->threads[k]];
        scopes_table_integer(table, k);
        scopes_table_text(table, thread->name);
        scopes_table_text(table, process_name(i->map, thread->process));
        scopes_table_integer(table, thread->out_count);
        scopes_table_integer(table, (int64_t)i->counts.threads[k].operations);
        scopes_table_integer(table, (int64_t)i->counts.threads[k].lost);
    }
    return err;
}

/* --- elements --- */

static const scopes_column element_columns[] = {
    {"element", "element", SCOPES_TEXT},
    {"process", "process", SCOPES_TEXT},
    {"trace", "trace", SCOPES_TEXT},
    {"type", "type", SCOPES_TEXT},
    {"policy", "policy", SCOPES_TEXT},
    {"capacity", "capacity", SCOPES_COUNT},
    {"written", "written", SCOPES_COUNT},
    {"read", "read", SCOPES_COUNT},
    {"consumed", "consumed", SCOPES_COUNT},
    {"truncated", "truncated", SCOPES_COUNT},
    {"dropped", "dropped", SCOPES_COUNT},
    {"refused", "refused", SCOPES_COUNT},
    {"present", "present", SCOPES_COUNT},
};

static void add_element(scopes_table *table, const char *process,
                        pastset_element *element, bool trace)
{
    pastset_ledger ledger;
    pastset_element_ledger(element, &ledger);
    scopes_table_text(table, pastset_element_name(element));
    scopes_table_text(table, process);
    scopes_table_text(table, trace ? "yes" : "no");
    scopes_table_text(table, pastset_element_type(element)->text);
    scopes_table_text(table,
                      pastset_policy_name(pastset_element_policy(element)));
    scopes_table_integer(table, (int64_t)pastset_element_capacity(element));
    scopes_table_integer(table, (int64_t)ledger.written);
    scopes_table_integer(table, (int64_t)ledger.read);
    scopes_table_integer(table, (int64_t)ledger.consumed);
    scopes_table_integer(table, (int64_t)ledger.truncated);
    scopes_table_integer(table, (int64_t)ledger.dropped);
    scopes_table_integer(table, (int64_t)ledger.refused);
    scopes_table_integer(table, (int64_t)ledger.present);
}

static int list_elements(info *i, scopes_table *table)
{
    for (size_t k = 0; k < i->facts.process_count; k++) {
        const eventspace_run_process *process = i->facts.processes[k].process;
        size_t count = process->space ? pastset_space_count(process->space) : 0;
        for (size_t e = 0; e < count; e++) {
            pastset_element *element = pastset_space_at(process->space, e);
            if (paths_element_is_internal(pastset_element_name(element)))
                continue; /* not of the map: see the view pending */
            add_element(table, process->name, element,
                        eventspace_run_is_trace(i->run, element));
        }
    }
    return 0;
}

/* --- collectors --- */

static const scopes_column collector_columns[] = {
    {"id", "id", SCOPES_NUMBER},
    {"collector", "collector", SCOPES_TEXT},
    {"process", "process", SCOPES_TEXT},
    {"trace", "trace element", SCOPES_TEXT},
    {"events", "events", SCOPES_COUNT},
    {"bytes", "bytes", SCOPES_COUNT},
    {"failed", "failed", SCOPES_COUNT},
};

static void add_collector(scopes_table *table, const paths_map *map,
                          uint32_t id, uint32_t index,
                          const viewer_collector_counts *c)
{
    const paths_map_node *node = &map->nodes[index];
    const char *trace = paths_node_get(node, "trace");
    scopes_table_integer(table, id);
    scopes_table_text(table, node->name);
    scopes_table_text(table, process_name(map, node->process));
    scopes_table_text(table, trace ? trace : "");
    scopes_table_integer(table, (int64_t)c->events);
    scopes_table_integer(table, (int64_t)c->bytes);
    scopes_table_integer(table, (int64_t)c->failed);
}

static int list_collectors(info *i, scopes_table *table)
{
    int err = count_all(i);
    for (uint32_t id = 0; !err && id < i->counts.topology->collectors; id++) {
        uint32_t node = i->counts.topology->nodes[id];
        if (node != PATHS_NONE)
            add_collector(table, i->map, id, node, &i->counts.collectors[id]);
    }
    return err;
}

/* --- overhead --- */

/* What an event takes is measured no better. */
static double tenths(double ns)
{
    return round(ns * 10) / 10;
}

/* Of one process, and (but for how often it looked) of its archive. */
static const scopes_column overhead_columns[] = {
    {"process", "process", SCOPES_TEXT},
    {"lasted_ns", "lasted ms", SCOPES_TIME_NS},
    {"events_recorded", "recorded", SCOPES_COUNT},
    {"collectors_ns", "collectors ms", SCOPES_TIME_NS},
    {"collectors_share", "of a processor", SCOPES_SHARE},
    {"scheduling_ns", "scheduling ms", SCOPES_TIME_NS},
    {"events_archived", "archived", SCOPES_COUNT},
    {"archive_bytes", "bytes", SCOPES_COUNT},
    {"archive_pulls", "pulls", SCOPES_COUNT},
    {"archive_processor_ns", "archiving ms", SCOPES_TIME_NS},
    {"archive_share", "of a processor", SCOPES_SHARE},
};

static double share_of(double part_ns, double whole_ns)
{
    return whole_ns > 0 ? part_ns / whole_ns : NAN;
}

static void add_overhead(const info *i, scopes_table *table, const char *name,
                         const viewer_process_facts *facts)
{
    const scopes_archive_cost *archive = &facts->archive;
    bool there = facts->archived, known = i->event_cost_ns > 0;
    double collectors_ns =
        known ? (double)facts->events.recorded * i->event_cost_ns : NAN;

    scopes_table_text(table, name);
    scopes_table_integer(table,
                         facts->lasted_ns ? facts->lasted_ns : SCOPES_BLANK);
    scopes_table_integer(table, (int64_t)facts->events.recorded);
    scopes_table_integer(table, known ? (int64_t)collectors_ns : SCOPES_BLANK);
    scopes_table_real(table, share_of(collectors_ns, (double)facts->lasted_ns));
    scopes_table_integer(table, facts->scheduling_ns ? facts->scheduling_ns
                                                     : SCOPES_BLANK);
    scopes_table_integer(table,
                         there ? (int64_t)archive->tuples : SCOPES_BLANK);
    scopes_table_integer(table, there ? (int64_t)archive->bytes : SCOPES_BLANK);
    scopes_table_integer(table, there ? (int64_t)archive->pulls : SCOPES_BLANK);
    scopes_table_integer(table,
                         there ? (int64_t)archive->processor_ns : SCOPES_BLANK);
    scopes_table_real(table, share_of((double)archive->processor_ns,
                                      (double)archive->elapsed_ns));
}

static int list_overhead(info *i, scopes_table *table)
{
    for (size_t k = 0; k < i->facts.process_count; k++)
        add_overhead(i, table, i->facts.processes[k].process->name,
                     &i->facts.processes[k]);
    if (i->notes_below)
        add_overhead(i, table, "all", &i->facts.total);
    return 0;
}

/* --- all of them --- */

static const struct {
    const char *name; /* for --table, and in JSON */
    const scopes_column *columns;
    size_t column_count;
    int (*fill)(info *i, scopes_table *table);
} lists[LISTS] = {
    [LIST_PROCESSES] = {"processes", CLI_LIST(process_columns), list_processes},
    [LIST_THREADS] = {"threads", CLI_LIST(thread_columns), list_threads},
    [LIST_ELEMENTS] = {"elements", CLI_LIST(element_columns), list_elements},
    [LIST_COLLECTORS] = {"collectors", CLI_LIST(collector_columns),
                         list_collectors},
    [LIST_OVERHEAD] = {"overhead", CLI_LIST(overhead_columns), list_overhead},
};

static int print_list(info *i, info_list list, viewer_format format)
{
    size_t columns = lists[list].column_count;
    if (list == LIST_PROCESSES && i->notes_below)
        columns -= PROCESS_NOTES;
    scopes_table *table = scopes_table_create(lists[list].columns, columns);
    int err = table ? lists[list].fill(i, table) : 0;
    if (!err)
        err = viewer_table_print(table, format, stdout);
    scopes_table_destroy(table);
    return err;
}

/* What JSON says of the whole run. */
static const scopes_column total_columns[] = {
    {"run", "run", SCOPES_TEXT},
    {"map", "map", SCOPES_TEXT},
    {"state", "state", SCOPES_TEXT},
    {"threads", "threads", SCOPES_COUNT},
    {"damaged_processes", "damaged", SCOPES_COUNT},
    {"events_recorded", "recorded", SCOPES_COUNT},
    {"events_present", "present", SCOPES_COUNT},
    {"events_lost", "lost", SCOPES_COUNT},
    {"events_spilled", "spilled", SCOPES_COUNT},
    {"blocked_ns", "blocked ms", SCOPES_TIME_NS},
    {"trace_bytes", "bytes", SCOPES_COUNT},
    {"lasted_ns", "lasted ms", SCOPES_TIME_NS},
    {"event_cost_ns", "an event ns", SCOPES_REAL},
};

static int print_total(const info *i)
{
    const viewer_process_facts *total = &i->facts.total;
    scopes_table *table = scopes_table_create(CLI_LIST(total_columns));
    int err;

    scopes_table_text(table, i->name);
    scopes_table_text(table, i->map->name);
    scopes_table_text(table, total->state);
    scopes_table_integer(table, total->threads);
    scopes_table_integer(table, (int64_t)eventspace_run_damaged(i->run));
    scopes_table_integer(table, (int64_t)total->events.recorded);
    scopes_table_integer(table, (int64_t)total->events.present);
    scopes_table_integer(table, (int64_t)total->events.lost);
    scopes_table_integer(table, (int64_t)total->events.spilled);
    scopes_table_integer(table, (int64_t)total->events.blocked_ns);
    scopes_table_integer(table, (int64_t)total->events.bytes);
    scopes_table_integer(table, total->lasted_ns);
    scopes_table_real(table,
                      i->event_cost_ns > 0 ? tenths(i->event_cost_ns) : NAN);
    err = viewer_table_print_members(table, 0, stdout);
    scopes_table_destroy(table);
    return err;
}

static int print_json(info *i)
{
    int err;

    fputs("{\"total\": {", stdout);
    err = print_total(i);
    putchar('}');
    for (info_list list = 0; list < LISTS && !err; list++) {
        printf(",\n\"%s\": ", lists[list].name);
        err = print_list(i, list, VIEWER_JSON);
    }
    puts("}");
    return err;
}

static void print_note(const char *process, const char *state, const char *text)
{
    if (*text)
        printf("%s %s: %s\n", process, state, text);
}

static void print_notes(const info *i)
{
    putchar('\n');
    for (size_t k = 0; k < i->facts.process_count; k++) {
        const eventspace_run_process *process = i->facts.processes[k].process;
        print_note(process->name, i->facts.processes[k].state,
                   process->meta.text);
        print_note(process->name, "files", process->problem);
    }
}

/* An estimate, and by what. */
/* "850.0 us", "1.2 ms" */
static const char *time_text(double ns, char *buffer)
{
    bool small = ns < 1e6;

    snprintf(buffer, CLI_TEXT_BYTES, "%.1f %s", ns / (small ? 1e3 : 1e6),
             small ? "us" : "ms");
    return buffer;
}

static void print_overhead(const info *i)
{
    char size[CLI_TEXT_BYTES], time[CLI_TEXT_BYTES];
    const viewer_process_facts *total = &i->facts.total;
    const scopes_archive_cost *archive = &total->archive;
    double collectors_ns = (double)total->events.recorded * i->event_cost_ns;

    if (i->event_cost_ns > 0 && total->events.recorded)
        printf("collectors: an estimated %s in all: %" PRIu64
               " events at %.1f ns each, measured on this machine now\n",
               time_text(collectors_ns, time), total->events.recorded,
               i->event_cost_ns);
    if (total->archived)
        printf("archive: %" PRIu64 " events, %s, %s of processor time\n",
               archive->tuples, cli_size_text(archive->bytes, size),
               time_text((double)archive->processor_ns, time));
}

static void print_summary(const info *i)
{
    const viewer_facts *facts = &i->facts;
    const eventspace_events *events = &facts->total.events;
    char size[CLI_TEXT_BYTES];

    printf("%s: %s, %zu %s, %u thread%s\n", i->name, i->map->name,
           facts->process_count,
           facts->process_count == 1 ? "process" : "processes",
           facts->total.threads, facts->total.threads == 1 ? "" : "s");
    printf("events: %" PRIu64 " recorded, %" PRIu64 " present (%s), %" PRIu64
           " lost%s\n",
           events->recorded, events->present,
           cli_size_text(events->bytes, size), events->lost,
           eventspace_run_damaged(i->run)
               ? ", and an unknown number in damaged files"
               : "");
    print_overhead(i);
}

static int print_info(info *i, info_list list, viewer_format format)
{
    if (format == VIEWER_JSON)
        return print_json(i);
    i->notes_below = format == VIEWER_TABLE;
    int err = print_list(i, list, format);
    if (!err && list == LIST_PROCESSES && format == VIEWER_TABLE) {
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

enum { KEY_TABLE = 256, KEY_OVERHEAD };

static const struct argp_option info_options[] = {
    CLI_FORMAT_OPTION,
    {"table", KEY_TABLE, "TABLE", 0,
     "Print this table: processes, threads, elements, collectors or overhead "
     "(default processes)",
     0},
    {"overhead", KEY_OVERHEAD, NULL, 0, "Short for --table=overhead", 0},
    {"threads", EVENTSPACE_RENAMED, NULL, OPTION_HIDDEN, "table=threads", 0},
    {"elements", EVENTSPACE_RENAMED, NULL, OPTION_HIDDEN, "table=elements", 0},
    {"collectors", EVENTSPACE_RENAMED, NULL, OPTION_HIDDEN, "table=collectors",
     0},
    {"costs", EVENTSPACE_RENAMED, NULL, OPTION_HIDDEN, "table=overhead", 0},
    {0},
};

static info_list read_table(const char *text, struct argp_state *state)
{
    const char *names[LISTS];

    for (info_list list = 0; list < LISTS; list++)
        names[list] = lists[list].name;
    return (info_list)cli_choice(text, names, LISTS,
                                 "the table '%s' is not one of processes, "
                                 "threads, elements, collectors, overhead",
                                 state);
}

static error_t parse_info(int key, char *text, struct argp_state *state)
{
    info_arguments *a = state->input;
    switch (key) {
    case 'f':
        a->format = cli_format(text, state);
        return 0;
    case KEY_TABLE:
        a->list = read_table(text, state);
        return 0;
    case KEY_OVERHEAD:
        a->list = LIST_OVERHEAD;
        return 0;
    default:
        return cli_take_one(&a->run, "the run directory", key, text, state);
    }
}

int cli_info(int argc, char **argv)
{
    static const struct argp argp = {
        info_options,
        parse_info,
        "RUN",
        "Prints what a run directory holds: the processes and how they ended, "
        "and how many events were recorded and lost. JSON has all tables."
        "\vThe run may still be going on, and its processes may have been "
        "killed.",
        NULL,
        NULL,
        NULL};
    info_arguments a = {0};
    info i = {0};
    if (eventspace_options_parse(&argp, argc, argv, 0, EVENTSPACE_NO_PROGRAM,
                                 &a))
        return COMMAND_USAGE;
    i.name = a.run;
    i.run = cli_open_run(a.run);
    if (!i.run)
        return COMMAND_FAILED;
    i.map = paths_map_ref(eventspace_run_map(i.run));
    int err = viewer_facts_take(&i.facts, i.run);
    if (a.list == LIST_PROCESSES || a.list == LIST_OVERHEAD ||
        a.format == VIEWER_JSON)
        i.event_cost_ns = viewer_event_cost_ns();
    if (!err)
        err = print_info(&i, a.list, a.format);
    viewer_counts_fini(&i.counts);
    viewer_facts_fini(&i.facts);
    paths_map_unref(i.map);
    eventspace_run_close(i.run);
    return cli_end_output(err);
}
