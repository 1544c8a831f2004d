/* loss_found.c - what a run may have lost time by, before it is known how much:
 * see losses_internal.h. */
#include "scopes/losses/losses_internal.h"

#include "scopes/memory/memory_internal.h"

static const char *const kind_names[] = {
    [SCOPES__SLOW_THREAD] = "slow thread",
    [SCOPES__LATE_ARRIVER] = "late arriver",
    [SCOPES__IMBALANCE] = "imbalance",
    [SCOPES__SHARED_PROCESSOR] = "shared processor",
    [SCOPES__SMALL_ELEMENT] = "small element",
    [SCOPES__DELAYED_HOP] = "delayed hop",
    [SCOPES__TRANSFER] = "transfer",
    [SCOPES__LATE_BEGIN] = "late begin",
    [SCOPES__DEPENDENCY] = "dependency",
};

const char *scopes__loss_kind_name(scopes__loss_kind kind)
{
    return kind_names[kind];
}

static int no_memory(void)
{
    return scopes__no_room("for the causes of waiting");
}

uint32_t scopes__loss_add(scopes__losses *l, scopes__loss_kind kind)
{
    scopes__loss *more = scopes__array_grow(l->items, l->count, sizeof(*more));

    if (!more)
        return SCOPES_MISSING;
    l->items = more;
    more[l->count] = (scopes__loss){.kind = kind,
                                    .thread = PATHS_NONE,
                                    .operation = SCOPES_MISSING,
                                    .operation_cell = SCOPES_MISSING,
                                    .cell = SCOPES_MISSING,
                                    .group = SCOPES_MISSING,
                                    .link = SCOPES_MISSING,
                                    .element = PATHS_NONE};
    return l->count++;
}

static const scopes__gap_group *group_of(const scopes__losses *l, uint32_t cell)
{
    return &l->gaps.groups[l->gaps.cells[cell].group];
}

/* A thread is slow before a call, whatever it did before that. */
static uint32_t same_cell(const scopes__losses *l, uint32_t number)
{
    for (uint32_t i = 0; i < l->count; i++) {
        uint32_t cell = l->items[i].cell;
        if (cell != SCOPES_MISSING &&
            l->gaps.cells[cell].thread == l->gaps.cells[number].thread &&
            group_of(l, cell)->before == group_of(l, number)->before)
            return i;
    }
    return SCOPES_MISSING;
}

/* The one of them that has the greatest excess says what it is. */
static void join_cell(scopes__losses *l, uint32_t at, uint32_t number)
{
    scopes__gap_cell *cell = &l->gaps.cells[number];
    scopes__loss *loss = &l->items[at];
    double excess_ns =
        cell->excess_ns + (double)loss->each_ns * (double)loss->count;

    cell->also = loss->cell;
    if (loss->cell == SCOPES_MISSING ||
        cell->excess_ns > l->gaps.cells[loss->operation_cell].excess_ns) {
        loss->kind = cell->is_rare ? SCOPES__LATE_ARRIVER : SCOPES__SLOW_THREAD;
        loss->operation = cell->first;
        loss->operation_cell = number;
    }
    loss->cell = number;
    loss->thread = cell->thread;
    loss->count += cell->often;
    if (loss->count)
        loss->each_ns = (int64_t)(excess_ns / (double)loss->count);
    l->of_cell[number] = at;
}

static int add_cell(scopes__losses *l, uint32_t number)
{
    uint32_t at = same_cell(l, number);

    if (at == SCOPES_MISSING)
        at = scopes__loss_add(l, SCOPES__SLOW_THREAD);
    if (at == SCOPES_MISSING)
        return no_memory();
    join_cell(l, at, number);
    return 0;
}

static uint32_t same_group(const scopes__losses *l, uint32_t number)
{
    const scopes__gap_group *groups = l->gaps.groups;

    for (uint32_t i = 0; i < l->count; i++)
        if (l->items[i].group != SCOPES_MISSING &&
            groups[l->items[i].group].before == groups[number].before)
            return i;
    return SCOPES_MISSING;
}

static void join_group(scopes__losses *l, uint32_t at, uint32_t number)
{
    scopes__gap_group *group = &l->gaps.groups[number];
    const scopes__gap_cell *top = &l->gaps.cells[group->first];
    scopes__loss *loss = &l->items[at];

    for (uint32_t i = group->first; i < group->first + group->count; i++) {
        l->of_cell[i] = at;
        if (l->gaps.cells[i].excess_ns > top->excess_ns)
            top = &l->gaps.cells[i];
    }
    group->also = loss->group;
    loss->group = number;
    if (loss->operation_cell == SCOPES_MISSING ||
        top->excess_ns > l->gaps.cells[loss->operation_cell].excess_ns) {
        loss->operation = top->first;
        loss->operation_cell = (uint32_t)(top - l->gaps.cells);
        loss->count = top->count;
        loss->each_ns = (int64_t)(top->excess_ns / top->count);
    }
}

static int add_uneven(scopes__losses *l, uint32_t number)
{
    uint32_t at = same_group(l, number);

    if (at == SCOPES_MISSING)
        at = scopes__loss_add(l, SCOPES__IMBALANCE);
    if (at == SCOPES_MISSING)
        return no_memory();
    join_group(l, at, number);
    return 0;
}

static int add_group(scopes__losses *l, uint32_t number)
{
    const scopes__gap_group *group = &l->gaps.groups[number];
    int err = 0;

    if (group->is_uneven)
        return add_uneven(l, number);
    for (uint32_t i = group->first; i < group->first + group->count && !err;
         i++)
        if (l->gaps.cells[i].is_slow)
            err = add_cell(l, i);
    return err;
}

static int add_link(scopes__losses *l, uint32_t number)
{
    const scopes__link *link = &l->links.items[number];
    uint32_t at;

    if (!link->is_delayed)
        return 0;
    at = scopes__loss_add(l, SCOPES__DELAYED_HOP);
    if (at == SCOPES_MISSING)
        return no_memory();
    l->items[at].link = number;
    l->items[at].count = link->count;
    l->items[at].each_ns = (int64_t)(link->ns - link->peer_ns);
    l->of_link[number] = at;
    return 0;
}

int scopes__losses_find(scopes__losses *l)
{
    int err = 0;

    l->shared = scopes__loss_add(l, SCOPES__SHARED_PROCESSOR);
    l->transfer = scopes__loss_add(l, SCOPES__TRANSFER);
    l->begin = scopes__loss_add(l, SCOPES__LATE_BEGIN);
    l->dependency = scopes__loss_add(l, SCOPES__DEPENDENCY);
    if (l->begin == SCOPES_MISSING || l->shared == SCOPES_MISSING ||
        l->transfer == SCOPES_MISSING || l->dependency == SCOPES_MISSING)
        return no_memory();
    for (uint32_t i = 0; i < l->gaps.group_count && !err; i++)
        err = add_group(l, i);
    for (uint32_t i = 0; i < l->links.count && !err; i++)
        err = add_link(l, i);
    return err;
}
