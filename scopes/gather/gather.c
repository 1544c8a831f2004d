/* gather.c - what the threads of a gather tree do.
 *
 * A gatherer and the root do the same: they have some reads under way to each
 * of their children, and pass on what comes, in the order in which it came from
 * each. Leaves are asked again when their time has come, or at once when they
 * have more: then two reads are under way, so that the leaf makes a message
 * while the last one travels. What a gatherer below has written is observed,
 * and comes when it comes: of two that are under way the second may be quicker,
 * if it finds a tuple there while the first is being woken for the one before.
 * It is kept until that has come.
 *
 * Of a flight recorder, what is around something slow comes up as a record; the
 * root asks its children for it, and they theirs, each by an element of its
 * own, down to the leaves.
 *
 * A child that has died is left out from then on. That the tree's root or its
 * own process has ended ends a gatherer. */
#include "scopes/gather/gather_internal.h"
#include "scopes/gather/surroundings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define READS 2              /* under way to one child, at most 2 */
#define TURN_NS 100000000    /* between calls of the consumer's turn */
#define OBSERVE_NS 100000000 /* looks at its stop, while nothing comes */

typedef struct gather_child gather_child;

/* A read that is under way. */
typedef struct gather_slot {
    gather_child *child;
    struct gather_slot *next; /* of those that are done */
    paths_arguments arguments;
    unsigned char *buffer;
    bool busy;     /* under way, or kept */
    bool draining; /* began after its leaf was told to */
    int status;
    char error[512]; /* its text, if it failed */
} gather_slot;

struct gather_child {
    struct gatherer *owner;
    paths_path *path;
    bool leaf; /* read, at its pace; else observed */
    bool over;
    uint32_t busy;     /* reads under way */
    gather_slot *kept; /* what came before its turn; NULL: nothing */
    uint64_t next;     /* index of the tuple that is to be observed */
    uint32_t wanted;   /* that may be under way */
    bool drained;      /* the leaf has given what it kept back */
    int64_t due_ns;
    size_t capacity;
    gather_slot slots[READS];
};

typedef struct gatherer {
    paths_thread *self;
    gather_child *children;
    size_t count;
    paths_path **asks; /* by which children are asked for something; NULL: it
                          is not there any more */
    size_t ask_count;
    paths_path *asked;  /* by which this one is; NULL: by nobody */
    surroundings known; /* that the root has asked for */
    bool draining;
    gather_slot *first, *last; /* done, in their order */
    paths_path *out;           /* NULL: the root */
    const scopes_consumer *consumer;
    const atomic_bool *stop;
    int64_t turn_ns;
} gatherer;

static int no_memory(void)
{
    return pastset_no_memory("for a gatherer");
}

/* --- reads --- */

static void read_done(paths_arguments *arguments, int status, void *context)
{
    gather_slot *slot = context;
    gatherer *g = slot->child->owner;

    (void)arguments;
    slot->status = status;
    if (status)
        snprintf(slot->error, sizeof(slot->error), "%s", pastset_error());
    slot->next = NULL;
    if (g->last)
        g->last->next = slot;
    else
        g->first = slot;
    g->last = slot;
}

static int read_start(gather_child *child)
{
    gather_slot *slot = child->slots;
    int err;

    while (slot->busy)
        slot++;
    slot->child = child;
    slot->draining = child->owner->draining;
    slot->arguments = (paths_arguments){.verb = child->leaf ? PASTSET_READ_FIRST
                                                            : PASTSET_OBSERVE,
                                        .tuple = slot->buffer,
                                        .bytes = child->capacity,
                                        .timeout_ms = PASTSET_FOREVER};
    err = paths_start(child->path, &slot->arguments, read_done, slot);
    if (err)
        return err;
    slot->busy = true;
    child->busy++;
    return 0;
}

static bool is_stopped(const gatherer *g)
{
    return g->stop && atomic_load(g->stop);
}

/* Leaves are asked no more once all is to end; those that keep something back,
 * once they have given it. */
static bool leaf_is_over(const gatherer *g, const gather_child *child)
{
    return child->leaf && is_stopped(g) && (!g->ask_count || child->drained);
}

static bool has_room(const gather_child *child)
{
    return child->busy + (child->kept != NULL) < child->wanted;
}

/* Starts what is due; gives when the next read is, 0 for none. */
static int reads_start(gatherer *g, int64_t *next_ns)
{
    int64_t now = pastset_now_ns();
    int err = 0;

    *next_ns = 0;
    for (size_t i = 0; i < g->count && !err; i++) {
        gather_child *child = &g->children[i];
        if (child->over || leaf_is_over(g, child))
            continue;
        while (!err && has_room(child) && child->due_ns <= now)
            err = read_start(child);
        if (has_room(child) && child->due_ns > now &&
            (!*next_ns || child->due_ns < *next_ns))
            *next_ns = child->due_ns;
    }
    return err;
}

/* --- what came --- */

/* A message of one text, for the next one up. */
static size_t problem_write(void *buffer, size_t capacity, const char *text,
                            uint16_t flags)
{
    gather_part part = {.kind = SCOPES_RECORD_PROBLEM};
    gather_writer w;

    scopes__gather_begin(&w, buffer, capacity, PATHS_NONE);
    w.head.flags = flags;
    part.bytes = (uint32_t)strlen(text);
    if (part.bytes)
        scopes__gather_add(&w, &part, "", text);
    return scopes__gather_end(&w);
}

/* --- asking --- */

/* One that cannot be asked has died, which its reads tell. */
static void ask(gatherer *g, const scopes_surroundings *what)
{
    for (size_t i = 0; i < g->ask_count; i++)
        if (g->asks[i] && paths_write(g->asks[i], what, sizeof(*what)) != 0)
            g->asks[i] = NULL;
}

/* What came from above goes on. */
static int asked_pass_on(gatherer *g)
{
    scopes_surroundings what;
    paths_arguments arguments = {
        .verb = PASTSET_OBSERVE, .tuple = &what, .timeout_ms = PASTSET_NOWAIT};
    int err = 0;

    while (g->asked && !err) {
        arguments.bytes = sizeof(what);
        err = paths_call(g->asked, &arguments);
        if (!err)
            ask(g, &what);
    }
    return err == PASTSET_EAGAIN ? 0 : err;
}

/* Of the root: what many leaves tell at the same time is asked for once. */
static int record_take(const scopes_record *record, void *context)
{
    gatherer *g = context;
    scopes_surroundings what;
    bool news;
    int err;

    if (record->kind != SCOPES_RECORD_SURROUNDINGS)
        return g->consumer->record(record, g->consumer->context);
    memcpy(&what, record->body, sizeof(what));
    err = scopes__surroundings_add(&g->known, &what, &news);
    if (!err && news)
        ask(g, &what);
    return err;
}

/* All is to end: what recorders keep back is to come up first. */
static void drain(gatherer *g)
{
    static const scopes_surroundings none;

    if (g->draining || !g->ask_count || !is_stopped(g))
        return;
    ask(g, &none);
    g->draining = true;
    for (size_t i = 0; i < g->count; i++)
        g->children[i].due_ns = 0;
}

/* --- passing on --- */

/* To the next gatherer, or to the consumer. */
static int pass_on(gatherer *g, void *message, size_t bytes, gather_head *head)
{
    gather_head sent;
    int err;

    if (!g->out)
        return scopes__gather_deliver(message, bytes, head, record_take, g);
    err = scopes__gather_check(message, bytes, head);
    if (err)
        return err;
    sent = *head;
    sent.flags &= (uint16_t)~GATHER_OVER; /* that this one is, it says itself */
    memcpy(message, &sent, sizeof(sent));
    return paths_write(g->out, message, bytes);
}

/* The child has died, or nobody is left to write what it would read. */
static int child_lost(gatherer *g, gather_slot *slot)
{
    char text[1024];
    gather_head head;
    size_t bytes;

    slot->child->over = true;
    snprintf(text, sizeof(text), "%s: %s", paths_describe(slot->child->path),
             slot->error);
    bytes = problem_write(slot->buffer, slot->child->capacity, text, 0);
    return pass_on(g, slot->buffer, bytes, &head);
}

static int slot_take(gatherer *g, gather_slot *slot)
{
    gather_child *child = slot->child;
    gather_head head;
    int err;

    if (slot->status)
        return slot->status == PASTSET_EHOST ? child_lost(g, slot)
                                             : slot->status;
    err = pass_on(g, slot->buffer, slot->arguments.bytes, &head);
    if (err)
        return pastset_fail_while(err, "%s", paths_describe(child->path));
    child->over = child->over || head.flags & GATHER_OVER;
    if (!child->leaf)
        return 0;
    child->drained = slot->draining && !(head.flags & GATHER_MORE);
    child->wanted = head.flags & GATHER_MORE && !head.pause_us ? READS : 1;
    child->due_ns = pastset_now_ns() + (int64_t)head.pause_us * 1000;
    return 0;
}

/* Takes one that is done, if the child has not said that it was the last. */
static int done_take(gatherer *g, gather_slot *slot)
{
    gather_child *child = slot->child;

    slot->busy = false;
    if (!slot->status)
        child->next = slot->arguments.index + 1;
    return child->over ? 0 : slot_take(g, slot);
}

/* In the order of their tuples; after an error there is none to wait for. */
static int ordered_take(gatherer *g, gather_slot *slot)
{
    gather_child *child = slot->child;
    gather_slot *kept = child->kept;
    bool early =
        !child->leaf && !slot->status && slot->arguments.index > child->next;
    int err = 0;

    if (early && !kept && child->busy) {
        child->kept = slot;
        return 0;
    }
    child->kept = NULL;
    if (kept && (slot->status || slot->arguments.index > kept->arguments.index))
        err = done_take(g, kept);
    if (!err)
        err = done_take(g, slot);
    if (kept && kept->busy && !err)
        err = done_take(g, kept);
    return err;
}

static int slots_take(gatherer *g)
{
    int err = 0;

    while (g->first && !err) {
        gather_slot *slot = g->first;
        g->first = slot->next;
        if (!g->first)
            g->last = NULL;
        slot->child->busy--;
        err = ordered_take(g, slot);
    }
    return err;
}

/* --- the loop --- */

static bool child_is_over(const gatherer *g, const gather_child *child)
{
    return child->over || (!child->busy && leaf_is_over(g, child));
}

static bool is_over(const gatherer *g)
{
    for (size_t i = 0; i < g->count; i++)
        if (!child_is_over(g, &g->children[i]))
            return false;
    return true;
}

static bool under_way(const gatherer *g)
{
    for (size_t i = 0; i < g->count; i++)
        if (g->children[i].busy)
            return true;
    return false;
}

/* Waits for a reply, or until the next read is due. */
static void wait_some(gatherer *g, int64_t next_ns)
{
    int64_t now = pastset_now_ns(), pause = OBSERVE_NS;

    if (next_ns && next_ns - now < pause)
        pause = next_ns > now ? next_ns - now : 0;
    if (under_way(g)) {
        paths_poll(g->self, (int)((pause + 999999) / 1000000));
        return;
    }
    struct timespec t = {.tv_nsec = (long)(pause % 1000000000)};
    nanosleep(&t, NULL);
}

static int turn(gatherer *g)
{
    int64_t now = pastset_now_ns();

    if (!g->consumer || !g->consumer->turn || now - g->turn_ns < TURN_NS)
        return 0;
    g->turn_ns = now;
    return g->consumer->turn(g->consumer->context);
}

static int gather(gatherer *g)
{
    int64_t next_ns;
    int err = 0;

    while (!err && !is_over(g)) {
        drain(g);
        err = reads_start(g, &next_ns);
        if (err)
            return err;
        wait_some(g, next_ns);
        err = slots_take(g);
        if (!err)
            err = asked_pass_on(g);
        if (!err)
            err = turn(g);
    }
    return err;
}

/* --- threads --- */

static int child_open(gatherer *g, const char *name)
{
    gather_child *child = &g->children[g->count];
    int err = paths_open(&child->path, g->self, name);

    if (err)
        return err;
    g->count++;
    child->owner = g;
    child->leaf = strncmp(name, "traces.", 7) == 0;
    child->wanted = child->leaf ? 1 : READS;
    child->capacity = paths_type(child->path)->max_bytes;
    for (size_t i = 0; i < READS; i++) {
        child->slots[i].buffer = malloc(child->capacity);
        if (!child->slots[i].buffer)
            return no_memory();
    }
    return 0;
}

/* The names of the paths of this thread say where they lead. */
static int children_open(gatherer *g, const paths_map *map)
{
    uint32_t index = paths_map_find_node(map, paths_thread_name(g->self));
    const paths_map_node *node = &map->nodes[index];
    int err = 0;

    g->children = calloc(node->out_count + 1, sizeof(*g->children));
    g->asks = calloc(node->out_count + 1, sizeof(*g->asks));
    if (!g->children || !g->asks)
        return no_memory();
    for (uint32_t i = 0; i < node->out_count && !err; i++) {
        const char *as =
            paths_attributes_get(&map->edges[node->out[i]].attributes, "as");
        if (as && strcmp(as, "out") == 0)
            err = paths_open(&g->out, g->self, as);
        else if (as && strcmp(as, "asked") == 0)
            err = paths_open(&g->asked, g->self, as);
        else if (as && strncmp(as, "ask.", 4) == 0)
            err = paths_open(&g->asks[g->ask_count++], g->self, as);
        else if (as)
            err = child_open(g, as);
    }
    return err;
}

static void gatherer_fini(gatherer *g)
{
    for (size_t i = 0; i < g->count; i++)
        for (size_t k = 0; k < READS; k++)
            free(g->children[i].slots[k].buffer);
    free(g->children);
    free(g->asks);
    scopes__surroundings_fini(&g->known);
}

/* Their buffers are in use until they are done. */
static void reads_end(gatherer *g)
{
    while (under_way(g)) {
        paths_poll(g->self, PASTSET_FOREVER);
        for (; g->first; g->first = g->first->next) {
            g->first->busy = false;
            g->first->child->busy--;
        }
        g->last = NULL;
    }
}

/* For each read that the next one up has under way. */
static int over_tell(gatherer *g)
{
    unsigned char message[sizeof(gather_head)];
    size_t bytes = problem_write(message, sizeof(message), "", GATHER_OVER);
    int err = 0;

    for (size_t i = 0; i < READS && !err; i++)
        err = paths_write(g->out, message, bytes);
    return err;
}

/* What a gatherer found wrong is kept while it waits for its reads. */
static int gatherer_end(gatherer *g, int err)
{
    char text[1024];

    snprintf(text, sizeof(text), "%s", err ? pastset_error() : "");
    reads_end(g);
    if (!err && g->out)
        err = over_tell(g);
    else if (err)
        pastset_fail(err, "%s", text);
    return err;
}

static int gatherer_run(paths_thread *self, const scopes_gatherer *context,
                        const scopes_consumer *consumer)
{
    gatherer g = {.self = self, .consumer = consumer, .stop = context->stop};
    int err = children_open(&g, context->map);

    if (!err)
        err = gather(&g);
    err = gatherer_end(&g, err);
    gatherer_fini(&g);
    return err;
}

int scopes_gather_thread(paths_thread *self, void *context)
{
    const scopes_gatherer *g = context;

    if (strcmp(paths_thread_name(self), "scope") != 0)
        return gatherer_run(self, g, NULL);
    if (!g->consumer)
        return pastset_fail(PASTSET_EINVAL, "a scope without a consumer");
    return gatherer_run(self, g, g->consumer);
}
