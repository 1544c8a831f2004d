/* course_between.c - what processes have to do with each other, interval by
 * interval: for whom they wait, and how long the rest of operations takes that
 * they have with one other only. */
#include <stdlib.h>
#include <string.h>

#include "contracts/signature/course_internal.h"
#include "pastset/array.h"
#include "pastset/status.h"
#include "scopes/views/view.h"

/* --- whom paths lead to --- */

/* Of an element: the processes that use it, or have it. */
typedef struct users {
    uint32_t first, second; /* PATHS_NONE: there is none */
    bool are_more;
} users;

static void user_add(users *u, uint32_t process)
{
    if (process == PATHS_NONE || u->first == process || u->second == process)
        return;
    if (u->first == PATHS_NONE)
        u->first = process;
    else if (u->second == PATHS_NONE)
        u->second = process;
    else
        u->are_more = true;
}

/* With whom a process has to do there. */
static uint32_t other_user(const users *u, uint32_t process, uint32_t home)
{
    if (u->are_more)
        return home == process ? PATHS_NONE : home;
    return u->first == process ? u->second : u->first;
}

static void users_find(users *all, const contracts__making *m)
{
    const scopes_topology *t = m->snapshot->topology;

    for (uint32_t i = 0; i < t->map->node_count; i++)
        all[i] = (users){PATHS_NONE, PATHS_NONE, false};
    for (uint32_t i = 0; i < t->top_count; i++) {
        const scopes_top *top = &t->tops[i];
        if (top->site != PATHS_NONE || top->element == PATHS_NONE ||
            top->thread >= m->times->thread_count)
            continue;
        user_add(&all[top->element], m->times->threads[top->thread].process);
        user_add(&all[top->element], t->map->nodes[top->element].process);
    }
}

/* In which it is not known with whom the time goes. */
static bool is_collective(const paths_map_node *element)
{
    static const char *const has[] = {"collective", "rounds", "members"};

    for (size_t i = 0; i < sizeof(has) / sizeof(has[0]); i++)
        if (paths_attributes_get(&element->attributes, has[i]))
            return true;
    return false;
}

static void path_see(contracts__making *m, size_t path, const scopes_top *top,
                     const users *all)
{
    const paths_map_node *nodes = m->snapshot->topology->map->nodes;
    uint32_t process = m->times->threads[m->times->paths[path].thread].process;
    uint32_t other = PATHS_NONE;

    m->meets[path] = top->site != PATHS_NONE;
    if (!m->meets[path] && top->element != PATHS_NONE &&
        !is_collective(&nodes[top->element]))
        other = other_user(&all[top->element], process,
                           nodes[top->element].process);
    m->peers[path] = other < m->c->processes ? other : PATHS_NONE;
}

int contracts__peers_find(contracts__making *m)
{
    const scopes_topology *t = m->snapshot->topology;
    size_t paths = m->times->path_count, processes = m->c->processes;
    users *all = malloc(((size_t)t->map->node_count + 1) * sizeof(*all));
    uint32_t top = 0;

    m->meets = calloc(paths + 1, sizeof(*m->meets));
    m->peers = calloc(paths + 1, sizeof(*m->peers));
    m->toward = calloc(processes + 1, sizeof(*m->toward));
    m->others = calloc(processes + 1, sizeof(*m->others));
    if (!all || !m->meets || !m->peers || !m->toward || !m->others) {
        free(all);
        return pastset_no_memory("for what a run did");
    }
    users_find(all, m);
    for (size_t i = 0; i < paths; i++) { /* in the same order */
        m->peers[i] = PATHS_NONE;
        while (top < t->top_count &&
               t->tops[top].edge != m->times->paths[i].edge)
            top++;
        if (top < t->top_count)
            path_see(m, i, &t->tops[top], all);
    }
    free(all);
    return 0;
}

void contracts__peers_forget(contracts__making *m)
{
    free(m->meets);
    free(m->peers);
    free(m->toward);
    free(m->others);
}

/* --- calls --- */

typedef struct call {
    const scopes_operation *first, *end;
    uint32_t peer; /* PATHS_NONE: none is known, or they are several */
    bool is_mixed; /* they are several */
} call;

static bool is_same_call(const scopes_operation *a, const scopes_operation *b)
{
    return a->start_ns == b->start_ns && a->end_ns == b->end_ns;
}

static call call_of(const contracts__making *m, const scopes_operation *o)
{
    const scopes_thread *thread = &m->times->threads[o->thread];
    const scopes_operation *from = &m->times->operations[thread->operation];
    const scopes_operation *to = from + thread->operations;
    call c = {o, o + 1, m->peers[o->path], false};

    while (c.first > from && is_same_call(c.first - 1, o))
        c.first--;
    while (c.end < to && is_same_call(c.end, o))
        c.end++;
    for (const scopes_operation *i = c.first; i < c.end && !c.is_mixed; i++)
        c.is_mixed = m->peers[i->path] != c.peer;
    if (c.is_mixed)
        c.peer = PATHS_NONE;
    return c;
}

uint32_t contracts__peer_of(const contracts__making *m,
                            const scopes_operation *operation)
{
    return call_of(m, operation).peer;
}

/* --- pairs --- */

static int between_add(contracts_course *c, contracts_between one)
{
    contracts_between *grown =
        pastset_array_grow(c->betweens, c->between_count, sizeof(*grown));

    if (!grown)
        return pastset_no_memory("for what processes had to do with others");
    c->betweens = grown;
    c->betweens[c->between_count++] = one;
    return 0;
}

int contracts__toward_end(contracts__making *m, uint32_t process)
{
    int err = 0;

    for (uint32_t i = 0; i < m->other_count && !err; i++) {
        uint32_t other = m->others[i];
        err = between_add(m->c, (contracts_between){m->interval, process, other,
                                                    0, m->toward[other]});
        m->toward[other] = 0;
    }
    m->other_count = 0;
    return err;
}

int contracts__toward(contracts__making *m, uint32_t process, size_t interval,
                      uint32_t other, double seconds)
{
    int err = interval == m->interval ? 0 : contracts__toward_end(m, process);

    m->interval = interval;
    if (err || other == PATHS_NONE || seconds <= 0)
        return err;
    if (m->toward[other] == 0)
        m->others[m->other_count++] = other;
    m->toward[other] += seconds;
    return 0;
}

static int by_place(const void *left, const void *right)
{
    const contracts_between *a = left, *b = right;

    if (a->interval != b->interval)
        return a->interval < b->interval ? -1 : 1;
    if (a->process != b->process)
        return a->process < b->process ? -1 : 1;
    return (a->other > b->other) - (a->other < b->other);
}

/* Those of the same two processes in an interval together. */
static void betweens_join(contracts_course *c)
{
    size_t count = 0;

    if (c->between_count == 0)
        return;
    qsort(c->betweens, c->between_count, sizeof(*c->betweens), by_place);
    for (size_t i = 1; i < c->between_count; i++) {
        contracts_between *last = &c->betweens[count], *next = &c->betweens[i];
        if (by_place(last, next) == 0) {
            last->waiting += next->waiting;
            last->transfer += next->transfer;
        } else {
            c->betweens[++count] = *next;
        }
    }
    c->between_count = count + 1;
    for (size_t i = 0; i < c->between_count; i++) /* as times were rounded */
        if (c->betweens[i].transfer < 0)
            c->betweens[i].transfer = 0;
}

const contracts_between *contracts_course_betweens(const contracts_course *c,
                                                   uint32_t process,
                                                   size_t interval,
                                                   size_t *count)
{
    contracts_between first = {interval, process, 0, 0, 0};
    size_t low = 0, high = c->between_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (by_place(&c->betweens[middle], &first) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (*count = 0; low + *count < c->between_count; ++*count) {
        const contracts_between *one = &c->betweens[low + *count];
        if (one->interval != interval || one->process != process)
            break;
    }
    return &c->betweens[low];
}

/* --- waits --- */

typedef struct named {
    const char *name;
    uint32_t thread;
} named;

enum { THREAD, SEQUENCE, FOR_THREAD, START, WAIT, COLUMNS };

typedef struct waits {
    const contracts__making *m;
    named *threads; /* by name */
    uint32_t thread_count;
    size_t columns[COLUMNS];
    const scopes_table *table;
} waits;

static int by_name(const void *left, const void *right)
{
    const named *a = left, *b = right;

    return strcmp(a->name, b->name);
}

static uint32_t thread_of(const waits *w, const char *name)
{
    named key = {name, PATHS_NONE};
    const named *found =
        name ? bsearch(&key, w->threads, w->thread_count, sizeof(key), by_name)
             : NULL;

    return found ? found->thread : PATHS_NONE;
}

/* NULL: it is not there. */
static const scopes_operation *operation_of(const contracts__making *m,
                                            uint32_t number, int64_t sequence)
{
    const scopes_thread *thread = &m->times->threads[number];
    const scopes_operation *all = &m->times->operations[thread->operation];
    size_t low = 0, high = thread->operations;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (all[middle].sequence < sequence)
            low = middle + 1;
        else
            high = middle;
    }
    return low < thread->operations && all[low].sequence == sequence ? &all[low]
                                                                     : NULL;
}

/* From one time to another, of each second as much as `one` has. */
static int pieces_add(contracts_course *c, contracts_between one,
                      int64_t from_ns, int64_t to_ns)
{
    int err = 0;

    if (from_ns < c->from_ns)
        from_ns = c->from_ns;
    while (from_ns < to_ns && !err) {
        size_t interval = contracts__interval_of(c, from_ns);
        int64_t end_ns = c->from_ns + (int64_t)(interval + 1) * c->interval_ns;
        double seconds;
        if (interval >= c->intervals)
            break;
        end_ns = end_ns < to_ns ? end_ns : to_ns;
        seconds = CONTRACTS__NS * (double)(end_ns - from_ns);
        contracts_course_at(c, one.process, interval)[CONTRACTS_WAITING] +=
            one.waiting * seconds;
        if (one.other != PATHS_NONE && one.other != one.process)
            err = between_add(c, (contracts_between){interval, one.process,
                                                     one.other,
                                                     one.waiting * seconds,
                                                     one.transfer * seconds});
        from_ns = end_ns;
    }
    return err;
}

/* What was waiting of a call was no transfer. Of one with several, what comes
 * behind it was for the one that was waited for. */
static int transfer_correct(const contracts__making *m,
                            const scopes_operation *o, contracts_between wait,
                            int64_t from_ns, int64_t to_ns)
{
    contracts_between one = {.process = wait.process, .other = wait.other};
    call c = call_of(m, o);

    if (c.is_mixed) {
        one.transfer = 1;
        return pieces_add(m->c, one, to_ns, o->end_ns);
    }
    one.other = c.peer;
    one.transfer = -1;
    return pieces_add(m->c, one, from_ns, to_ns);
}

static int wait_read(const waits *w, size_t row)
{
    const scopes_thread *threads = w->m->times->threads;
    uint32_t thread =
        thread_of(w, scopes_table_cell(w->table, row, w->columns[THREAD]).text);
    uint32_t whom = thread_of(
        w, scopes_table_cell(w->table, row, w->columns[FOR_THREAD]).text);
    int64_t sequence =
        scopes_table_cell(w->table, row, w->columns[SEQUENCE]).integer;
    int64_t from_ns =
        scopes_table_cell(w->table, row, w->columns[START]).integer;
    int64_t ns = scopes_table_cell(w->table, row, w->columns[WAIT]).integer;
    contracts_between one = {.waiting = 1, .other = PATHS_NONE};
    const scopes_operation *o;
    int err;

    if (thread == PATHS_NONE || ns <= 0 || from_ns == SCOPES_BLANK ||
        threads[thread].process >= w->m->c->processes)
        return 0;
    one.process = threads[thread].process;
    if (whom != PATHS_NONE && threads[whom].process < w->m->c->processes)
        one.other = threads[whom].process;
    err = pieces_add(w->m->c, one, from_ns, from_ns + ns);
    o = operation_of(w->m, thread, sequence);
    return err || !o ? err
                     : transfer_correct(w->m, o, one, from_ns, from_ns + ns);
}

static void columns_find(waits *w)
{
    static const char *const keys[COLUMNS] = {
        [THREAD] = "thread",         [SEQUENCE] = "sequence",
        [FOR_THREAD] = "for_thread", [START] = "start_ns",
        [WAIT] = "wait_ns",
    };

    for (size_t k = 0; k < COLUMNS; k++)
        for (size_t i = 0; i < scopes_table_columns(w->table); i++)
            if (strcmp(scopes_table_column(w->table, i)->key, keys[k]) == 0)
                w->columns[k] = i;
}

int contracts__waits_add(const contracts__making *m)
{
    scopes_view_input input = scopes_view_input_of(m->snapshot);
    waits w = {.m = m, .thread_count = m->times->thread_count};
    scopes_table *table = NULL;
    int err;

    input.each = true;
    w.threads = calloc((size_t)w.thread_count + 1, sizeof(*w.threads));
    if (!w.threads)
        return pastset_no_memory("for who waited");
    for (uint32_t i = 0; i < w.thread_count; i++)
        w.threads[i] = (named){m->times->threads[i].name, i};
    qsort(w.threads, w.thread_count, sizeof(*w.threads), by_name);
    err = scopes_view_make(&table, scopes_view_find("wait-states"), &input);
    if (!err) {
        w.table = table;
        columns_find(&w);
        for (size_t row = 0; row < scopes_table_rows(table) && !err; row++)
            err = wait_read(&w, row);
        scopes_table_destroy(table);
    }
    free(w.threads);
    if (!err)
        betweens_join(m->c);
    return err;
}
