/* gaps.c - see gaps_internal.h. Cells are made by thread, since operations lie
 * so, and then put in the order of their groups. */
#include "scopes/losses/gaps_internal.h"

#include <stdlib.h>
#include <string.h>

#include "pastset/request.h"
#include "scopes/memory/memory_internal.h"

/* More sorts of calls than that, and those before gaps are not told apart. */
#define MOST_SORTS 1024

typedef struct making {
    scopes__gaps *g;
    const int64_t *gap_ns;
    uint32_t *sorts; /* by top */
    uint32_t sort_count;
    uint32_t *groups; /* by both sorts: its number; SCOPES_MISSING */
    uint32_t *cells;  /* by group, of the thread; or of one before */
    uint32_t *last;   /* by cell: its last operation so far */
} making;

static int no_memory(void)
{
    return scopes__no_room("for what threads compute");
}

/* --- one gap --- */

static uint32_t sort_of(const making *m, uint32_t operation)
{
    const scopes__waiting *w = m->g->w;
    const scopes_top *top = scopes__waiting_top(w, operation);
    uint32_t number = scopes__waiting_top_number(w, operation);
    bool brings =
        top->site == PATHS_NONE && w->lines[number] == SCOPES_MISSING &&
        scopes__waiting_operation(w, operation)->verb == PASTSET_WRITE;

    return 2 * m->sorts[number] + brings;
}

static uint32_t group_of(making *m, uint32_t operation, bool is_first)
{
    uint32_t before = is_first || m->sort_count > MOST_SORTS
                          ? m->sort_count
                          : sort_of(m, operation - 1);
    size_t rows = m->sort_count > MOST_SORTS ? 0 : before;
    uint32_t *group =
        &m->groups[rows * (m->sort_count + 1) + sort_of(m, operation)];

    if (*group == SCOPES_MISSING)
        *group = m->g->group_count++;
    return *group;
}

static int room(void *array, size_t count, size_t bytes)
{
    void *more = scopes__array_grow(*(void **)array, count, bytes);

    if (!more)
        return no_memory();
    *(void **)array = more;
    return 0;
}

static int cell_add(making *m, uint32_t group, uint32_t operation)
{
    scopes__gaps *g = m->g;
    int err = room(&g->cells, g->cell_count, sizeof(*g->cells));

    if (!err)
        err = room(&m->last, g->cell_count, sizeof(*m->last));
    if (err)
        return err;
    g->cells[g->cell_count] = (scopes__gap_cell){
        .group = group,
        .thread = scopes__waiting_operation(g->w, operation)->thread,
        .first = operation,
        .also = SCOPES_MISSING};
    m->cells[group] = g->cell_count++;
    return 0;
}

static int gap_add(making *m, uint32_t operation, bool is_first)
{
    scopes__gaps *g = m->g;
    uint32_t thread = scopes__waiting_operation(g->w, operation)->thread;
    uint32_t groups = g->group_count;
    uint32_t group = group_of(m, operation, is_first), cell;
    int err = 0;

    if (g->group_count > groups) {
        err = room(&m->cells, groups, sizeof(*m->cells));
        if (!err)
            m->cells[group] = SCOPES_MISSING;
    }
    if (!err && (m->cells[group] == SCOPES_MISSING ||
                 g->cells[m->cells[group]].thread != thread))
        err = cell_add(m, group, operation);
    if (err)
        return err;
    cell = m->cells[group];
    if (g->cells[cell].count++)
        g->next[m->last[cell]] = operation;
    m->last[cell] = operation;
    g->cells_of[operation] = cell;
    g->cells[cell].work_ns += (double)g->work_ns[operation];
    g->cells[cell].sleep_ns += (double)g->sleep_ns[operation];
    return 0;
}

/* --- a thread --- */

static void measure(making *m, uint32_t operation, size_t *at)
{
    scopes__gaps *g = m->g;
    const scopes_operation *o = scopes__waiting_operation(g->w, operation);
    const scopes_scheduling *known = g->w->in.scheduling;
    int64_t gap_ns = m->gap_ns[operation];
    scopes_off_time off = {0};

    if (known && o->thread < known->thread_count &&
        known->threads[o->thread].is_known && gap_ns > 0)
        off = scopes_off_between(&known->threads[o->thread], at,
                                 o->start_ns - gap_ns, o->start_ns);
    if (off.runnable_ns > gap_ns)
        off.runnable_ns = gap_ns;
    g->runnable_ns[operation] = off.runnable_ns;
    g->sleep_ns[operation] = off.sleeping_ns;
    g->work_ns[operation] = gap_ns - off.runnable_ns;
}

static int thread_add(making *m, const scopes_thread *thread)
{
    uint32_t first = (uint32_t)thread->operation;
    size_t at = 0;
    int err = 0;

    for (uint32_t i = first; i < first + thread->operations && !err; i++) {
        m->g->cells_of[i] = m->g->next[i] = SCOPES_MISSING;
        m->g->work_ns[i] = m->g->runnable_ns[i] = m->g->sleep_ns[i] = 0;
        m->g->peer_ns[i] = m->g->mean_ns[i] = 0;
        if (!(m->g->w->flags[i] & SCOPES__BEGINS))
            continue;
        measure(m, i, &at);
        err = gap_add(m, i, i == first);
    }
    return err;
}

/* --- groups --- */

static int by_group(const void *left, const void *right)
{
    const scopes__gap_cell *a = left, *b = right;

    if (a->group != b->group)
        return a->group < b->group ? -1 : 1;
    return a->thread < b->thread ? -1 : a->thread > b->thread;
}

static int groups_make(scopes__gaps *g, const making *m)
{
    g->groups = calloc(g->group_count + 1u, sizeof(*g->groups));
    if (!g->groups)
        return no_memory();
    if (g->cell_count)
        qsort(g->cells, g->cell_count, sizeof(*g->cells), by_group);
    for (uint32_t c = 0; c < g->cell_count; c++) {
        scopes__gap_group *group = &g->groups[g->cells[c].group];
        if (group->count++ == 0) {
            group->first = c;
            group->before = sort_of(m, g->cells[c].first);
            group->also = SCOPES_MISSING;
        }
        for (uint32_t i = g->cells[c].first; i != SCOPES_MISSING;
             i = g->next[i])
            g->cells_of[i] = c;
    }
    return 0;
}

/* --- all of it --- */

static int arrays_make(scopes__gaps *g)
{
    size_t count = (size_t)g->w->count + 1;

    g->cells_of = scopes__allocate(count * sizeof(*g->cells_of));
    g->next = scopes__allocate(count * sizeof(*g->next));
    g->work_ns = scopes__allocate(count * sizeof(*g->work_ns));
    g->runnable_ns = scopes__allocate(count * sizeof(*g->runnable_ns));
    g->sleep_ns = scopes__allocate(count * sizeof(*g->sleep_ns));
    g->peer_ns = scopes__allocate(count * sizeof(*g->peer_ns));
    g->mean_ns = scopes__allocate(count * sizeof(*g->mean_ns));
    return g->cells_of && g->next && g->work_ns && g->runnable_ns &&
                   g->sleep_ns && g->peer_ns && g->mean_ns
               ? 0
               : no_memory();
}

static int sorts_make(making *m)
{
    size_t rows;

    m->sorts = scopes__call_sorts(m->g->w, &m->sort_count);
    if (!m->sorts)
        return no_memory();
    m->sort_count *= 2;
    rows = m->sort_count > MOST_SORTS ? 1 : m->sort_count + 1u;
    rows *= m->sort_count + 1u;
    m->groups = malloc(rows * sizeof(*m->groups));
    if (!m->groups)
        return no_memory();
    for (size_t i = 0; i < rows; i++)
        m->groups[i] = SCOPES_MISSING;
    return 0;
}

int scopes__gaps_make(scopes__gaps *g, const scopes__waiting *waiting,
                      const int64_t *gap_ns)
{
    making m = {.g = g, .gap_ns = gap_ns};
    int err;

    *g = (scopes__gaps){.w = waiting};
    err = arrays_make(g);
    if (!err)
        err = sorts_make(&m);
    for (uint32_t i = 0; i < waiting->times->thread_count && !err; i++)
        err = thread_add(&m, &waiting->times->threads[i]);
    if (!err)
        err = groups_make(g, &m);
    if (!err)
        err = scopes__gaps_compare(g);
    free(m.sorts);
    free(m.groups);
    scopes__free(m.cells);
    scopes__free(m.last);
    if (err)
        scopes__gaps_free(g);
    return err;
}

void scopes__gaps_free(scopes__gaps *g)
{
    scopes__free(g->cells);
    free(g->groups);
    scopes__free(g->cells_of);
    scopes__free(g->next);
    scopes__free(g->work_ns);
    scopes__free(g->runnable_ns);
    scopes__free(g->sleep_ns);
    scopes__free(g->peer_ns);
    scopes__free(g->mean_ns);
    *g = (scopes__gaps){0};
}
