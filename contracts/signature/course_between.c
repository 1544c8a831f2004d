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

static void path_see(contracts__making *m, size_t path, const scopes_top *top,
                     const users *all)
{
    uint32_t process = m->times->threads[m->times->paths[path].thread].process;
    uint32_t other = PATHS_NONE;

    m->meets[path] = top->site != PATHS_NONE;
    if (!m->meets[path] && top->element != PATHS_NONE)
        other =
            other_user(&all[top->element], process,
                       m->snapshot->topology->map->nodes[top->element].process);
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

/* Those of the same two processes in an interval together; what was waiting is
 * no transfer. */
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
    for (size_t i = 0; i < c->between_count; i++) {
        contracts_between *one = &c->betweens[i];
        one->transfer =
            one->transfer > one->waiting ? one->transfer - one->waiting : 0;
    }
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
    uint32_t process;
} named;

typedef struct waits {
    const contracts__making *m;
    named *threads; /* by name */
    uint32_t thread_count;
    size_t columns[4]; /* thread, for_thread, start_ns, wait_ns */
} waits;

static int by_name(const void *left, const void *right)
{
    const named *a = left, *b = right;

    return strcmp(a->name, b->name);
}

static uint32_t process_of(const waits *w, const char *name)
{
    named key = {name, PATHS_NONE};
    const named *found =
        name ? bsearch(&key, w->threads, w->thread_count, sizeof(key), by_name)
             : NULL;

    return found ? found->process : PATHS_NONE;
}

static int wait_spread(const waits *w, uint32_t process, uint32_t other,
                       int64_t from_ns, int64_t to_ns)
{
    contracts_course *c = w->m->c;
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
        contracts_course_at(c, process, interval)[CONTRACTS_WAITING] += seconds;
        if (other != PATHS_NONE && other != process)
            err = between_add(
                c, (contracts_between){interval, process, other, seconds, 0});
        from_ns = end_ns;
    }
    return err;
}

static int waits_read(const waits *w, const scopes_table *table)
{
    int err = 0;

    for (size_t row = 0; row < scopes_table_rows(table) && !err; row++) {
        uint32_t process =
            process_of(w, scopes_table_cell(table, row, w->columns[0]).text);
        uint32_t other =
            process_of(w, scopes_table_cell(table, row, w->columns[1]).text);
        int64_t from_ns = scopes_table_cell(table, row, w->columns[2]).integer;
        int64_t ns = scopes_table_cell(table, row, w->columns[3]).integer;
        if (process != PATHS_NONE && ns > 0 && from_ns != SCOPES_BLANK)
            err = wait_spread(w, process, other, from_ns, from_ns + ns);
    }
    return err;
}

static void columns_find(waits *w, const scopes_table *table)
{
    static const char *const keys[4] = {"thread", "for_thread", "start_ns",
                                        "wait_ns"};

    for (size_t k = 0; k < 4; k++)
        for (size_t i = 0; i < scopes_table_columns(table); i++)
            if (strcmp(scopes_table_column(table, i)->key, keys[k]) == 0)
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
        w.threads[i] =
            (named){m->times->threads[i].name, m->times->threads[i].process};
    qsort(w.threads, w.thread_count, sizeof(*w.threads), by_name);
    err = scopes_view_make(&table, scopes_view_find("wait-states"), &input);
    if (!err) {
        columns_find(&w, table);
        err = waits_read(&w, table);
        scopes_table_destroy(table);
    }
    free(w.threads);
    if (!err)
        betweens_join(m->c);
    return err;
}
