/* filter.c - lets through only some of the trace tuples that a leaf of a
 * gather tree gives.
 *
 *   collectors   as eventspace/options/node_list.h reads them, in the run's
 *   threads      map: "0,3-5 w*"
 *   verbs        write, read, observe ...
 *   least        operations that took less are left out ("10us")
 *
 * A tuple passes when it is right by each of those that are given. Messages
 * are changed in place. The records of tuples still tell which part of their
 * stream they stand for, so that what was left out is known at the root. */
#include "scopes/wrappers/leaf_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eventspace/collect/ticks.h"
#include "eventspace/options/node_list.h"
#include "paths/map/number_list.h"

typedef struct filter {
    bool by_collector, by_thread, by_verb;
    paths_number_list collectors, threads;
    bool verbs[PASTSET_ALL_VERBS];
    uint64_t min_ns;
    eventspace_meta meta; /* of the last one that passed */
} filter;

/* --- what is asked for --- */

static int verb_read(filter *f, const char *word)
{
    for (unsigned verb = 1; verb < PASTSET_ALL_VERBS; verb++) {
        if (strcmp(word, pastset_verb_name(verb)) == 0) {
            f->verbs[verb] = true;
            return 0;
        }
    }
    return pastset_fail(PASTSET_EMAP, "\"%s\" is not a verb", word);
}

static int verbs_read(filter *f, const char *text)
{
    char *copy = strdup(text), *rest = copy, *word;
    int err = copy ? 0 : pastset_no_memory("for a filter");

    while (!err && (word = strtok_r(rest, " ,", &rest)))
        err = verb_read(f, word);
    free(copy);
    return err;
}

/* Each may be NULL. */
static int lists_read(filter *f, const char *collectors, const char *threads,
                      const char *verbs, const paths_map *app)
{
    int err = 0;

    if (collectors)
        err = eventspace_node_list_read(&f->collectors, collectors,
                                        &eventspace_kind_collectors, app, NULL);
    if (!err && threads)
        err = eventspace_node_list_read(&f->threads, threads,
                                        &eventspace_kind_threads, app, NULL);
    if (!err && verbs)
        err = verbs_read(f, verbs);
    return err;
}

int scopes_gather_check(const scopes_gather_options *o, const paths_map *app)
{
    filter f = {0};
    int err = lists_read(&f, o->collectors, o->threads, o->verbs, app);

    paths_number_list_fini(&f.collectors);
    paths_number_list_fini(&f.threads);
    if (!err && o->slow_collectors) {
        f.collectors = (paths_number_list){0};
        err = eventspace_node_list_read(&f.collectors, o->slow_collectors,
                                        &eventspace_kind_collectors, app, NULL);
        paths_number_list_fini(&f.collectors);
    }
    return err;
}

static void filter_fini(paths_stage *stage)
{
    filter *f = paths_stage_state(stage);

    paths_number_list_fini(&f->collectors);
    paths_number_list_fini(&f->threads);
}

static int filter_init(paths_stage *stage)
{
    filter *f = paths_stage_state(stage);
    const paths_map_node *node = paths_stage_node(stage);
    const char *collectors = paths_node_get(node, "collectors");
    const char *threads = paths_node_get(node, "threads");
    const char *verbs = paths_node_get(node, "verbs");
    int err = paths_node_duration(paths_stage_map(stage), node, "least", 0,
                                  &f->min_ns);
    paths_map *app;

    f->by_collector = collectors != NULL;
    f->by_thread = threads != NULL;
    f->by_verb = verbs != NULL;
    f->meta.tick_hz = eventspace_ticks_hz();
    if (err)
        goto failed;
    app = scopes__leaf_map(stage);
    err = lists_read(f, collectors, threads, verbs, app);
    if (app)
        paths_map_destroy(app);
    if (err)
        goto failed;
    return 0;
failed:
    filter_fini(stage);
    return pastset_fail_while(err, "%s", node->name);
}

/* --- what passes --- */

static bool passes(const filter *f, const eventspace_trace *event,
                   uint64_t min_ticks)
{
    return (!f->by_collector ||
            paths_number_list_has(&f->collectors, event->collector)) &&
           (!f->by_thread ||
            paths_number_list_has(&f->threads, event->thread)) &&
           (!f->by_verb || (event->operation < PASTSET_ALL_VERBS &&
                            f->verbs[event->operation])) &&
           event->end - event->start >= min_ticks;
}

/* Moves those that pass to the front; gives their number. */
static uint32_t compact(const filter *f, eventspace_trace *events,
                        uint32_t count)
{
    uint64_t min = (uint64_t)((double)f->min_ns * f->meta.tick_hz / 1e9);
    uint32_t kept = 0;

    for (uint32_t i = 0; i < count; i++) {
        events[kept] = events[i];
        kept += passes(f, &events[i], min);
    }
    return kept;
}

/* Works through a message; each record moves to where the last one ends. */
static size_t message_filter(filter *f, unsigned char *message, size_t bytes,
                             gather_head *head)
{
    unsigned char *to = message + sizeof(*head);
    gather_reader r;
    gather_part part;

    scopes__gather_read(&r, message, bytes);
    while (scopes__gather_next(&r, &part)) {
        size_t name = scopes__gather_padded(part.name_bytes);
        /* Part of the message, which is writable. */
        unsigned char *body = message + (r.body - message);
        scopes__gather_meta_take(&f->meta, &part, body);
        if (part.kind == SCOPES_RECORD_TUPLES) {
            part.count =
                compact(f, (eventspace_trace *)(void *)body, part.count);
            part.bytes = part.count * (uint32_t)sizeof(eventspace_trace);
        }
        memmove(to + sizeof(part), r.name, name);
        memmove(to + sizeof(part) + name, body,
                scopes__gather_padded(part.bytes));
        memcpy(to, &part, sizeof(part));
        to += sizeof(part) + name + scopes__gather_padded(part.bytes);
    }
    head->bytes = (uint32_t)(to - message);
    memcpy(message, head, sizeof(*head));
    return head->bytes;
}

static int filter_down(paths_stage *stage, paths_operation *op, uint64_t *note)
{
    (void)stage;
    *note = scopes__leaf_is_pull(op);
    return PATHS_PASS;
}

/* One pull of a stage at a time comes up: those of one process are made by one
 * executor, one after the other. */
static int filter_up(paths_stage *stage, paths_operation *op, uint64_t *note)
{
    filter *f = paths_stage_state(stage);
    gather_head head;
    int err;

    if (!*note || op->status || !op->tuple)
        return PATHS_PASS;
    err = scopes__gather_check(op->tuple, op->bytes, &head);
    if (err)
        return err;
    op->bytes = message_filter(f, op->tuple, op->bytes, &head);
    return PATHS_PASS;
}

static void filter_check(const paths_map *map, const paths_map_node *node,
                         paths_diagnostics *diagnostics)
{
    uint64_t value;

    if (paths_node_duration(map, node, "least", 0, &value))
        paths_node_diagnose(diagnostics, node,
                            "least=\"%s\": write a number and ns, us, ms or s",
                            paths_node_get(node, "least"));
}

static const char *const filter_attributes[] = {"collectors", "threads",
                                                "verbs", "least", NULL};

const paths_wrapper_type scopes__filter_type = {
    .name = "filter",
    .state_bytes = sizeof(filter),
    .process_bytes = sizeof(leaf_home),
    .process_init = scopes__leaf_process_init,
    .attributes = filter_attributes,
    .check = filter_check,
    .init = filter_init,
    .fini = filter_fini,
    .down = filter_down,
    .up = filter_up,
};
