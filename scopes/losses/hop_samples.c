/* hop_samples.c - how long operations take from collector to collector: see
 * hop_links_internal.h. A way down is passed from when the last of those that
 * join there has come, and by the one for all. */
#include "scopes/losses/hop_links_internal.h"

#include <stdlib.h>

#include "scopes/causality/tree_internal.h"
#include "scopes/memory/memory_internal.h"

#define BLOCK_TIMES 65536

typedef struct sampling {
    const scopes__waiting *w;
    scopes__hop_sample **samples;
    const scopes__tree *tree;
    uint32_t first, count; /* of a block of rounds: [branch * count + i] */
    int64_t *starts, *ends;
    uint32_t *last; /* by branch: who joined there last, in a round */
} sampling;

static int no_memory(void)
{
    return scopes__no_room("for the times of hops");
}

static void keep(scopes__hop_times *t, int64_t ns)
{
    uint64_t place = t->count < SCOPES__HOP_TIMES
                         ? t->count
                         : t->count * 2654435761u % SCOPES__HOP_TIMES;

    if (ns < 0)
        ns = 0;
    t->kept_ns[place] = ns;
    t->sum_ns += (double)ns;
    t->count++;
}

static size_t cell(const sampling *s, uint32_t branch, uint32_t i)
{
    return (size_t)branch * s->count + i;
}

static void find_last(sampling *s, uint32_t i)
{
    for (uint32_t b = 0; b < s->tree->branch_count; b++)
        s->last[b] = SCOPES_MISSING;
    for (uint32_t b = 0; b < s->tree->branch_count; b++) {
        uint32_t lower = s->tree->branches[b].lower;
        int64_t start = s->starts[cell(s, b, i)];
        if (lower != SCOPES_MISSING && start != SCOPES__NO_TIME &&
            (s->last[lower] == SCOPES_MISSING ||
             start > s->starts[cell(s, s->last[lower], i)]))
            s->last[lower] = b;
    }
}

static void take(sampling *s, uint32_t branch, uint32_t i)
{
    const scopes__branch *b = &s->tree->branches[branch];
    scopes__hop_sample *sample = s->samples[b->collector];
    size_t own = cell(s, branch, i), below;
    uint32_t event = scopes__tree_event(b, s->first + i);

    if (b->lower == SCOPES_MISSING || event == SCOPES_MISSING)
        return;
    below = cell(s, b->lower, i);
    if (s->starts[below] == SCOPES__NO_TIME)
        return;
    if (s->last[b->lower] == branch)
        keep(&sample->down, s->starts[below] - s->starts[own]);
    keep(&sample->up, s->ends[own] - s->ends[below]);
    sample->bytes += scopes_event_at(b->events, event)->bytes;
}

static int samples_make(sampling *s)
{
    for (uint32_t b = 0; b < s->tree->branch_count; b++) {
        scopes__hop_sample **sample =
            &s->samples[s->tree->branches[b].collector];
        if (s->tree->branches[b].lower == SCOPES_MISSING || *sample)
            continue;
        *sample = calloc(1, sizeof(**sample));
        if (!*sample)
            return no_memory();
    }
    return 0;
}

static void take_block(sampling *s)
{
    scopes__tree_times(s->tree, s->w->in.clocks, s->first, s->count, s->starts,
                       s->ends);
    for (uint32_t i = 0; i < s->count; i++) {
        find_last(s, i);
        for (uint32_t b = 0; b < s->tree->branch_count; b++)
            take(s, b, i);
    }
}

static int take_tree(sampling *s)
{
    uint32_t branches = s->tree->branch_count;
    uint32_t block = BLOCK_TIMES / (branches + 1) + 1;
    size_t cells = (size_t)branches * block + 1;
    int err = samples_make(s);

    s->starts = malloc(cells * sizeof(*s->starts));
    s->ends = malloc(cells * sizeof(*s->ends));
    s->last = malloc((branches + 1) * sizeof(*s->last));
    if (!err && (!s->starts || !s->ends || !s->last))
        err = no_memory();
    for (s->first = 0; s->first < s->tree->rounds && !err; s->first += block) {
        s->count = s->tree->rounds - s->first;
        if (s->count > block)
            s->count = block;
        take_block(s);
    }
    free(s->starts);
    free(s->ends);
    free(s->last);
    return err;
}

static int take_site(sampling *s, uint32_t site)
{
    scopes__tree *tree;
    int err;

    if (s->w->in.topology->sites[site].parent != PATHS_NONE)
        return 0;
    err = scopes__tree_create(&tree, s->w->in.topology, s->w->in.event_table,
                              s->w->in.clocks, site);
    if (err)
        return err;
    s->tree = tree;
    err = take_tree(s);
    scopes__tree_destroy(tree);
    return err;
}

static int take_path(sampling *s, uint32_t top)
{
    const scopes_top *its = &s->w->in.topology->tops[top];
    scopes__tree *tree;
    int err;

    if (its->collector == PATHS_NONE || its->site != PATHS_NONE ||
        scopes__tree_is_repeated(s->w->in.topology, top))
        return 0;
    err = scopes__tree_make_plain(&tree, s->w->in.topology,
                                  s->w->in.event_table, top);
    if (err)
        return err;
    s->tree = tree;
    err = tree->branch_count > 1 ? take_tree(s) : 0;
    scopes__tree_destroy(tree);
    return err;
}

int scopes__hop_samples(scopes__hop_sample **samples, const scopes__waiting *w)
{
    sampling s = {.w = w, .samples = samples};
    int err = 0;

    for (uint32_t i = 0; i < w->in.topology->site_count && !err; i++)
        err = take_site(&s, i);
    for (uint32_t i = 0; i < w->in.topology->top_count && !err; i++)
        err = take_path(&s, i);
    return err;
}
