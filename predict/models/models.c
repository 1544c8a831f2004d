/* models.c - the formulas of papers 000 and 001: see models.h. */
#include "predict/models/models.h"

#include <math.h>

#include "pastset/status.h"

/* --- numbers that make no sense --- */

static int refuse(const char *name, double number, const char *want)
{
    return pastset_fail(PASTSET_EINVAL, "%s is %g, but must be %s", name,
                        number, want);
}

static int need_amount(const char *name, double number)
{
    if (number >= 0 && isfinite(number))
        return 0;
    return refuse(name, number, "a number from 0");
}

static int need_positive(const char *name, double number)
{
    if (number > 0 && isfinite(number))
        return 0;
    return refuse(name, number, "a number above 0");
}

static int need_scheduler(predict_scheduler scheduler)
{
    if (scheduler.credit_s >= 0)
        return 0;
    return refuse("the credit of the law", scheduler.credit_s, "0 or more");
}

static int need_wire(const char *which, predict_wire wire)
{
    if (!(wire.latency_s >= 0 && isfinite(wire.latency_s)))
        return pastset_fail(PASTSET_EINVAL,
                            "the latency of the %s link is %g seconds, but "
                            "must be a number from 0",
                            which, wire.latency_s);
    if (!(wire.bandwidth > 0 && isfinite(wire.bandwidth)))
        return pastset_fail(PASTSET_EINVAL,
                            "the bandwidth of the %s link is %g bytes per "
                            "second, but must be a number above 0",
                            which, wire.bandwidth);
    return 0;
}

static int need_times(predict_times t)
{
    int err = need_amount("the time of computation", t.comp_s);
    if (!err)
        err = need_amount("the time of communication", t.comm_s);
    if (!err)
        err = need_amount("the idle time", t.idle_s);
    return err;
}

/* --- one shared node --- */

static int node_factor(double *out, const char *busy_name,
                       const char *idle_name, predict_span span, double load,
                       predict_scheduler scheduler)
{
    int err = need_amount(busy_name, span.busy_s);
    if (err)
        return err;
    err = need_amount(idle_name, span.idle_s);
    if (err)
        return err;
    if (span.busy_s + span.idle_s <= 0)
        return refuse(busy_name, span.busy_s,
                      "above 0 if there is no idle time");
    err = need_amount("the load", load);
    if (err)
        return err;
    err = need_scheduler(scheduler);
    if (err)
        return err;
    *out =
        1 + predict_scheduler_extra(scheduler, span.busy_s, span.idle_s, load) /
                (span.busy_s + span.idle_s);
    return 0;
}

int predict_node_by_phases(double *out, double busy_phase_s,
                           double idle_phase_s, double load,
                           predict_scheduler scheduler)
{
    return node_factor(out, "the average busy phase", "the average idle phase",
                       (predict_span){busy_phase_s, idle_phase_s}, load,
                       scheduler);
}

int predict_node_by_totals(double *out, double busy_s, double idle_s,
                           double load, predict_scheduler scheduler)
{
    return node_factor(out, "the busy time", "the idle time",
                       (predict_span){busy_s, idle_s}, load, scheduler);
}

int predict_node_by_sequence(double *out, const predict_span *phases,
                             size_t count, double load,
                             predict_scheduler scheduler)
{
    double sum = 0;
    int err = need_amount("the load", load);
    if (!err)
        err = need_scheduler(scheduler);
    for (size_t i = 0; i < count && !err; i++) {
        predict_span p = phases[i];
        err = need_amount("a busy phase", p.busy_s);
        if (!err)
            err = need_amount("an idle phase", p.idle_s);
        if (!err)
            sum += p.busy_s + p.idle_s +
                   predict_scheduler_extra(scheduler, p.busy_s, p.idle_s, load);
    }
    if (!err)
        *out = sum;
    return err;
}

/* --- one shared link --- */

static double wire_time(predict_wire wire, double bytes)
{
    return wire.latency_s + bytes / wire.bandwidth;
}

int predict_link_added(double *out, predict_wire old, predict_wire changed,
                       double size_bytes, double count)
{
    int err = need_wire("old", old);
    if (err)
        return err;
    err = need_wire("changed", changed);
    if (err)
        return err;
    err = need_amount("the size of messages", size_bytes);
    if (err)
        return err;
    err = need_amount("the number of messages", count);
    if (err)
        return err;
    *out =
        (wire_time(changed, size_bytes) - wire_time(old, size_bytes)) * count;
    return 0;
}

int predict_link_added_each(double *out, predict_wire old, predict_wire changed,
                            const uint64_t *sizes, size_t count)
{
    double sum = 0;
    int err = need_wire("old", old);
    if (!err)
        err = need_wire("changed", changed);
    for (size_t i = 0; i < count && !err; i++)
        sum += wire_time(changed, (double)sizes[i]) -
               wire_time(old, (double)sizes[i]);
    if (!err)
        *out = sum;
    return err;
}

int predict_node_and_link(double *out, predict_times dedicated, double added_s,
                          double busy, double load, predict_scheduler scheduler,
                          double phases)
{
    double comm_s, busy_s, idle_s, factor = 0;
    int err = need_times(dedicated);
    if (err)
        return err;
    if (!isfinite(added_s))
        return refuse("the time that the link adds", added_s, "a number");
    if (!(busy >= 0 && busy <= 1))
        return refuse("the busy share of communication", busy, "from 0 to 1");
    err = need_amount("the number of phases", phases);
    if (err)
        return err;
    /* A better link cannot take more away than communication took. */
    comm_s = fmax(0, dedicated.comm_s + added_s);
    busy_s = dedicated.comp_s + busy * comm_s;
    idle_s = dedicated.idle_s + (1 - busy) * comm_s;
    phases = fmax(1, phases);
    err = predict_node_by_phases(&factor, busy_s / phases, idle_s / phases,
                                 load, scheduler);
    if (err)
        return err;
    *out = factor * (busy_s + idle_s);
    return 0;
}

/* --- all of them --- */

int predict_all_nodes(predict_bounds *out, predict_times t, double load)
{
    double k = load + 1;
    int err = need_times(t);
    if (!err)
        err = need_amount("the load", load);
    if (err)
        return err;
    out->upper_s = k * t.comp_s + k * k * (t.comm_s + t.idle_s);
    out->lower_s =
        fmax(k * (t.comp_s + t.comm_s), t.comp_s + t.comm_s + t.idle_s);
    return 0;
}

int predict_all_links(predict_bounds *out, predict_times t, double r)
{
    double all_idle, no_idle;
    int err = need_times(t);
    if (!err)
        err = need_positive("the ratio of communication times", r);
    if (err)
        return err;
    all_idle = t.comp_s + r * (t.comm_s + t.idle_s);
    no_idle = t.comp_s + r * t.comm_s + t.idle_s;
    out->upper_s = fmax(all_idle, no_idle);
    out->lower_s = fmin(all_idle, no_idle);
    return 0;
}

int predict_comm_ratio(double *out, const predict_wire *old,
                       const predict_wire *changed, const uint64_t *sizes,
                       size_t count)
{
    double before_s = 0, after_s = 0;
    for (size_t i = 0; i < count; i++) {
        int err = need_wire("old", old[i]);
        if (!err)
            err = need_wire("changed", changed[i]);
        if (err)
            return err;
        before_s += wire_time(old[i], (double)sizes[i]);
        after_s += wire_time(changed[i], (double)sizes[i]);
    }
    if (before_s <= 0 && after_s > 0)
        return refuse("the old time of all messages", before_s, "above 0");
    *out = before_s > 0 ? after_s / before_s : 1;
    return 0;
}

int predict_nodes_and_links(predict_bounds *out, predict_times t, double load,
                            double r)
{
    double k = load + 1;
    predict_bounds links;
    int err = predict_all_links(&links, t, r);
    if (!err)
        err = need_amount("the load", load);
    if (err)
        return err;
    /* Where links are better, idle time need not become less with them. */
    out->upper_s =
        k * t.comp_s + k * k * (r * t.comm_s + fmax(r, 1) * t.idle_s);
    out->lower_s = fmax(k * (t.comp_s + fmin(r, 1) * t.comm_s), links.lower_s);
    return 0;
}
