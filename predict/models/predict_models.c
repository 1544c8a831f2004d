/* predict_models.c - the formulas of models.h with the numbers of a profile.
 *
 * The papers' communication is busy time. Here a message's time may be busy
 * only in part (predict_link.busy: who waits in recv() does not use the
 * processor), so "busy" is comp + that part, and the rest is as idle. With a
 * share of 1 these are the papers' formulas as they stand. */
#include "predict/models/predict_internal.h"

#include <math.h>
#include <stdlib.h>

#include "pastset/status.h"

/* --- the times of a node --- */

static predict_scheduler scheduler_of(const predict__asked *asked,
                                      uint32_t node,
                                      const predict_scheduler *scheduler)
{
    return scheduler ? *scheduler : asked->scenario->schedulers[node];
}

/* With the computation at its new speed (001, 5: another architecture). */
static predict_times times_of(const predict__asked *asked, uint32_t node)
{
    predict_sums s = asked->facts->nodes[node].sums;
    return (predict_times){s.comp_s / asked->scenario->speeds[node], s.comm_s,
                           s.idle_s};
}

/* The same, but communication only as far as the processor is busy. */
static predict_times busy_times(const predict__asked *asked, uint32_t node)
{
    predict_times t = times_of(asked, node);
    double share = asked->facts->nodes[node].busy_share;
    t.idle_s += (1 - share) * t.comm_s; /* it is as if it were idle */
    t.comm_s *= share;
    return t;
}

/* How much busy time changes with the speed. */
static double busy_scale(const predict__asked *asked, uint32_t node)
{
    predict_sums s = asked->facts->nodes[node].sums;
    double communicating_s = asked->facts->nodes[node].busy_share * s.comm_s;
    double before_s = s.comp_s + communicating_s;
    double after_s = s.comp_s / asked->scenario->speeds[node] + communicating_s;
    return before_s > 0 ? after_s / before_s : 1;
}

/* --- one node --- */

/* Wall time by the way that a busy and an idle span grow. */
static int by_spans(double *out_s, const predict__asked *asked, uint32_t node,
                    predict_span span, predict_scheduler scheduler)
{
    double scale = busy_scale(asked, node), factor;
    double before_s = span.busy_s + span.idle_s;
    double after_s = span.busy_s * scale + span.idle_s;
    int err = predict_node_by_phases(&factor, span.busy_s * scale, span.idle_s,
                                     asked->loads[node], scheduler);
    if (!err)
        *out_s = asked->facts->wall_s * (after_s / before_s) * factor;
    return err;
}

static int by_sequence(double *out_s, const predict__asked *asked,
                       uint32_t node, predict_scheduler scheduler)
{
    const predict_node *n = &asked->facts->profile->nodes[node];
    double scale = busy_scale(asked, node), before_s = 0, after_s;
    predict_span *spans = calloc(n->phase_count + 1, sizeof(*spans));
    int err;
    if (!spans)
        return pastset_no_memory("for %zu phases", n->phase_count);
    for (size_t i = 0; i < n->phase_count; i++) {
        double busy_s = (double)n->phases[i].busy_ns / 1e9;
        spans[i].idle_s = (double)n->phases[i].idle_ns / 1e9;
        spans[i].busy_s = busy_s * scale;
        before_s += busy_s + spans[i].idle_s;
    }
    err = predict_node_by_sequence(&after_s, spans, n->phase_count,
                                   asked->loads[node], scheduler);
    /* What the phases do not cover is taken to be like them. */
    if (!err)
        *out_s = asked->facts->wall_s * (before_s > 0 ? after_s / before_s : 1);
    free(spans);
    return err;
}

int predict__node_time(double *out_s, const predict__asked *asked,
                       uint32_t node, const predict_scheduler *scheduler,
                       predict__way way)
{
    predict_sums s = asked->facts->nodes[node].sums;
    predict_scheduler l = scheduler_of(asked, node, scheduler);
    predict_span span = {s.busy_phase_s, s.idle_phase_s};
    if (way == PREDICT__SEQUENCE)
        return by_sequence(out_s, asked, node, l);
    if (way == PREDICT__TOTALS || span.busy_s + span.idle_s <= 0)
        span = (predict_span){s.busy_s, s.wall_s - s.busy_s};
    return by_spans(out_s, asked, node, span, l);
}

/* The safest for a lower bound: the totals, but they do not know how often a
 * bounded credit was had. */
static int node_min(double *out_s, const predict__asked *asked, uint32_t node,
                    const predict_scheduler *scheduler)
{
    double credit_s = scheduler_of(asked, node, scheduler).credit_s;
    return predict__node_time(
        out_s, asked, node, scheduler,
        credit_s == 0 || isinf(credit_s) ? PREDICT__TOTALS : PREDICT__PHASES);
}

/* --- one link --- */

/* The formula refuses no wires that predict__asked_init has let through. */
void predict__link_parts(double *latency_s, double *bandwidth_s,
                         const predict__asked *asked, uint32_t link)
{
    predict__link sum = asked->facts->links[link];
    predict_wire old = asked->scenario->old[link];
    predict_wire now = asked->scenario->wires[link];
    predict_wire half = {now.latency_s, old.bandwidth};
    double size = sum.messages > 0 ? sum.bytes / sum.messages : 0;
    predict_link_added(latency_s, old, half, size, sum.messages);
    predict_link_added(bandwidth_s, half, now, size, sum.messages);
}

static double link_added(const predict__asked *asked, uint32_t link)
{
    double latency_s = 0, bandwidth_s = 0;
    predict__link_parts(&latency_s, &bandwidth_s, asked, link);
    return latency_s + bandwidth_s;
}

double predict__link_time(const predict__asked *asked, uint32_t link)
{
    const predict_link *l = &asked->facts->profile->links[link];
    /* However good a link is, its ends compute as long as before. */
    double min_s = fmax(asked->facts->nodes[l->a].sums.comp_s,
                        asked->facts->nodes[l->b].sums.comp_s);
    return fmax(min_s, asked->facts->wall_s + link_added(asked, link));
}

/* --- one of each --- */

int predict__node_and_link(double *out_s, const predict__asked *asked,
                           const predict_scheduler *scheduler)
{
    const predict_link *link = &asked->facts->profile->links[asked->link];
    const predict__node *node = &asked->facts->nodes[asked->node];
    predict_times t = times_of(asked, asked->node);
    double busy = t.comm_s > 0 ? node->busy_share : link->busy;
    if (link->a != asked->node && link->b != asked->node) {
        /* It only waits longer. */
        t.comp_s += node->busy_share * t.comm_s;
        t.comm_s *= 1 - node->busy_share;
        busy = 0;
    }
    return predict_node_and_link(out_s, t, link_added(asked, asked->link), busy,
                                 asked->loads[asked->node],
                                 scheduler_of(asked, asked->node, scheduler),
                                 (double)node->sums.phases);
}

/* --- bounds --- */

static void raise(double *bound, double seconds)
{
    if (seconds > *bound)
        *bound = seconds;
}

/* What each of those that are changed gives alone. */
static int largest_alone(double *bound, const predict__asked *asked,
                         const predict_scheduler *scheduler)
{
    const predict_profile *profile = asked->facts->profile;
    double seconds;
    int err = 0;
    for (uint32_t i = 0; i < profile->node_count && !err; i++) {
        if (!predict__node_changed(asked, i))
            continue;
        err = node_min(&seconds, asked, i, scheduler);
        if (!err)
            raise(bound, seconds);
    }
    for (uint32_t i = 0; i < profile->link_count; i++) {
        if (predict__link_changed(asked->scenario, i) &&
            asked->facts->links[i].messages > 0)
            raise(bound, predict__link_time(asked, i));
    }
    return err;
}

/* The papers' formulas for one node: with its own load and r below, and above
 * with those given. */
static int node_bounds(predict_bounds *out, const predict__asked *asked,
                       uint32_t node, double load, double r)
{
    predict_times max = times_of(asked, node), min = max;
    predict_times busy = busy_times(asked, node);
    predict_bounds above, below, links;
    int err;
    /* Who waits for others waits for them at their speed. */
    max.idle_s *= fmax(1, 1 / asked->slowest);
    min.idle_s *= fmin(1, 1 / asked->fastest);
    busy.idle_s = min.idle_s + min.comm_s - busy.comm_s;
    err = predict_nodes_and_links(&above, max, load, r);
    if (err)
        return err;
    err = predict_nodes_and_links(&below, busy, asked->loads[node],
                                  asked->ratios[node]);
    if (err)
        return err;
    err = predict_all_links(&links, min, asked->ratios[node]);
    if (err)
        return err;
    *out = (predict_bounds){fmax(below.lower_s, links.lower_s), above.upper_s};
    return 0;
}

static bool is_credit(const predict__asked *asked,
                      const predict_scheduler *scheduler)
{
    for (uint32_t i = 0; i < asked->facts->profile->node_count; i++) {
        if (predict__node_changed(asked, i) &&
            !isinf(scheduler_of(asked, i, scheduler).credit_s))
            return false;
    }
    return true;
}

int predict__all(predict_bounds *out, const predict__asked *asked,
                 const predict_scheduler *scheduler)
{
    const predict_profile *profile = asked->facts->profile;
    bool all = (!asked->nodes || asked->nodes == profile->node_count) &&
               (!asked->links || asked->links == profile->link_count);
    double alone_s = 0;
    int err = largest_alone(&alone_s, asked, scheduler);
    *out = (predict_bounds){0, 0};
    for (uint32_t i = 0; i < profile->node_count && !err; i++) {
        predict_bounds b;
        double load = all ? asked->loads[i] : asked->load;
        err = node_bounds(&b, asked, i, load, asked->ratio);
        if (err)
            break;
        raise(&out->upper_s, b.upper_s);
        if (all)
            raise(&out->lower_s, b.lower_s);
    }
    /* The papers' lower bound for all is what one gives by their law. */
    if (!all || !is_credit(asked, scheduler))
        raise(&out->lower_s, alone_s);
    raise(&out->upper_s, out->lower_s);
    return err;
}
