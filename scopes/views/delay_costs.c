/* delay_costs.c - the view "delay-costs": which thread spent its time on what,
 * longer than others, so that they waited; traced back over all who only passed
 * the delay on (scopes/waiting/trace_back_internal.h).
 *
 *   thread          that was late; its process
 *   what            computing, or communicating: in a call, without waiting
 *   after, before   between which two of its calls it computed, by the names of
 *                   their paths; the call it was in is in `before`
 *   direct_ns       what others waited for it
 *   propagated_ns   what others waited for those who had waited for it
 *   total_ns        both, the cost of the delay
 *   delays_share    of all waiting of all threads
 *   waits           how many these were, in part or in all
 *
 * A row is all of that together, those with the greatest cost first; all costs
 * add up to all waiting. With `each`: one piece of a thread's time. `threads`
 * chooses among those that were late; `of` among the waiting: that over such
 * paths, of which the shares are then. */
#include "scopes/views/view_waiting_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Out of memory is no end of the program. */
#define HASH_NONFATAL_OOM 1
#define uthash_nonfatal_oom(item) (*(item)->failed = true)
#include <uthash.h>

#include "pastset/status.h"
#include "scopes/waiting/trace_back_internal.h"

static const scopes_column columns[] = {
    {"thread", "thread", SCOPES_TEXT},
    {"process", "process", SCOPES_TEXT},
    {"what", "what", SCOPES_TEXT},
    {"after", "after call", SCOPES_TEXT},
    {"before", "before or in call", SCOPES_TEXT},
    {"direct_ns", "direct ms", SCOPES_TIME_NS},
    {"propagated_ns", "propagated ms", SCOPES_TIME_NS},
    {"total_ns", "total ms", SCOPES_TIME_NS},
    {"delays_share", "share of all waiting", SCOPES_SHARE},
    {"waits", "waits", SCOPES_COUNT},
};

static const scopes_column each_columns[] = {
    {"thread", "thread", SCOPES_TEXT},
    {"what", "what", SCOPES_TEXT},
    {"after", "after call", SCOPES_TEXT},
    {"before", "before or in call", SCOPES_TEXT},
    {"sequence", "sequence", SCOPES_NUMBER},
    {"start_ns", "start ms", SCOPES_TIME_NS},
    {"time_ns", "time ms", SCOPES_TIME_NS},
    {"direct_ns", "direct ms", SCOPES_TIME_NS},
    {"propagated_ns", "propagated ms", SCOPES_TIME_NS},
    {"total_ns", "total ms", SCOPES_TIME_NS},
    {"delays_share", "share of all waiting", SCOPES_SHARE},
};

#define TOTAL_COLUMN 7
#define EACH_TOTAL_COLUMN 9

#define NEAR 1024

/* What a row has in common. */
typedef struct row_key {
    uint32_t after, before; /* tops; of each: SCOPES_MISSING, and the operation
                             */
    uint32_t in_call;
} row_key;

typedef struct row {
    row_key key;
    uint32_t operation; /* one of them */
    double direct_ns, propagated_ns;
    int64_t waits;
    uint32_t last_wait; /* that was counted; SCOPES_MISSING: none */
    bool *failed;
    UT_hash_handle hh;
} row;

typedef struct costs {
    scopes_table *out;
    const scopes_view_input *view_input;
    const scopes__waiting *waiting;
    row *rows;
    row *near[NEAR]; /* those asked for last, by what they have in common */
    double all_ns;
} costs;

static int no_memory(void)
{
    return pastset_no_memory("for the view delay-costs");
}

/* The operation of its thread before; SCOPES_MISSING. */
static uint32_t before_of(const costs *c, uint32_t operation)
{
    uint32_t thread = scopes__waiting_operation(c->waiting, operation)->thread;

    return operation > c->waiting->times->threads[thread].operation
               ? operation - 1
               : SCOPES_MISSING;
}

static uint32_t top_of(const costs *c, uint32_t operation)
{
    return operation == SCOPES_MISSING
               ? SCOPES_MISSING
               : scopes__waiting_top_number(c->waiting, operation);
}

/* --- rows --- */

static int row_make(costs *c, const row_key *key, row **out)
{
    bool failed = false;
    row *r;

    HASH_FIND(hh, c->rows, key, sizeof(*key), r);
    *out = r;
    if (r)
        return 0;
    r = calloc(1, sizeof(*r));
    if (!r)
        return no_memory();
    r->key = *key;
    r->last_wait = SCOPES_MISSING;
    r->failed = &failed;
    HASH_ADD(hh, c->rows, key, sizeof(*key), r);
    if (failed) {
        free(r);
        return no_memory();
    }
    *out = r;
    return 0;
}

static int row_find(costs *c, const row_key *key, row **out)
{
    row **near =
        &c->near[(key->after * 31 + key->before * 2 + key->in_call) % NEAR];
    int err = 0;

    if (!*near || memcmp(&(*near)->key, key, sizeof(*key)) != 0)
        err = row_make(c, key, near);
    *out = *near;
    return err;
}

static int take_delay(const scopes__delay *delay, void *context)
{
    costs *c = context;
    row_key key = {SCOPES_MISSING, delay->operation, delay->in_call};
    row *r;
    int err;

    if (!c->view_input->each)
        key = (row_key){delay->in_call
                            ? SCOPES_MISSING
                            : top_of(c, before_of(c, delay->operation)),
                        top_of(c, delay->operation), delay->in_call};
    err = row_find(c, &key, &r);
    if (err)
        return err;
    r->operation = delay->operation;
    r->direct_ns += delay->direct_ns;
    r->propagated_ns += delay->propagated_ns;
    r->waits += r->last_wait != delay->wait;
    r->last_wait = delay->wait;
    return 0;
}

static const char *call_of(const costs *c, uint32_t operation)
{
    return operation == SCOPES_MISSING
               ? ""
               : scopes__waiting_top(c->waiting, operation)->name;
}

static void add_when(const costs *c, const row *r)
{
    const scopes_operation *o =
        scopes__waiting_operation(c->waiting, r->operation);
    int64_t gap_ns = scopes__waiting_gap_ns(
        c->waiting, &c->waiting->times->threads[o->thread], r->operation);

    scopes_table_integer(c->out, o->sequence);
    scopes_table_integer(c->out,
                         r->key.in_call ? o->start_ns : o->start_ns - gap_ns);
    scopes_table_integer(c->out,
                         r->key.in_call ? o->end_ns - o->start_ns : gap_ns);
}

static void add_row(const costs *c, const row *r)
{
    const scopes_topology *topology = c->view_input->topology;
    uint32_t thread =
        scopes__waiting_operation(c->waiting, r->operation)->thread;
    uint32_t process = topology->map->nodes[topology->threads[thread]].process;
    double total_ns = r->direct_ns + r->propagated_ns;

    if (!scopes__has_thread(c->view_input, thread) || total_ns < 0.5)
        return;
    scopes_table_text(c->out, scopes_topology_thread_name(topology, thread));
    if (!c->view_input->each)
        scopes_table_text(c->out,
                          scopes_topology_process_name(topology, process));
    scopes_table_text(c->out, r->key.in_call ? "communicating" : "computing");
    scopes_table_text(
        c->out, r->key.in_call ? "" : call_of(c, before_of(c, r->operation)));
    scopes_table_text(c->out, call_of(c, r->operation));
    if (c->view_input->each)
        add_when(c, r);
    scopes_table_integer(c->out, llround(r->direct_ns));
    scopes_table_integer(c->out, llround(r->propagated_ns));
    scopes_table_integer(c->out, llround(total_ns));
    scopes_table_real(c->out, total_ns / c->all_ns);
    if (!c->view_input->each)
        scopes_table_integer(c->out, r->waits);
}

static void rows_free(costs *c)
{
    row *r, *next;

    HASH_ITER(hh, c->rows, r, next)
    {
        HASH_DEL(c->rows, r);
        free(r);
    }
}

/* --- the view --- */

static bool counts(uint32_t number, void *context)
{
    costs *c = context;
    const scopes__wait *wait = &c->waiting->waits[number];

    if (c->view_input->of &&
        !scopes__way_is_of(c->view_input,
                           c->view_input->topology->tops[wait->top].edge))
        return false;
    c->all_ns += (double)(wait->to_ns - wait->from_ns);
    return true;
}

static int add_costs(costs *c)
{
    int err = scopes__trace_back(c->waiting, counts, NULL, take_delay, c);

    if (err)
        return err;
    for (const row *r = c->rows; r; r = r->hh.next)
        add_row(c, r);
    scopes_table_sort(c->out,
                      c->view_input->each ? EACH_TOTAL_COLUMN : TOTAL_COLUMN);
    return 0;
}

static int make(scopes_table *out, const scopes_view_input *view_input)
{
    costs c = {.out = out, .view_input = view_input};
    scopes__waiting *waiting;
    int err = scopes__view_waiting(&waiting, view_input);

    if (err)
        return err;
    c.waiting = waiting;
    err = add_costs(&c);
    rows_free(&c);
    scopes__waiting_destroy(waiting);
    return err;
}

const scopes_view scopes__view_delay_costs = {
    "delay-costs",
    "which delays caused the waiting, traced back to where they arose",
    "a piece of a thread's time for which others waited",
    SCOPES__COLUMNS(columns),
    SCOPES__COLUMNS(each_columns),
    .turn = -1,
    .make = make,
    .when_empty = "no operation waited for one of another thread"};
