/* export_names.c - what slices are called.
 *
 * A name is one text of one kind, however many collectors it is of. It is made
 * from the map when it is needed first, and kept by what it is made of: a
 * collector or definition, for collectors below by the thread, and the verb. */
#include "viewer/export/export_internal.h"

#include <stdlib.h>
#include <string.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#include "pastset/status.h"

#define NAMES_OF_OFF 3
#define NAME_VERBS (PASTSET_ALL_VERBS + NAMES_OF_OFF)

typedef struct known {
    char *key; /* its kind, then its text */
    viewer__name name;
    UT_hash_handle hh;
} known;

struct viewer__names {
    const viewer__export *e;
    uint32_t ids, threads;
    const bool *is_top;      /* by collector */
    const uint32_t *tree_of; /* by collector at a top; PATHS_NONE: none */
    viewer__name **names;    /* [(id or ids + thread) * verbs + verb] */
    known *known;            /* all of them */
    uint32_t count;
};

static unsigned verb_of(const viewer__event *event)
{
    return event->operation < PASTSET_ALL_VERBS ? event->operation : 0;
}

static const scopes_top *top_of(const viewer__names *n, uint32_t collector)
{
    const scopes_topology *topology = n->e->topology;

    for (uint32_t i = 0; i < topology->top_count; i++)
        if (topology->tops[i].collector == collector)
            return &topology->tops[i];
    return NULL;
}

static void spell_defined(const viewer__names *n, const viewer__event *event,
                          char *out, size_t room)
{
    const char *name = viewer__export_id_name(n->e, event->collector);

    if (*name)
        snprintf(out, room, "%s", name);
    else
        snprintf(out, room, "%s %u",
                 viewer__is_region(event)
                     ? eventspace_trace_verb(event->operation)
                     : "collector",
                 event->collector);
}

static void spell(const viewer__names *n, const viewer__event *event, char *out,
                  size_t room)
{
    const scopes_topology *topology = n->e->topology;
    const char *verb = eventspace_trace_verb((uint16_t)verb_of(event));

    if (event->operation == VIEWER__OFF_UNKNOWN)
        snprintf(out, room, "not known");
    else if (viewer__is_off(event))
        snprintf(out, room, "%s",
                 event->sequence >= event->bytes ? "runnable" : "sleeping");
    else if (viewer__is_region(event) ||
             event->collector >= topology->collectors)
        spell_defined(n, event, out, room);
    else if (n->is_top[event->collector])
        snprintf(out, room, "%s %s", verb, top_of(n, event->collector)->name);
    else
        snprintf(out, room, "%s of %s", verb,
                 scopes_topology_thread_name(topology, event->thread));
}

static bool is_collective(const viewer__names *n, const viewer__event *event)
{
    return event->collector < n->e->topology->collectors &&
           n->tree_of[event->collector] != PATHS_NONE;
}

/* Where a name is kept: by what it is made of. */
static size_t name_place(const viewer__names *n, const viewer__event *event)
{
    uint32_t thread = event->thread < n->threads ? event->thread : n->threads;
    uint32_t id = event->collector < n->ids ? event->collector : n->ids;

    if (viewer__is_off(event))
        return PASTSET_ALL_VERBS + (event->operation == VIEWER__OFF_UNKNOWN ? 2
                                    : event->sequence >= event->bytes       ? 0
                                                                      : 1);
    if (viewer__is_region(event))
        return (size_t)id * NAME_VERBS;
    if (event->collector < n->e->topology->collectors &&
        !n->is_top[event->collector])
        id = n->ids + 1 + thread;
    return (size_t)id * NAME_VERBS + verb_of(event);
}

static char kind_of(const viewer__names *n, const viewer__event *event)
{
    if (viewer__is_off(event))
        return 's';
    if (viewer__is_region(event))
        return 'r';
    if (event->collector >= n->e->topology->collectors ||
        !n->is_top[event->collector])
        return 'h';
    return is_collective(n, event) ? 'c' : 'o';
}

static known *name_add(viewer__names *n, const char *key)
{
    known *k = calloc(1, sizeof(*k));

    if (!k)
        return NULL;
    k->key = strdup(key);
    k->name = (viewer__name){.id = n->count++,
                             .kind = key[0],
                             .text = viewer__utf8(key + 1),
                             .json = viewer__json_string(key + 1)};
    if (k->key && k->name.text && k->name.json) {
        HASH_ADD_KEYPTR(hh, n->known, k->key, strlen(k->key), k);
        if (k->hh.tbl)
            return k;
    }
    free(k->key);
    free(k->name.text);
    free(k->name.json);
    free(k);
    return NULL;
}

/* One for each text, whichever collectors it is of. */
static viewer__name *name_make(viewer__names *n, const viewer__event *event)
{
    char key[1024] = {kind_of(n, event)};
    known *k;

    spell(n, event, key + 1, sizeof(key) - 1);
    HASH_FIND(hh, n->known, key, strlen(key), k);
    if (!k)
        k = name_add(n, key);
    return k ? &k->name : NULL;
}

const viewer__name *viewer__name_of(viewer__names *n,
                                    const viewer__event *event)
{
    viewer__name **place = &n->names[name_place(n, event)];

    if (!viewer__is_off(event) && event->collector >= n->ids)
        return name_make(n, event); /* the place is that of all of these */
    if (!*place)
        *place = name_make(n, event);
    return *place;
}

const char *viewer__category_of(const viewer__name *name,
                                const viewer__event *event)
{
    switch (name->kind) {
    case 's':
        return "scheduling";
    case 'r':
        return event->operation == EVENTSPACE_TRACE_MARK ? "mark" : "region";
    case 'h':
        return "hop";
    default:
        return name->kind == 'c' ? "collective" : "operation";
    }
}

int viewer__names_create(viewer__names **out, const viewer__export *e,
                         const bool *is_top, const uint32_t *tree_of)
{
    viewer__names *n = calloc(1, sizeof(*n));

    *out = n;
    if (!n)
        return pastset_no_memory("for an export");
    *n = (viewer__names){.e = e,
                         .ids = eventspace_run_ids(e->run),
                         .threads = e->topology->thread_count,
                         .is_top = is_top,
                         .tree_of = tree_of};
    n->names = calloc(((size_t)n->ids + n->threads + 2) * NAME_VERBS,
                      sizeof(*n->names));
    return n->names ? 0 : pastset_no_memory("for an export");
}

void viewer__names_destroy(viewer__names *n)
{
    known *k, *next;

    if (!n)
        return;
    HASH_ITER(hh, n->known, k, next)
    {
        HASH_DEL(n->known, k);
        free(k->key);
        free(k->name.text);
        free(k->name.json);
        free(k);
    }
    free(n->names);
    free(n);
}
