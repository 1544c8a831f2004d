/* profile_check.c - whether a profile holds together.
 *
 * Profiles come from files, and from programs that put together what they
 * measured; models and replay rely on what is looked at here. */
#include "predict/profile/profile.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pastset/status.h"
#include "predict/profile/profile_internal.h"

#define SLICE_MIN_NS 10000
#define SLICE_MAX_NS 1000000000

static bool is_time(int64_t ns)
{
    return ns >= 0 && ns <= PREDICT__MAX_NS;
}

/* --- nodes and links --- */

static int check_phases(const predict_node *node)
{
    int64_t last = 0;
    for (size_t i = 0; i < node->phase_count; i++) {
        const predict_phase *p = &node->phases[i];
        if (!is_time(p->start_ns) || !is_time(p->busy_ns) ||
            !is_time(p->idle_ns))
            return pastset_fail(PASTSET_EINVAL,
                                "node %s: phase %zu has a time that is "
                                "negative or longer than three years",
                                node->name, i);
        if (p->start_ns < last)
            return pastset_fail(PASTSET_EINVAL,
                                "node %s: phase %zu begins before the one "
                                "before it",
                                node->name, i);
        last = p->start_ns;
    }
    return 0;
}

static int by_name(const void *a, const void *b)
{
    const char *const *x = a, *const *y = b;
    return strcmp(*x, *y);
}

static int check_names(const predict_profile *profile)
{
    const char **names = calloc(profile->node_count + 1, sizeof(*names));
    int err = 0;
    if (!names)
        return pastset_no_memory("to check the profile");
    for (size_t i = 0; i < profile->node_count; i++)
        names[i] = profile->nodes[i].name;
    qsort(names, profile->node_count, sizeof(*names), by_name);
    for (size_t i = 1; i < profile->node_count && !err; i++)
        if (strcmp(names[i - 1], names[i]) == 0)
            err = pastset_fail(PASTSET_EINVAL, "two nodes have the name \"%s\"",
                               names[i]);
    free(names);
    return err;
}

static int check_node(const predict_profile *profile, const predict_node *node)
{
    if (!node->name[0])
        return pastset_fail(PASTSET_EINVAL, "a node has no name");
    if (node->place >= profile->place_count)
        return pastset_fail(PASTSET_EINVAL, "node %s: there is no place %u",
                            node->name, node->place);
    if (node->waiting >= PREDICT_WAITINGS)
        return pastset_fail(PASTSET_EINVAL,
                            "node %s: its way of waiting has the number %u; "
                            "there are %d",
                            node->name, node->waiting, PREDICT_WAITINGS);
    if (!is_time(node->start_ns) || !is_time(node->end_ns) ||
        !is_time(node->probed_ns) || !is_time(node->kernel_ns) ||
        !is_time(node->waited_ns))
        return pastset_fail(PASTSET_EINVAL,
                            "node %s: a time is negative or longer than three "
                            "years",
                            node->name);
    return check_phases(node);
}

static int check_nodes(const predict_profile *profile)
{
    int err = 0;
    for (size_t i = 0; i < profile->place_count; i++)
        if (!profile->places[i].processors)
            return pastset_fail(PASTSET_EINVAL,
                                "place \"%s\" has no processors",
                                profile->places[i].name);
    for (size_t i = 0; i < profile->node_count && !err; i++)
        err = check_node(profile, &profile->nodes[i]);
    return err ? err : check_names(profile);
}

/* NaN is allowed: not measured. */
static bool link_is_sound(const predict_link *link)
{
    return !(link->latency_s < 0) && !isinf(link->latency_s) &&
           !(link->bandwidth <= 0) && !isinf(link->bandwidth) &&
           link->busy >= 0 && link->busy <= 1 && link->flow.rate >= 0 &&
           link->flow.burst >= 0 && link->flow.latency_s >= 0 &&
           isfinite(link->flow.latency_s) && isfinite(link->flow.rate) &&
           isfinite(link->flow.burst);
}

static int check_links(const predict_profile *profile)
{
    for (size_t i = 0; i < profile->link_count; i++) {
        const predict_link *link = &profile->links[i];
        const predict_link *last = i ? link - 1 : NULL;
        if (link->a >= link->b || link->b >= profile->node_count)
            return pastset_fail(PASTSET_EINVAL,
                                "link %zu lies between nodes %u and %u", i,
                                link->a, link->b);
        if (last &&
            (last->a > link->a || (last->a == link->a && last->b >= link->b)))
            return pastset_fail(PASTSET_EINVAL, "link %zu is out of order", i);
        if (!link_is_sound(link))
            return pastset_fail(PASTSET_EINVAL,
                                "link %s-%s: L = %g s, B = %g bytes/s, busy = "
                                "%g make no sense",
                                profile->nodes[link->a].name,
                                profile->nodes[link->b].name, link->latency_s,
                                link->bandwidth, link->busy);
    }
    return 0;
}

/* --- messages, actors, steps --- */

static int check_messages(const predict_profile *profile)
{
    int64_t last = 0;
    for (size_t i = 0; i < profile->message_count; i++) {
        const predict_message *m = &profile->messages[i];
        if (m->from >= profile->node_count || m->to >= profile->node_count)
            return pastset_fail(PASTSET_EINVAL,
                                "message %zu goes from node %u to node %u; "
                                "there are %zu nodes",
                                i, m->from, m->to, profile->node_count);
        if (!is_time(m->at_ns) || m->at_ns < last)
            return pastset_fail(PASTSET_EINVAL,
                                "message %zu was sent at %" PRId64
                                " ns, after one of %" PRId64 " ns",
                                i, m->at_ns, last);
        last = m->at_ns;
    }
    return 0;
}

enum { SENT = 1, RECEIVED = 2 };

/* `seen` has what was found of each message so far. */
static int check_wire_step(const predict_profile *profile, uint32_t node,
                           size_t at, uint8_t *seen)
{
    const predict_step *s = &profile->steps[at];
    bool send = s->kind == PREDICT_SEND;
    uint8_t bit = send ? SENT : RECEIVED;
    const predict_message *m;
    if (s->message >= profile->message_count)
        return pastset_fail(PASTSET_EINVAL,
                            "step %zu is about message %u; there are %zu", at,
                            s->message, profile->message_count);
    m = &profile->messages[s->message];
    if ((send ? m->from : m->to) != node)
        return pastset_fail(
            PASTSET_EINVAL, "step %zu: node %s %s message %u, which is %s %s",
            at, profile->nodes[node].name, send ? "sends" : "receives",
            s->message, send ? "from" : "to",
            profile->nodes[send ? m->from : m->to].name);
    if (seen[s->message] & bit)
        return pastset_fail(PASTSET_EINVAL, "message %u is %s twice",
                            s->message, send ? "sent" : "received");
    seen[s->message] |= bit;
    if (!send && !is_time(s->ns))
        return pastset_fail(PASTSET_EINVAL,
                            "step %zu: message %u had been there for %" PRId64
                            " ns: negative or longer than three years",
                            at, s->message, s->ns);
    return 0;
}

static int check_step(const predict_profile *profile, uint32_t node, size_t at,
                      uint8_t *seen)
{
    const predict_step *s = &profile->steps[at];
    switch (s->kind) {
    case PREDICT_COMPUTE:
    case PREDICT_SLEEP:
        if (is_time(s->ns))
            return 0;
        return pastset_fail(PASTSET_EINVAL,
                            "step %zu takes %" PRId64
                            " ns: negative or longer than three years",
                            at, s->ns);
    case PREDICT_SEND:
    case PREDICT_RECEIVE:
        return check_wire_step(profile, node, at, seen);
    default:
        return pastset_fail(PASTSET_EINVAL, "step %zu is of no known kind (%u)",
                            at, s->kind);
    }
}

static int check_actor(const predict_profile *profile, size_t at, uint8_t *seen)
{
    const predict_actor *a = &profile->actors[at];
    int err = 0;
    if (a->node >= profile->node_count)
        return pastset_fail(PASTSET_EINVAL, "actor %zu: there is no node %u",
                            at, a->node);
    if (!is_time(a->start_ns))
        return pastset_fail(PASTSET_EINVAL,
                            "actor %zu begins at %" PRId64
                            " ns: negative or after more than three years",
                            at, a->start_ns);
    if (a->step > profile->step_count ||
        a->steps > profile->step_count - a->step)
        return pastset_fail(PASTSET_EINVAL,
                            "actor %zu: its steps are not among the %zu", at,
                            profile->step_count);
    for (size_t i = 0; i < a->steps && !err; i++)
        err = check_step(profile, a->node, a->step + i, seen);
    return err;
}

/* A profile from packets has messages and need not have actors. */
static int check_actors(const predict_profile *profile)
{
    uint8_t *seen;
    size_t steps = 0;
    int err = 0;
    if (!profile->actor_count && !profile->step_count)
        return 0;
    seen = calloc(profile->message_count + 1, 1);
    if (!seen)
        return pastset_no_memory("to check the profile");
    /* Parts that overlap would be gone through again and again. */
    for (size_t i = 0; i < profile->actor_count && !err; i++) {
        err = check_actor(profile, i, seen);
        steps += profile->actors[i].steps;
        if (!err && steps > profile->step_count)
            err = pastset_fail(PASTSET_EINVAL,
                               "actor %zu: its steps are another's too", i);
    }
    if (!err && steps != profile->step_count)
        err = pastset_fail(PASTSET_EINVAL, "steps belong to no actor");
    for (size_t i = 0; i < profile->message_count && !err; i++)
        if (!(seen[i] & SENT))
            err = pastset_fail(PASTSET_EINVAL,
                               "message %zu is sent by no "
                               "actor",
                               i);
    free(seen);
    return err;
}

int predict_profile_check(const predict_profile *profile)
{
    int err = 0;
    if (!profile->command || !profile->source)
        err = pastset_fail(PASTSET_EINVAL, "the profile has no command");
    else if (!is_time(profile->wall_ns) || !is_time(profile->interval_ns))
        err = pastset_fail(PASTSET_EINVAL,
                           "the time of the run or of its probing is negative "
                           "or longer than three years");
    else if (profile->others_ppm > 1000000)
        err = pastset_fail(PASTSET_EINVAL,
                           "others had more than all of the processors");
    else if (profile->slice_ns && (profile->slice_ns < SLICE_MIN_NS ||
                                   profile->slice_ns > SLICE_MAX_NS))
        err = pastset_fail(PASTSET_EINVAL,
                           "a slice of the scheduler is shorter than 10 us or "
                           "longer than a second");
    if (!err)
        err = check_nodes(profile);
    if (!err)
        err = check_links(profile);
    if (!err)
        err = check_messages(profile);
    return err ? err : check_actors(profile);
}
