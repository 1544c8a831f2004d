/* traces_write.c - what was found in the traces, into the profile: its nodes,
 * links, messages by time, actors. */
#include "measure/traces/traces_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pastset/status.h"

/* --- nodes --- */

static uint32_t threads_of(const traces *t, uint32_t process)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < t->topology->thread_count; i++)
        count += measure__traces_is_of(t, i, process);
    return count;
}

/* One that was not there has processors for all of its threads. */
static int add_node(const traces *t, predict_profile *profile, uint32_t process)
{
    const char *name = t->topology->map->processes[process].name;
    int64_t place, node;

    place =
        predict_profile_add_place(profile, name, threads_of(t, process) + 1);
    if (place < 0)
        return (int)place;
    node = predict_profile_add_node(profile, name, (uint32_t)place);
    return node < 0 ? (int)node : 0;
}

static uint32_t place_of(const traces *t, const predict_profile *profile,
                         uint32_t process)
{
    return t->processes[process].node == PREDICT_NONE
               ? PREDICT_NONE
               : profile->nodes[t->processes[process].node].place;
}

/* Those who run at a place, one behind the other; their number. */
static uint32_t add_runners(traces *t, const predict_profile *profile,
                            uint32_t place, traces_runner *out)
{
    uint32_t count = 0;

    for (uint32_t h = 0; h < t->topology->map->process_count; h++) {
        if (place_of(t, profile, h) != place)
            continue;
        if (t->has_paths) /* else nobody serves */
            out[count++] = (traces_runner){h, PATHS_NONE};
        for (uint32_t i = 0; i < t->topology->thread_count; i++) {
            if (measure__traces_is_of(t, i, h))
                out[count++] = (traces_runner){h, i};
        }
    }
    return count;
}

static int find_runners(traces *t, const predict_profile *profile)
{
    uint32_t processes = t->topology->map->process_count, used = 0;

    t->runners = malloc(((size_t)processes + t->topology->thread_count + 1) *
                        sizeof(*t->runners));
    if (!t->runners)
        return measure__traces_no_memory();
    for (uint32_t place = 0; place < profile->place_count; place++) {
        traces_runner *first = &t->runners[used];
        uint32_t count = add_runners(t, profile, place, first);
        used += count;
        if (count <= profile->places[place].processors)
            continue;
        for (uint32_t h = 0; h < processes; h++) {
            if (place_of(t, profile, h) == place) {
                t->processes[h].runners = first;
                t->processes[h].runner_count = count;
            }
        }
    }
    return 0;
}

int measure__traces_nodes(traces *t, predict_profile *profile)
{
    int err = 0;

    for (uint32_t i = 0; i < t->topology->map->process_count && !err; i++) {
        const char *name = t->topology->map->processes[i].name;
        if (predict_profile_find_node(profile, name) == PREDICT_NONE)
            err = add_node(t, profile, i);
        t->processes[i].node = predict_profile_find_node(profile, name);
    }
    return err ? err : find_runners(t, profile);
}

/* --- messages --- */

typedef struct sent {
    int64_t at_ns;
    uint32_t message;
} sent;

static int by_time(const void *a, const void *b)
{
    const sent *x = a, *y = b;

    if (x->at_ns != y->at_ns)
        return x->at_ns < y->at_ns ? -1 : 1;
    return (x->message > y->message) - (x->message < y->message);
}

static int by_number(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

/* Both nodes of a link, the lower one first, as links are ordered. */
static uint64_t link_of(const traces *t, const traces_message *m)
{
    uint64_t from = t->processes[m->from].node, to = t->processes[m->to].node;

    return from < to ? from << 32 | to : to << 32 | from;
}

/* In their order, so that none has to be put in between others. */
static int add_links(const traces *t, predict_profile *profile)
{
    uint64_t *list = malloc((t->message_capacity + 1) * sizeof(*list));
    size_t count = 0;
    int64_t done = 0;

    if (!list)
        return measure__traces_no_memory();
    for (size_t i = 0; i < t->message_capacity; i++) {
        const traces_message *m = &t->messages[i];
        if (m->sent && t->processes[m->from].node != t->processes[m->to].node)
            list[count++] = link_of(t, m);
    }
    qsort(list, count, sizeof(*list), by_number);
    for (size_t i = 0; i < count && done >= 0; i++) {
        if (i == 0 || list[i] != list[i - 1])
            done = predict_profile_add_link(profile, (uint32_t)(list[i] >> 32),
                                            (uint32_t)list[i]);
    }
    free(list);
    return done < 0 ? (int)done : 0;
}

static int add_message(const traces *t, predict_profile *profile,
                       const traces_message *m)
{
    int64_t done = predict_profile_add_message(
        profile,
        (predict_message){m->at_ns, m->bytes, t->processes[m->from].node,
                          t->processes[m->to].node});

    return done < 0 ? (int)done : 0;
}

/* By time. `next` of each becomes its number in the profile. */
static int add_messages(traces *t, predict_profile *profile)
{
    sent *list = malloc((t->message_capacity + 1) * sizeof(*list));
    size_t count = 0;
    int err = 0;

    if (!list)
        return measure__traces_no_memory();
    for (size_t i = 0; i < t->message_capacity; i++) {
        if (t->messages[i].sent)
            list[count++] = (sent){t->messages[i].at_ns, (uint32_t)i};
    }
    qsort(list, count, sizeof(*list), by_time);
    for (size_t i = 0; i < count && !err; i++) {
        traces_message *m = &t->messages[list[i].message];
        m->next = (uint32_t)i;
        err = add_message(t, profile, m);
    }
    free(list);
    return err;
}

/* --- actors --- */

/* What nobody sends, as its traces are missing, nobody waits for. */
static int add_step(const traces *t, predict_profile *profile,
                    predict_step step)
{
    int64_t done;

    if (step.message != PREDICT_NONE) {
        const traces_message *m = &t->messages[step.message];
        if (!m->sent)
            return 0;
        step.message = m->next;
    }
    done = predict_profile_add_step(profile, step);
    return done < 0 ? (int)done : 0;
}

static int add_actors(const traces *t, predict_profile *profile)
{
    const predict_step *step = t->steps;

    for (size_t i = 0; i < t->actor_count; i++) {
        const traces_actor *a = &t->actors[i];
        int64_t done = predict_profile_add_actor(
            profile, t->processes[a->process].node, a->start_ns);
        int err = done < 0 ? (int)done : 0;
        for (size_t s = 0; s < a->steps && !err; s++)
            err = add_step(t, profile, *step++);
        if (err)
            return err;
    }
    return 0;
}

int measure__traces_write(traces *t, predict_profile *profile)
{
    char *source = strdup("traces");
    int err = source ? add_links(t, profile) : measure__traces_no_memory();

    if (!err)
        err = add_messages(t, profile);
    if (!err)
        err = add_actors(t, profile);
    if (err) {
        free(source);
        return err;
    }
    free(profile->source);
    profile->source = source;
    if (profile->wall_ns < t->last_ns)
        profile->wall_ns = t->last_ns;
    return 0;
}
