/* profile.c - making, looking up, and checking profiles.
 *
 * Its arrays grow by pastset/array.h. Whoever makes one by other means
 * (profile_unpack.c) takes pastset_array_room(count). */
#include "predict/profile/profile.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pastset/array.h"
#include "pastset/status.h"
#include "predict/profile/profile_internal.h"

/* Makes room for one more of `*items`, of which there are `count`. */
static int grow(void *items, size_t count, size_t bytes)
{
    void *old, *more;
    memcpy(&old, items, sizeof(old));
    more = pastset_array_grow(old, count, bytes);
    if (!more)
        return pastset_no_memory("for the profile");
    memcpy(items, &more, sizeof(more));
    return 0;
}

#define GROW(items, count) grow(&(items), (count), sizeof(*(items)))

const char *const predict_waiting_words[PREDICT_WAITINGS] = {"sleep", "spin",
                                                             "yield"};

predict_profile *predict_profile_create(const char *command)
{
    predict_profile *profile = calloc(1, sizeof(*profile));
    if (!profile)
        return NULL;
    profile->command = strdup(command ? command : "");
    profile->source = strdup("none");
    if (!profile->command || !profile->source) {
        predict_profile_destroy(profile);
        return NULL;
    }
    return profile;
}

void predict_profile_destroy(predict_profile *profile)
{
    if (!profile)
        return;
    for (size_t i = 0; i < profile->place_count; i++)
        free(profile->places[i].name);
    for (size_t i = 0; i < profile->node_count; i++) {
        free(profile->nodes[i].name);
        free(profile->nodes[i].phases);
    }
    free(profile->command);
    free(profile->source);
    free(profile->places);
    free(profile->nodes);
    free(profile->links);
    free(profile->messages);
    free(profile->actors);
    free(profile->steps);
    free(profile);
}

/* --- adding --- */

static int copy_name(char **out, const char *name)
{
    *out = name ? strdup(name) : NULL;
    if (!name)
        return pastset_fail(PASTSET_EINVAL, "the name is missing");
    return *out ? 0 : pastset_no_memory("for \"%s\"", name);
}

int64_t predict_profile_add_place(predict_profile *profile, const char *name,
                                  uint32_t processors)
{
    predict_place place = {.processors = processors};
    int err = 0;
    if (processors == 0)
        return pastset_fail(PASTSET_EINVAL, "a place needs a processor");
    err = GROW(profile->places, profile->place_count);
    if (!err)
        err = copy_name(&place.name, name);
    if (err)
        return err;
    profile->places[profile->place_count] = place;
    return (int64_t)profile->place_count++;
}

int64_t predict_profile_add_node(predict_profile *profile, const char *name,
                                 uint32_t place)
{
    predict_node node = {.place = place};
    int err;
    if (place >= profile->place_count)
        return pastset_fail(PASTSET_EINVAL,
                            "the profile has %zu places; there is no place %u",
                            profile->place_count, place);
    err = GROW(profile->nodes, profile->node_count);
    if (!err)
        err = copy_name(&node.name, name);
    if (err)
        return err;
    profile->nodes[profile->node_count] = node;
    return (int64_t)profile->node_count++;
}

static int node_there(const predict_profile *profile, uint32_t node)
{
    if (node < profile->node_count)
        return 0;
    return pastset_fail(PASTSET_EINVAL,
                        "the profile has %zu nodes; there is no node %u",
                        profile->node_count, node);
}

int64_t predict_profile_add_phase(predict_profile *profile, uint32_t node,
                                  predict_phase phase)
{
    predict_node *n;
    int err = node_there(profile, node);
    if (err)
        return err;
    n = &profile->nodes[node];
    err = GROW(n->phases, n->phase_count);
    if (err)
        return err;
    n->phases[n->phase_count] = phase;
    return (int64_t)n->phase_count++;
}

/* The first link that does not stand before (a, b). */
static size_t link_place(const predict_profile *profile, uint32_t a, uint32_t b)
{
    size_t from = 0, to = profile->link_count;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        const predict_link *link = &profile->links[middle];
        if (link->a < a || (link->a == a && link->b < b))
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

int64_t predict_profile_add_link(predict_profile *profile, uint32_t a,
                                 uint32_t b)
{
    uint32_t low = a < b ? a : b, high = a < b ? b : a;
    size_t at = link_place(profile, low, high);
    int err = node_there(profile, high);
    if (!err && a == b)
        err = pastset_fail(PASTSET_EINVAL, "node %s has no link to itself",
                           profile->nodes[a].name);
    if (err)
        return err;
    if (predict_profile_find_link(profile, low, high) != PREDICT_NONE)
        return (int64_t)at;
    err = GROW(profile->links, profile->link_count);
    if (err)
        return err;
    memmove(&profile->links[at + 1], &profile->links[at],
            (profile->link_count - at) * sizeof(*profile->links));
    profile->links[at] =
        (predict_link){.a = low, .b = high, .latency_s = NAN, .bandwidth = NAN};
    profile->link_count++;
    return (int64_t)at;
}

int64_t predict_profile_add_message(predict_profile *profile,
                                    predict_message message)
{
    int err = node_there(profile, message.from);
    if (!err)
        err = node_there(profile, message.to);
    if (!err && profile->message_count >= PREDICT_NONE)
        err = pastset_fail(PASTSET_EINVAL, "a profile has room for 2^32 - 1 "
                                           "messages");
    if (!err)
        err = GROW(profile->messages, profile->message_count);
    if (err)
        return err;
    profile->messages[profile->message_count] = message;
    return (int64_t)profile->message_count++;
}

int64_t predict_profile_add_actor(predict_profile *profile, uint32_t node,
                                  int64_t start_ns)
{
    int err = node_there(profile, node);
    if (!err)
        err = GROW(profile->actors, profile->actor_count);
    if (err)
        return err;
    profile->actors[profile->actor_count] =
        (predict_actor){node, start_ns, profile->step_count, 0};
    return (int64_t)profile->actor_count++;
}

int64_t predict_profile_add_step(predict_profile *profile, predict_step step)
{
    int err;
    if (!profile->actor_count)
        return pastset_fail(PASTSET_EINVAL, "a step needs an actor first");
    err = GROW(profile->steps, profile->step_count);
    if (err)
        return err;
    profile->steps[profile->step_count] = step;
    profile->actors[profile->actor_count - 1].steps++;
    return (int64_t)profile->step_count++;
}

/* --- finding --- */

uint32_t predict_profile_find_node(const predict_profile *profile,
                                   const char *name)
{
    for (size_t i = 0; i < profile->node_count; i++)
        if (strcmp(profile->nodes[i].name, name) == 0)
            return (uint32_t)i;
    return PREDICT_NONE;
}

uint32_t predict_profile_find_link(const predict_profile *profile, uint32_t a,
                                   uint32_t b)
{
    uint32_t low = a < b ? a : b, high = a < b ? b : a;
    size_t at = link_place(profile, low, high);
    if (at >= profile->link_count || profile->links[at].a != low ||
        profile->links[at].b != high)
        return PREDICT_NONE;
    return (uint32_t)at;
}

/* --- sums --- */

typedef struct wire_time {
    double all_s, busy_s; /* L + size/B; of it with a busy processor */
    double bytes;
    uint64_t messages;
} wire_time;

static wire_time wire_time_of(const predict_profile *profile, uint32_t node)
{
    wire_time t = {0};
    for (size_t i = 0; i < profile->message_count; i++) {
        const predict_message *m = &profile->messages[i];
        const predict_link *link;
        uint32_t at;
        double took;
        if (m->from == m->to || (m->from != node && m->to != node))
            continue;
        t.messages++;
        t.bytes += (double)m->bytes;
        at = predict_profile_find_link(profile, m->from, m->to);
        if (at == PREDICT_NONE)
            continue;
        link = &profile->links[at];
        if (isnan(link->latency_s) || isnan(link->bandwidth))
            continue;
        took = link->latency_s + (double)m->bytes / link->bandwidth;
        t.all_s += took;
        t.busy_s += took * link->busy;
    }
    return t;
}

/* comm and comp can be too much for two reasons: messages that were under way
 * at the same time are counted one after the other, and L and B are those of a
 * test program. The kernel's busy time is the surer number, so that comm is
 * what gives way; `comp = busy - share * comm` holds all the same. */
static void divide(predict_sums *s, wire_time t)
{
    double share = t.all_s > 0 ? t.busy_s / t.all_s : 0;
    s->comm_s = t.all_s;
    if (s->comm_s > s->wall_s) {
        s->comm_s = s->wall_s;
        s->cut = true;
    }
    if (share * s->comm_s > s->busy_s) {
        s->comp_s = 0;
        s->cut = true;
    } else {
        s->comp_s = s->busy_s - share * s->comm_s;
    }
    s->idle_s = s->wall_s - s->comp_s - s->comm_s;
    if (s->idle_s >= 0)
        return;
    /* Not more than what rounding makes? Then nothing is cut. */
    s->cut = s->cut || s->idle_s < -1e-9 * s->wall_s;
    s->idle_s = 0;
    if (share < 1)
        s->comm_s = (s->wall_s - s->busy_s) / (1 - share);
    s->comp_s = s->wall_s - s->comm_s;
}

predict_sums predict_profile_sums(const predict_profile *profile, uint32_t node)
{
    predict_sums s = {0};
    const predict_node *n;
    wire_time t;
    if (node >= profile->node_count)
        return s;
    n = &profile->nodes[node];
    s.wall_s = (double)profile->wall_ns / 1e9;
    s.busy_s = fmin((double)n->kernel_ns / 1e9, s.wall_s);
    for (size_t i = 0; i < n->phase_count; i++) {
        s.busy_phase_s += (double)n->phases[i].busy_ns / 1e9;
        s.idle_phase_s += (double)n->phases[i].idle_ns / 1e9;
    }
    s.phases = n->phase_count;
    if (s.phases) {
        s.busy_phase_s /= (double)s.phases;
        s.idle_phase_s /= (double)s.phases;
    }
    t = wire_time_of(profile, node);
    s.messages = t.messages;
    if (t.messages)
        s.message_bytes = t.bytes / (double)t.messages;
    divide(&s, t);
    return s;
}
