/* profiler_nodes.c - from processes to nodes, from runs to phases. */
#include "measure/profiler/profiler_internal.h"

#include "pastset/array.h"
#include "pastset/status.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DIFFER 0.05
#define IDLE_SHARE 0.01
#define SWITCH_NS 5000

/* --- groups --- */

static uint32_t group_of(measure__making *m, const char *label)
{
    for (size_t i = 0; i < m->group_count; i++)
        if (strcmp(m->groups[i].label, label) == 0)
            return (uint32_t)i;
    m->groups[m->group_count] =
        (measure__group){.label = label, .node = PREDICT_NONE};
    return (uint32_t)m->group_count++;
}

/* By name; numbers in names count as such. */
static int by_label(const void *a, const void *b)
{
    return strverscmp(((const measure__group *)a)->label,
                      ((const measure__group *)b)->label);
}

int measure__make_groups(measure__making *m)
{
    size_t count = m->seen->process_count;
    m->groups = calloc(count + 1, sizeof(*m->groups));
    m->group_of = calloc(count + 1, sizeof(*m->group_of));
    if (!m->groups || !m->group_of)
        return pastset_no_memory("for %zu processes", count);
    for (size_t i = 0; i < count; i++) {
        const measure_process *p = &m->seen->processes[i];
        m->groups[group_of(m, measure__label_of(m, p))].cpu_ns += p->cpu_ns;
    }
    if (m->group_count > 1)
        qsort(m->groups, m->group_count, sizeof(*m->groups), by_label);
    for (size_t i = 0; i < count; i++)
        m->group_of[i] =
            group_of(m, measure__label_of(m, &m->seen->processes[i]));
    return 0;
}

/* --- phases --- */

typedef struct spans {
    predict_phase *items; /* start, busy */
    size_t count;
} spans;

static bool add_span(spans *s, int64_t from_ns, int64_t to_ns)
{
    void *grown = pastset_array_grow(s->items, s->count, sizeof(*s->items));
    if (!grown)
        return false;
    s->items = grown;
    s->items[s->count++] =
        (predict_phase){.start_ns = from_ns, .busy_ns = to_ns - from_ns};
    return true;
}

static int by_start(const void *a, const void *b)
{
    const predict_phase *x = a, *y = b;
    return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

/* Those that overlap, or have no more between them than it takes to switch,
 * become one. */
static void unite(spans *s)
{
    size_t kept = 0;
    if (s->count > 1)
        qsort(s->items, s->count, sizeof(*s->items), by_start);
    for (size_t i = 0; i < s->count; i++) {
        predict_phase *last = kept ? &s->items[kept - 1] : NULL;
        int64_t end = s->items[i].start_ns + s->items[i].busy_ns;
        if (last &&
            s->items[i].start_ns - last->start_ns - last->busy_ns < SWITCH_NS) {
            if (end - last->start_ns > last->busy_ns)
                last->busy_ns = end - last->start_ns;
        } else {
            s->items[kept++] = s->items[i];
        }
    }
    s->count = kept;
}

/* A run, and while the thread was ready, up to its next one. Within the
 * command's time. */
static bool add_runs(spans *s, const measure_run *runs, size_t count,
                     const measure_processes *seen)
{
    for (size_t i = 0; i < count; i++) {
        int64_t from = runs[i].from_ns, to = runs[i].to_ns;
        while (i + 1 < count && runs[i].ready)
            to = runs[++i].to_ns;
        from = from < seen->start_ns ? seen->start_ns : from;
        to = to > seen->end_ns ? seen->end_ns : to;
        if (to > from &&
            !add_span(s, from - seen->start_ns, to - seen->start_ns))
            return false;
    }
    return true;
}

/* --- nodes --- */

/* The process of a thread: numbers may have come twice, so that the last one
 * that fits is looked for. */
static uint32_t group_of_thread(const measure__making *m,
                                const measure_thread *t)
{
    for (size_t i = m->seen->process_count; i-- > 0;)
        if (m->seen->processes[i].pid == t->pid)
            return m->group_of[i];
    return UINT32_MAX;
}

static int64_t clipped(const measure__making *m, int64_t at_ns)
{
    int64_t at = at_ns - m->seen->start_ns, wall = m->profile->wall_ns;
    return at < 0 ? 0 : at > wall ? wall : at;
}

static bool add_thread(measure__making *m, predict_node *node,
                       const measure_thread *t, spans *busy, spans *probed)
{
    int64_t from = clipped(m, t->start_ns), to = clipped(m, t->end_ns);
    node->threads += t->cpu_ns > 0;
    node->waited_ns += t->waited_ns;
    node->switches += t->switches;
    node->start_ns = from < node->start_ns ? from : node->start_ns;
    node->end_ns = to > node->end_ns ? to : node->end_ns;
    return add_runs(busy, t->runs, t->run_count, m->seen) &&
           add_runs(probed, t->seen, t->seen_count, m->seen);
}

static int add_phases(measure__making *m, uint32_t node, spans *busy,
                      spans *probed)
{
    int64_t err = 0;
    unite(busy);
    unite(probed);
    for (size_t i = 0; i < probed->count; i++)
        m->profile->nodes[node].probed_ns += probed->items[i].busy_ns;
    for (size_t i = 0; i < busy->count && err >= 0; i++) {
        predict_phase phase = busy->items[i];
        int64_t end = phase.start_ns + phase.busy_ns;
        int64_t next = i + 1 < busy->count ? busy->items[i + 1].start_ns
                                           : m->profile->nodes[node].end_ns;
        phase.idle_ns = next > end ? next - end : 0;
        err = predict_profile_add_phase(m->profile, node, phase);
    }
    return err < 0 ? (int)err : 0;
}

static int add_threads(measure__making *m, uint32_t group, uint32_t number)
{
    spans busy = {0}, probed = {0};
    int err = 0;
    predict_node *node = &m->profile->nodes[number];
    node->start_ns = m->profile->wall_ns;
    for (size_t i = 0; i < m->seen->thread_count && !err; i++) {
        const measure_thread *t = &m->seen->threads[i];
        if (group_of_thread(m, t) == group &&
            !add_thread(m, node, t, &busy, &probed))
            err = pastset_no_memory("for the phases of %s", node->name);
    }
    if (node->start_ns > node->end_ns)
        node->start_ns = node->end_ns;
    if (!err)
        err = add_phases(m, number, &busy, &probed);
    free(busy.items);
    free(probed.items);
    return err;
}

static const measure_process *busiest(const measure__making *m, uint32_t group)
{
    const measure_process *best = NULL;
    for (size_t i = 0; i < m->seen->process_count; i++) {
        const measure_process *p = &m->seen->processes[i];
        if (m->group_of[i] == group && (!best || p->cpu_ns > best->cpu_ns))
            best = p;
    }
    return best;
}

/* Where its busiest process might run. */
static int64_t place_of(measure__making *m, const measure_process *best)
{
    const char *name = best && *best->processors ? best->processors : "?";
    for (size_t i = 0; i < m->profile->place_count; i++)
        if (strcmp(m->profile->places[i].name, name) == 0)
            return (int64_t)i;
    return predict_profile_add_place(
        m->profile, name,
        best && best->processor_count ? best->processor_count : 1);
}

static int add_node(measure__making *m, uint32_t group)
{
    measure__group *g = &m->groups[group];
    const measure_process *best = busiest(m, group);
    int64_t place = place_of(m, best), node;
    if (place < 0)
        return (int)place;
    node = predict_profile_add_node(m->profile, g->label, (uint32_t)place);
    if (node < 0)
        return (int)node;
    g->node = (uint32_t)node;
    m->profile->nodes[node].kernel_ns = g->cpu_ns;
    m->profile->nodes[node].session = best ? (uint32_t)best->session : 0;
    return add_threads(m, group, g->node);
}

/* Without a run: those that have messages, or more than next to none of the
 * processor time, and do not only start others. */
static int make_of_programs(measure__making *m)
{
    double share =
        m->options->idle_share > 0 ? m->options->idle_share : IDLE_SHARE;
    const measure__group *best = NULL;
    double all = 0;
    int err = 0;
    for (size_t i = 0; i < m->group_count; i++) {
        const measure__group *g = &m->groups[i];
        if (measure__is_launcher(m, (uint32_t)i))
            continue;
        all += (double)g->cpu_ns;
        if (!best || g->cpu_ns > best->cpu_ns)
            best = g;
    }
    for (size_t i = 0; i < m->group_count && !err; i++) {
        const measure__group *g = &m->groups[i];
        bool busy = g == best || (double)g->cpu_ns >= share * all;
        if ((g->messages || busy) && !measure__is_launcher(m, (uint32_t)i))
            err = add_node(m, (uint32_t)i);
    }
    return err;
}

int measure__make_nodes(measure__making *m)
{
    bool run = false; /* its processes are the nodes */
    int err = 0;
    for (size_t i = 0; i < m->group_count; i++)
        run |= m->groups[i].wanted;
    if (!run)
        return make_of_programs(m);
    for (size_t i = 0; i < m->group_count && !err; i++)
        if (m->groups[i].wanted)
            err = add_node(m, (uint32_t)i);
    return err;
}

/* --- two methods --- */

typedef struct comparison {
    double probed_ns, kernel_ns;
    double samples;
} comparison;

static comparison compare_group(const measure__making *m, uint32_t group)
{
    comparison c = {0};
    for (size_t i = 0; i < m->seen->thread_count; i++) {
        const measure_thread *t = &m->seen->threads[i];
        if (group_of_thread(m, t) != group)
            continue;
        c.probed_ns += (double)t->running * (double)m->seen->interval_ns;
        c.kernel_ns += (double)(t->cpu_ns + t->waited_ns);
        c.samples += (double)t->samples;
    }
    return c;
}

/* A probe finds what is ready too, so that this is counted for both. So many
 * samples are off by half their root by chance alone; twice that is allowed. */
void measure__compare(measure__making *m)
{
    double differ = m->options->differ > 0 ? m->options->differ : DIFFER;
    double interval = (double)m->seen->interval_ns;
    for (size_t i = 0; i < m->group_count; i++) {
        if (m->groups[i].node == PREDICT_NONE)
            continue;
        comparison c = compare_group(m, (uint32_t)i);
        double off = fabs(c.probed_ns - c.kernel_ns);
        if (off > differ * c.kernel_ns &&
            off > sqrt(c.samples < 4 ? 4 : c.samples) * interval)
            measure__note(m,
                          "%s: busy or ready for %.3f s by sampling every %.0f "
                          "ms, but for %.3f s by the kernel's account (%.1f %% "
                          "off), which is used",
                          m->groups[i].label, c.probed_ns / 1e9, interval / 1e6,
                          c.kernel_ns / 1e9,
                          c.kernel_ns > 0 ? 100 * off / c.kernel_ns : 100.0);
    }
}
