/* wait_states.c - the view "wait-states": the waiting of threads, by the names
 * that tools for MPI have for it (scopes/waiting/waiting_internal.h says what
 * they mean).
 *
 *   kind          late sender, late receiver, wait at barrier, wait at N x N,
 *                 early reduce, late broadcast, early scan
 *   thread        that waited; its process
 *   call, over    the path by which it did, and the element at its end
 *   for_thread    for whom it waited; its process
 *   for_call      the path by which that one came then
 *   count, total, longest
 *                 of the waits; the share is that of all waiting of all threads
 *
 * A row is all of that together, those with the most time first. Only what was
 * before the other one came counts, so what is not waiting but the network, or
 * the work of a collective, does not.
 *
 * With `each`: a wait, by thread and then by time. `threads` chooses among
 * those that waited, `of` among their paths. */
#include "scopes/views/view_waiting_internal.h"

#include <stdlib.h>

/* Out of memory is no end of the program. */
#define HASH_NONFATAL_OOM 1
#define uthash_nonfatal_oom(item) (*(item)->failed = true)
#include <uthash.h>

#include "pastset/status.h"

static const scopes_column columns[] = {
    {"kind", "kind", SCOPES_TEXT},
    {"thread", "thread", SCOPES_TEXT},
    {"process", "process", SCOPES_TEXT},
    {"call", "in call", SCOPES_TEXT},
    {"over", "over element", SCOPES_TEXT},
    {"for_thread", "waits for", SCOPES_TEXT},
    {"for_process", "on process", SCOPES_TEXT},
    {"for_call", "which arrived over", SCOPES_TEXT},
    {"count", "count", SCOPES_COUNT},
    {"total_ns", "total ms", SCOPES_TIME_NS},
    {"max_ns", "max ms", SCOPES_TIME_NS},
    {"waiting_share", "share of all waiting", SCOPES_SHARE},
};

#define TOTAL_COLUMN 9

static const scopes_column each_columns[] = {
    {"kind", "kind", SCOPES_TEXT},
    {"thread", "thread", SCOPES_TEXT},
    {"sequence", "sequence", SCOPES_NUMBER},
    {"call", "in call", SCOPES_TEXT},
    {"over", "over element", SCOPES_TEXT},
    {"for_thread", "waits for", SCOPES_TEXT},
    {"for_sequence", "its sequence", SCOPES_NUMBER},
    {"for_call", "which arrived over", SCOPES_TEXT},
    {"start_ns", "start ms", SCOPES_TIME_NS},
    {"wait_ns", "wait ms", SCOPES_TIME_NS},
};

/* What a row has in common: tops by position. */
typedef struct row_key {
    uint32_t kind, top, other_top;
} row_key;

typedef struct row {
    row_key key;
    int64_t count, total_ns, max_ns;
    bool *failed;
    UT_hash_handle hh;
} row;

typedef struct states {
    scopes_table *out;
    const scopes_view_input *view_input;
    const scopes__waiting *waiting;
    row *rows;
    int64_t all_ns;
} states;

static const scopes_top *top_at(const states *s, uint32_t position)
{
    return &s->view_input->topology->tops[position];
}

static bool is_asked_for(const states *s, const scopes__wait *wait)
{
    const scopes_top *top = top_at(s, wait->top);

    return scopes__has_thread(s->view_input, top->thread) &&
           scopes__way_is_of(s->view_input, top->edge);
}

static const char *process_of(const states *s, uint32_t thread)
{
    const scopes_topology *topology = s->view_input->topology;

    return scopes_topology_process_name(
        topology, topology->map->nodes[topology->threads[thread]].process);
}

/* --- sums --- */

static int sum_wait(states *s, const scopes__wait *wait)
{
    row_key key = {wait->kind, wait->top, wait->other_top};
    int64_t ns = wait->to_ns - wait->from_ns;
    bool failed = false;
    row *r;

    HASH_FIND(hh, s->rows, &key, sizeof(key), r);
    if (!r) {
        r = calloc(1, sizeof(*r));
        if (!r)
            return pastset_no_memory("for the view wait-states");
        r->key = key;
        r->failed = &failed;
        HASH_ADD(hh, s->rows, key, sizeof(key), r);
        if (failed) {
            free(r);
            return pastset_no_memory("for the view wait-states");
        }
    }
    r->count++;
    r->total_ns = scopes__sum_ns(r->total_ns, ns);
    r->max_ns = ns > r->max_ns ? ns : r->max_ns;
    return 0;
}

static void add_row(const states *s, const row *r)
{
    const scopes_topology *topology = s->view_input->topology;
    const scopes_top *own = top_at(s, r->key.top);
    const scopes_top *its = top_at(s, r->key.other_top);

    scopes_table_text(s->out, scopes__wait_kind_name(r->key.kind));
    scopes_table_text(s->out,
                      scopes_topology_thread_name(topology, own->thread));
    scopes_table_text(s->out, process_of(s, own->thread));
    scopes_table_text(s->out, own->name);
    scopes_table_text(s->out,
                      scopes_topology_node_name(topology, own->element));
    scopes_table_text(s->out,
                      scopes_topology_thread_name(topology, its->thread));
    scopes_table_text(s->out, process_of(s, its->thread));
    scopes_table_text(s->out, its->name);
    scopes_table_integer(s->out, r->count);
    scopes_table_integer(s->out, r->total_ns);
    scopes_table_integer(s->out, r->max_ns);
    scopes_table_real(s->out, (double)r->total_ns / (double)s->all_ns);
}

static void add_rows(states *s)
{
    for (const row *r = s->rows; r; r = r->hh.next)
        add_row(s, r);
    scopes_table_sort(s->out, TOTAL_COLUMN);
}

static void rows_free(states *s)
{
    row *r, *next;

    HASH_ITER(hh, s->rows, r, next)
    {
        HASH_DEL(s->rows, r);
        free(r);
    }
}

/* --- each --- */

static void add_wait(const states *s, const scopes__wait *wait)
{
    const scopes_topology *topology = s->view_input->topology;
    const scopes_top *own = top_at(s, wait->top);
    const scopes_top *its = top_at(s, wait->other_top);

    scopes_table_text(s->out, scopes__wait_kind_name(wait->kind));
    scopes_table_text(s->out,
                      scopes_topology_thread_name(topology, own->thread));
    scopes_table_integer(
        s->out,
        scopes__waiting_operation(s->waiting, wait->operation)->sequence);
    scopes_table_text(s->out, own->name);
    scopes_table_text(s->out,
                      scopes_topology_node_name(topology, own->element));
    scopes_table_text(s->out,
                      scopes_topology_thread_name(topology, its->thread));
    scopes_table_integer(
        s->out, scopes__waiting_operation(s->waiting, wait->other)->sequence);
    scopes_table_text(s->out, its->name);
    scopes_table_integer(s->out, wait->from_ns);
    scopes_table_integer(s->out, wait->to_ns - wait->from_ns);
}

/* --- the view --- */

static int add_waits(states *s)
{
    int err = 0;

    for (uint32_t i = 0; i < s->waiting->wait_count && !err; i++) {
        const scopes__wait *wait = &s->waiting->waits[i];
        s->all_ns = scopes__sum_ns(s->all_ns, wait->to_ns - wait->from_ns);
        if (!is_asked_for(s, wait))
            continue;
        if (s->view_input->each)
            add_wait(s, wait);
        else
            err = sum_wait(s, wait);
    }
    return err;
}

static int make(scopes_table *out, const scopes_view_input *view_input)
{
    states s = {.out = out, .view_input = view_input};
    scopes__waiting *waiting;
    int err = scopes__view_waiting(&waiting, view_input);

    if (err)
        return err;
    s.waiting = waiting;
    err = add_waits(&s);
    if (!err && !view_input->each)
        add_rows(&s);
    rows_free(&s);
    scopes__waiting_destroy(waiting);
    return err;
}

const scopes_view scopes__view_wait_states = {
    "wait-states",
    "the waiting of threads by the names of MPI's tools: late sender ...",
    "a wait",
    SCOPES__COLUMNS(columns),
    SCOPES__COLUMNS(each_columns),
    .turn = 1,
    .make = make,
    .when_empty = "no operation waited for one of another thread"};
