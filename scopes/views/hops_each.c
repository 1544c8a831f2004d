/* hops_each.c - the rows of the view "hops" for each round and thread. */
#include "scopes/views/hops_internal.h"

/* One part of a round and thread. */
typedef struct passage {
    scopes__direction way;
    uint32_t branch; /* whose hop it is */
    uint32_t from, to;
    int64_t start_ns, end_ns;
    int64_t certain_ns;
} passage;

static void each_row(scopes__hops *h, uint32_t top, uint32_t i,
                     const passage *p)
{
    uint32_t last = scopes__tree_representative(h->tree, h->first + i);

    if (!scopes__hops_is_of(h, p->branch, p->way))
        return;
    scopes_table_text(h->out, scopes_topology_node_name(h->view_input->topology,
                                                        h->tree->element));
    scopes__round_cell(h->out, h->tree->number, (uint64_t)h->first + i);
    scopes_table_text(h->out, scopes_topology_thread_name(
                                  h->view_input->topology,
                                  scopes__hops_branch(h, top)->thread));
    scopes_table_text(h->out, scopes__direction_names[p->way]);
    scopes_table_text(h->out, scopes__hops_collector(h, p->from));
    scopes_table_text(h->out, scopes__hops_collector(h, p->to));
    scopes_table_text(
        h->out, p->way == SCOPES__WAIT ? "" : scopes__hops_what(h, p->branch));
    scopes_table_integer(h->out, p->start_ns);
    scopes_table_integer(h->out, p->end_ns - p->start_ns);
    scopes__hops_certain_cell(h->out, p->certain_ns);
    scopes_table_integer(h->out, h->ends[scopes__hops_cell(h, top, i)] -
                                     h->starts[scopes__hops_cell(h, last, i)]);
}

static void each_wait(scopes__hops *h, uint32_t top, uint32_t i)
{
    uint32_t last = scopes__tree_representative(h->tree, h->first + i);
    int64_t from = h->starts[scopes__hops_cell(h, top, i)];

    if (top != last)
        each_row(h, top, i,
                 &(passage){SCOPES__WAIT, top, top, SCOPES_MISSING, from,
                            from + scopes__hops_wait_ns(h, top, last, i),
                            scopes__hops_certain_wait(h, top, h->first + i)});
}

static void each_down(scopes__hops *h, uint32_t top, uint32_t i)
{
    uint32_t branch = scopes__tree_representative(h->tree, h->first + i);

    while (branch != h->bottoms[i]) {
        uint32_t lower = scopes__hops_branch(h, branch)->lower;
        each_row(h, top, i,
                 &(passage){SCOPES__DOWN, branch, branch, lower,
                            h->starts[scopes__hops_cell(h, branch, i)],
                            h->starts[scopes__hops_cell(h, lower, i)],
                            scopes__hops_certain(h, branch, h->first + i,
                                                 SCOPES__DOWN)});
        branch = lower;
    }
}

static void each_up(scopes__hops *h, uint32_t top, uint32_t i)
{
    uint32_t way[PATHS_PATH_NODES], count = 0, branch = top;
    uint32_t bottom = h->bottoms[i];

    while (branch != SCOPES_MISSING && count < PATHS_PATH_NODES) {
        way[count++] = branch;
        branch = scopes__hops_branch(h, branch)->lower;
    }
    branch = way[count - 1];
    each_row(h, top, i,
             &(passage){SCOPES__AT_ELEMENT, branch, bottom, branch,
                        h->starts[scopes__hops_cell(h, bottom, i)],
                        h->ends[scopes__hops_cell(h, branch, i)],
                        scopes__hops_certain_between(h, bottom, branch,
                                                     h->first + i)});
    while (--count > 0)
        each_row(h, top, i,
                 &(passage){SCOPES__UP, way[count - 1], way[count],
                            way[count - 1],
                            h->ends[scopes__hops_cell(h, way[count], i)],
                            h->ends[scopes__hops_cell(h, way[count - 1], i)],
                            scopes__hops_certain(h, way[count - 1],
                                                 h->first + i, SCOPES__UP)});
}

static void each_round(scopes__hops *h, uint32_t i)
{
    for (uint32_t b = 0; b < h->tree->branch_count; b++) {
        if (scopes__hops_branch(h, b)->top == SCOPES_MISSING ||
            h->ends[scopes__hops_cell(h, b, i)] == SCOPES__NO_TIME ||
            !scopes__has_thread(h->view_input,
                                scopes__hops_branch(h, b)->thread))
            continue;
        each_wait(h, b, i);
        each_down(h, b, i);
        each_up(h, b, i);
    }
}

int scopes__hops_each(scopes__hops *h)
{
    int err = scopes__hops_init(h);

    if (err)
        return err;
    for (uint32_t r = 0; r < h->tree->rounds; r += h->block) {
        scopes__hops_look(h, r);
        for (uint32_t i = 0; i < h->count; i++)
            each_round(h, i);
    }
    scopes__hops_fini(h);
    return 0;
}
