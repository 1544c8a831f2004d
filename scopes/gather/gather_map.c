/* gather_map.c - from the map of an application to that of a gather tree.
 *
 * Leaves first, one for each process of the application, on processes of their
 * own with the same address, or those of a machine on one; then levels of
 * gatherers, each on the process of its first child, as long as there are more
 * children than the root may have. */
#include "scopes/gather/gather_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "paths/net/address.h"

/* Of a flight recorder, where nothing else is asked for. */
#define AROUND_NS 20000000ull
#define HOLD_NS 5000000000ull
#define RECORDER_INTERVAL_MS 1000u

/* What the next level reads from. */
typedef struct gather_source {
    const char *name; /* of the application's process that it stands beside */
    uint32_t process; /* of the tree */
    uint32_t node;    /* where ways to it lead in */
    uint32_t asked;   /* its element, in which what all leaves are asked for
                         comes down; PATHS_NONE: nothing is */
    unsigned level;   /* 0: a leaf */
} gather_source;

typedef struct gather_build {
    const paths_map *app;
    const scopes_gather_options *options;
    paths_map *map;
    gather_source *sources;
    uint32_t count;
    uint32_t threads;
    int err;
} gather_build;

/* --- small steps, which do nothing after an error --- */

static void out_of_memory(gather_build *b)
{
    if (!b->err)
        b->err = pastset_no_memory("for a gather tree");
}

static void set(gather_build *b, paths_attributes *attributes, const char *key,
                const char *format, ...) __attribute__((format(printf, 4, 5)));

static void set(gather_build *b, paths_attributes *attributes, const char *key,
                const char *format, ...)
{
    va_list arguments;
    char *value;
    int length;

    va_start(arguments, format);
    length = vasprintf(&value, format, arguments);
    va_end(arguments);
    if (length < 0) {
        out_of_memory(b);
        return;
    }
    if (!b->err)
        b->err = paths_attributes_set(attributes, key, value);
    free(value);
}

/* A node named PREFIX.NAME, or PREFIX.NAME.LEVEL above the first. */
static uint32_t node_add(gather_build *b, uint32_t process, const char *type,
                         const char *prefix, const char *name, unsigned level)
{
    char text[512], number[16] = "";
    uint32_t node;

    if (b->err)
        return PATHS_NONE;
    if (level > 1)
        snprintf(number, sizeof(number), ".%u", level);
    snprintf(text, sizeof(text), "%s.%s%s", prefix, name, number);
    node = paths_map_add_node(b->map, process, type, text);
    if (node == PATHS_NONE)
        out_of_memory(b);
    else if (strcmp(type, "thread") == 0)
        set(b, &b->map->nodes[node].attributes, "number", "%u", b->threads++);
    return node;
}

static uint32_t edge_add(gather_build *b, uint32_t from, uint32_t to,
                         const char *as, const char *use)
{
    uint32_t edge;

    if (b->err)
        return PATHS_NONE;
    edge = paths_map_add_edge(b->map, from, to);
    if (edge == PATHS_NONE) {
        out_of_memory(b);
        return edge;
    }
    if (as)
        set(b, &b->map->edges[edge].attributes, "as", "%s", as);
    if (use)
        set(b, &b->map->edges[edge].attributes, "use", "%s", use);
    return edge;
}

static paths_attributes *of_node(gather_build *b, uint32_t node)
{
    static paths_attributes none;
    return b->err ? &none : &b->map->nodes[node].attributes;
}

static uint32_t message_bytes(const gather_build *b)
{
    uint32_t bytes = b->options->message_bytes;
    return bytes ? bytes : GATHER_MESSAGE_BYTES;
}

/* --- leaves --- */

static bool is_loopback(const char *address)
{
    return strncmp(address, "127.", 4) == 0 || strcmp(address, "::1") == 0 ||
           strncmp(address, "[::1]", 5) == 0;
}

/* The address without its port: the tree's processes have ports of their own.
 * Loopback leads to no other machine. */
static void address_copy(gather_build *b, uint32_t process, const char *address)
{
    const char *end;
    int length;

    if (!address || b->err || (b->options->machines && is_loopback(address)))
        return;
    end = strrchr(address, ':');
    if (*address == '[') { /* "[::1]:7000" */
        address++;
        end = address + strcspn(address, "]");
    } else if (end && strchr(address, ':') != end) {
        end = NULL; /* "::1" */
    }
    length = end ? (int)(end - address) : (int)strlen(address);
    set(b, &b->map->processes[process].attributes, "address", "%.*s", length,
        address);
}

/* What a run has encrypted, its events are too. */
static void encrypt_copy(gather_build *b, paths_attributes *to,
                         const paths_attributes *from)
{
    const char *encrypt = paths_attributes_get(from, "encrypt");

    if (encrypt)
        set(b, to, "encrypt", "%s", encrypt);
}

/* Who reaches whom in the run, does so in the tree. */
static void networks_copy(gather_build *b, uint32_t process,
                          const paths_map_process *app)
{
    const char *networks = paths_attributes_get(&app->attributes, "networks");

    if (networks && !b->err)
        set(b, &b->map->processes[process].attributes, "networks", "%s",
            networks);
}

static bool is_same_machine(const char *left, const char *right)
{
    paths_address a, b;

    if (!left || !right || paths_address_parse(&a, left) != 0 ||
        paths_address_parse(&b, right) != 0)
        return false;
    paths_address_set_port(&a, 0);
    paths_address_set_port(&b, 0);
    return memcmp(&a.socket, &b.socket, sizeof(a.socket)) == 0;
}

/* The root is where its address is: it reaches whom that machine does. */
static void root_place(gather_build *b, uint32_t root)
{
    const char *address = b->options->root_address;

    if (!address || b->err)
        return;
    set(b, &b->map->processes[root].attributes, "address", "%s", address);
    for (uint32_t i = 0; i < b->app->process_count; i++) {
        const paths_map_process *app = &b->app->processes[i];
        if (is_same_machine(
                address, paths_attributes_get(&app->attributes, "address"))) {
            networks_copy(b, root, app);
            return;
        }
    }
}

static uint32_t traces_add(gather_build *b, uint32_t process, const char *name)
{
    const scopes_throttle *throttle = &b->options->throttle;
    uint32_t node = node_add(b, process, "traces", "traces", name, 0);
    paths_attributes *attributes = of_node(b, node);

    set(b, attributes, "type", "bytes[%u]", message_bytes(b));
    if (b->options->run)
        set(b, attributes, "run", "%s", b->options->run);
    set(b, attributes, "interval", "%ums",
        throttle->interval_ms    ? throttle->interval_ms
        : b->options->slower > 0 ? RECORDER_INTERVAL_MS
                                 : 100);
    if (throttle->batch)
        set(b, attributes, "batch", "%u", throttle->batch);
    if (throttle->share > 0 && throttle->share < 1)
        set(b, attributes, "share", "%g", throttle->share);
    if (throttle->lag)
        set(b, attributes, "lag", "%llu", (unsigned long long)throttle->lag);
    return node;
}

/* A wrapper above `*top`, which becomes the new top. */
static paths_attributes *above(gather_build *b, uint32_t process,
                               const char *type, const char *name,
                               uint32_t *top)
{
    uint32_t node = node_add(b, process, type, type, name, 0);

    edge_add(b, node, *top, NULL, NULL);
    *top = node;
    return of_node(b, node);
}

static void filter_add(gather_build *b, uint32_t process, const char *name,
                       uint32_t *top)
{
    const scopes_gather_options *o = b->options;
    paths_attributes *attributes;

    if (!o->collectors && !o->threads && !o->verbs && !o->min_ns)
        return;
    attributes = above(b, process, "filter", name, top);
    if (o->collectors)
        set(b, attributes, "collectors", "%s", o->collectors);
    if (o->threads)
        set(b, attributes, "threads", "%s", o->threads);
    if (o->verbs)
        set(b, attributes, "verbs", "%s", o->verbs);
    if (o->min_ns)
        set(b, attributes, "least", "%lluns", (unsigned long long)o->min_ns);
}

/* Where what is asked for comes down to a leaf or a gatherer. */
static uint32_t asked_add(gather_build *b, uint32_t process, const char *name,
                          unsigned level)
{
    uint32_t node;

    if (b->options->slower <= 0)
        return PATHS_NONE;
    node = node_add(b, process, "element", "asked", name, level + 1);
    set(b, of_node(b, node), "type", "u64[2]");
    set(b, of_node(b, node), "policy", "discard");
    set(b, of_node(b, node), "capacity", "1024");
    return node;
}

static void recorder_add(gather_build *b, uint32_t process, const char *name,
                         uint32_t *top)
{
    const scopes_gather_options *o = b->options;
    paths_attributes *attributes = above(b, process, "recorder", name, top);

    set(b, attributes, "slower", "%g", o->slower);
    set(b, attributes, "asked", "asked.%s", name);
    if (o->slow_collectors)
        set(b, attributes, "of", "%s", o->slow_collectors);
    set(b, attributes, "around", "%lluns",
        (unsigned long long)(o->around_ns ? o->around_ns : AROUND_NS));
    set(b, attributes, "hold", "%lluns",
        (unsigned long long)(o->hold_ns ? o->hold_ns : HOLD_NS));
}

/* The source and the wrappers above it. Gives the source, and in `*top` where
 * ways lead in. */
static uint32_t leaf_stages(gather_build *b, uint32_t process, const char *name,
                            uint32_t *top)
{
    uint32_t traces = traces_add(b, process, name);

    *top = traces;
    filter_add(b, process, name, top);
    if (b->options->slower > 0)
        recorder_add(b, process, name, top);
    if (b->options->window_ns)
        set(b, above(b, process, "statistics", name, top), "window", "%lluns",
            (unsigned long long)b->options->window_ns);
    return traces;
}

static uint32_t process_add(gather_build *b, const char *name)
{
    uint32_t process = paths_map_add_process(b->map, name);
    if (process == PATHS_NONE)
        out_of_memory(b);
    return process;
}

/* The process of the tree that stands where this one of the application is. */
static uint32_t reader_add(gather_build *b, const paths_map_process *app)
{
    char name[256];
    uint32_t process;

    snprintf(name, sizeof(name), "scope.%s", app->name);
    process = process_add(b, name);
    address_copy(b, process, paths_attributes_get(&app->attributes, "address"));
    networks_copy(b, process, app);
    if (!b->err)
        encrypt_copy(b, &b->map->processes[process].attributes,
                     &app->attributes);
    return process;
}

static void leaf_add(gather_build *b, uint32_t index, uint32_t process)
{
    const char *name = b->app->processes[index].name;
    gather_source *source = &b->sources[b->count++];
    uint32_t traces;

    source->name = name;
    source->level = 0;
    source->process = process;
    source->asked = asked_add(b, process, name, 0);
    traces = leaf_stages(b, process, name, &source->node);
    set(b, of_node(b, traces), "process", "%s", name);
}

/* --- gatherers --- */

/* The way down by which a child is asked. */
static void ask_add(gather_build *b, uint32_t thread, uint32_t process,
                    const gather_source *child)
{
    uint32_t to = child->asked;
    char as[300];

    if (b->err || to == PATHS_NONE)
        return;
    if (child->process != process) {
        uint32_t proxy =
            node_add(b, process, "proxy", "ask", child->name, child->level + 1);
        edge_add(b, proxy, to, NULL, NULL);
        to = proxy;
    }
    snprintf(as, sizeof(as), "ask.%s", child->name);
    edge_add(b, thread, to, as, "write");
}

/* The way of a gatherer to one of those below. */
static void child_add(gather_build *b, uint32_t thread, uint32_t process,
                      const gather_source *child)
{
    uint32_t to = child->node;
    char as[300];

    if (b->err)
        return;
    if (child->process != process) {
        uint32_t proxy = node_add(b, process, "proxy", "proxy", child->name,
                                  child->level + 1);
        edge_add(b, proxy, to, NULL, NULL);
        to = proxy;
    }
    snprintf(as, sizeof(as), "%s.%s", child->level ? "gathered" : "traces",
             child->name);
    edge_add(b, thread, to, as, "read");
    ask_add(b, thread, process, child);
}

/* One above the highest of its children. */
static unsigned level_of(const gather_source *of, uint32_t count)
{
    unsigned level = 0;

    for (uint32_t i = 0; i < count; i++)
        if (of[i].level > level)
            level = of[i].level;
    return level + 1;
}

static gather_source gatherer_add(gather_build *b, const gather_source *of,
                                  uint32_t count)
{
    gather_source made = {
        .name = of->name, .process = of->process, .level = level_of(of, count)};
    uint32_t messages = b->options->messages;
    uint32_t thread =
        node_add(b, of->process, "thread", "gather", of->name, made.level);

    made.node =
        node_add(b, of->process, "element", "gathered", of->name, made.level);
    set(b, of_node(b, made.node), "type", "bytes[%u]", message_bytes(b));
    set(b, of_node(b, made.node), "policy", "block");
    set(b, of_node(b, made.node), "capacity", "%u", messages ? messages : 16);
    edge_add(b, thread, made.node, "out", "write");
    made.asked = asked_add(b, of->process, of->name, made.level);
    if (made.asked != PATHS_NONE)
        edge_add(b, thread, made.asked, "asked", "read");
    for (uint32_t i = 0; i < count; i++)
        child_add(b, thread, of->process, &of[i]);
    return made;
}

/* Of the sources from `from` on, one for each `fanout` of them. */
static void level_add(gather_build *b, uint32_t from)
{
    uint32_t fanout = b->options->fanout;
    uint32_t made = from;

    for (uint32_t i = from; i < b->count && !b->err; i += fanout) {
        uint32_t count = b->count - i < fanout ? b->count - i : fanout;
        b->sources[made++] =
            count == 1 ? b->sources[i] : gatherer_add(b, &b->sources[i], count);
    }
    b->count = made;
}

/* Until there are no more than `most` of them. */
static void levels_add(gather_build *b, uint32_t from, uint32_t most)
{
    while (!b->err && b->options->fanout && b->count - from > most)
        level_add(b, from);
}

/* All leaves of a machine, on one process, and what gathers from them. */
static void machine_add(gather_build *b, uint32_t machine)
{
    uint32_t process = PATHS_NONE, from = b->count;

    for (uint32_t i = 0; i < b->app->process_count && !b->err; i++) {
        if (b->options->machines[i] != machine)
            continue;
        if (process == PATHS_NONE)
            process = reader_add(b, &b->app->processes[i]);
        leaf_add(b, i, process);
    }
    if (!b->err && process == PATHS_NONE)
        b->err = pastset_fail(PASTSET_EINVAL,
                              "machine %u has no process of the run", machine);
    levels_add(b, from, 1);
}

static void sources_add(gather_build *b)
{
    if (b->options->machines) {
        for (uint32_t i = 0; i < b->options->machine_count && !b->err; i++)
            machine_add(b, i);
        return;
    }
    for (uint32_t i = 0; i < b->app->process_count && !b->err; i++)
        leaf_add(b, i, reader_add(b, &b->app->processes[i]));
}

static int build(gather_build *b)
{
    uint32_t root = process_add(b, "scope");
    uint32_t thread;

    if (b->err)
        return b->err;
    thread = paths_map_add_node(b->map, root, "thread", "scope");
    if (thread == PATHS_NONE)
        out_of_memory(b);
    set(b, of_node(b, thread), "number", "%u", b->threads++);
    root_place(b, root);
    sources_add(b);
    levels_add(b, 0, b->options->fanout);
    for (uint32_t i = 0; i < b->count; i++)
        child_add(b, thread, root, &b->sources[i]);
    return b->err;
}

/* --- the whole --- */

/* News of something slow comes with the next pull, and what was around it must
 * still be there. */
static int recorder_check(const scopes_gather_options *o)
{
    uint64_t around = o->around_ns ? o->around_ns : AROUND_NS;
    uint64_t hold = o->hold_ns ? o->hold_ns : HOLD_NS;
    uint32_t interval_ms = o->throttle.interval_ms ? o->throttle.interval_ms
                                                   : RECORDER_INTERVAL_MS;

    if (o->slower < 0 || (o->slower > 0 && o->slower <= 1))
        return pastset_fail(PASTSET_EINVAL,
                            "%g times the median is not slow: give a number "
                            "above 1",
                            o->slower);
    if (o->slower > 0 && hold < 2 * around + interval_ms * 1000000ull)
        return pastset_fail(PASTSET_EINVAL,
                            "events are held for %g s, which is not twice the "
                            "time around something slow (%g s) and an "
                            "interval (%g s): hold them longer",
                            1e-9 * (double)hold, 1e-9 * (double)around,
                            1e-3 * interval_ms);
    return 0;
}

static int options_check(const scopes_gather_options *o)
{
    if (o->fanout == 1)
        return pastset_fail(PASTSET_EINVAL,
                            "a gatherer of one child would gather nothing: "
                            "give a fanout of 2 or more, or 0");
    if (o->message_bytes && (o->message_bytes < GATHER_MESSAGE_MIN ||
                             o->message_bytes > GATHER_MESSAGE_MAX))
        return pastset_fail(
            PASTSET_EINVAL, "messages of %u bytes: give %u to %u",
            o->message_bytes, GATHER_MESSAGE_MIN, GATHER_MESSAGE_MAX);
    return recorder_check(o);
}

static int map_finish(gather_build *b, paths_map **out)
{
    paths_diagnostics diagnostics = {0};

    if (!b->err)
        b->err = paths_map_check(b->map, &diagnostics);
    if (!b->err)
        *out = b->map;
    else
        paths_map_destroy(b->map);
    paths_diagnostics_clear(&diagnostics);
    return b->err;
}

int scopes_gather_map(paths_map **out, const paths_map *app,
                      const scopes_gather_options *options)
{
    gather_build b = {.app = app, .options = options};

    *out = NULL;
    b.err = options_check(options);
    if (!b.err)
        b.err = paths_map_create(&b.map, "scope");
    if (b.err)
        return b.err;
    encrypt_copy(&b, &b.map->attributes, &app->attributes);
    /* Nobody else can be the root. */
    set(&b, &b.map->attributes, "succession", "false");
    b.sources = calloc((size_t)app->process_count + 1, sizeof(*b.sources));
    if (!b.sources)
        out_of_memory(&b);
    else
        build(&b);
    free(b.sources);
    return map_finish(&b, out);
}

int scopes__gather_map_pair(paths_map **out,
                            const scopes_gather_options *options,
                            const char *address)
{
    gather_build b = {.options = options};
    uint32_t server, client, thread, traces;
    gather_source source = {.name = "run"};

    *out = NULL;
    b.err = options_check(options);
    if (!b.err)
        b.err = paths_map_create(&b.map, "scope");
    if (b.err)
        return b.err;
    server = source.process = process_add(&b, "server");
    client = process_add(&b, "scope");
    thread = b.err ? PATHS_NONE
                   : paths_map_add_node(b.map, client, "thread", "scope");
    if (thread == PATHS_NONE)
        out_of_memory(&b);
    set(&b, of_node(&b, thread), "number", "%u", b.threads++);
    if (!b.err)
        set(&b, &b.map->processes[server].attributes, "address", "%s", address);
    source.asked = asked_add(&b, server, source.name, 0);
    traces = leaf_stages(&b, server, source.name, &source.node);
    set(&b, of_node(&b, traces), "map", "true");
    child_add(&b, thread, client, &source);
    return map_finish(&b, out);
}
