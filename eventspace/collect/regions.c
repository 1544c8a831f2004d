/* regions.c - regions.h: the events of a program's own parts, and the names
 * that it gives things (regions_internal.h).
 *
 * They go into a trace element of the process, "~regions", so that whatever
 * saves, gathers and counts trace tuples does the same with these. A thread
 * knows its names by where their text is, and looks whether it still says the
 * same: a name is in the program's memory, and a comparison of a few bytes that
 * are in the cache. A new one takes the lock, and is defined.
 *
 * What a full disk does not let be defined has no id that readers know. Its
 * events are counted as refused until it can be defined. */
#include "eventspace/regions.h"

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "eventspace/collect/trace_elements_internal.h"
#include "eventspace/collect/regions_internal.h"
#include "eventspace/collect/ticks.h"
#include "eventspace/collect/trace.h"
#include "eventspace/collect/unmade_internal.h"
#include "eventspace/define/definition.h"
#include "pastset/element.h"

#define DEPTH 64
#define KNOWN 64 /* names of a thread that need no lock; a power of two */

/* A name of the process. It stays where it is until the process ends. */
typedef struct region_name {
    UT_hash_handle hh;
    uint32_t id, kind;
    bool is_defined; /* under the lock */
    char text[];
} region_name;

typedef struct known_name {
    const char *text; /* of the program; NULL: nothing is known */
    uint32_t kind;
    const region_name *name;
} known_name;

typedef struct open_region {
    const region_name *name;
    bool is_defined;
    uint64_t start;
} open_region;

/* What a thread has. */
typedef struct own_regions {
    known_name known[KNOWN];
    open_region open[DEPTH];
    uint32_t depth, count;
} own_regions;

static struct {
    trace_element *trace; /* NULL: nothing is recorded */
    pthread_mutex_t lock; /* of what follows */
    pastset_element *definitions;
    region_name *names[EVENTSPACE_DEFINITION_KINDS];
    uint32_t count, base, processes, rank;
} regions = {.lock = PTHREAD_MUTEX_INITIALIZER};

static _Thread_local own_regions *own;

/* --- names --- */

static int definitions_make(paths_process *process)
{
    pastset_type type;
    pastset_element_options options = {.name = EVENTSPACE_DEFINITIONS_NAME,
                                       .type = &type,
                                       .policy = PASTSET_GROW,
                                       .capacity = EVENTSPACE_DEFINITIONS_MAX,
                                       .on_demand = true};
    int err = pastset_type_parse(&type, EVENTSPACE_DEFINITIONS_TYPE);

    return err ? err
               : pastset_element_create(&regions.definitions,
                                        paths_process_space(process), &options);
}

/* Gives a name its id. Under the lock, as all of these. */
static int add(region_name **out, uint32_t kind, const char *text)
{
    size_t length = strlen(text);
    region_name *name;

    if (regions.count >= EVENTSPACE_DEFINITIONS_MAX)
        return pastset_fail(PASTSET_ELIMIT,
                            "%s %s: a process has at most %d names",
                            eventspace_definition_named(kind), text,
                            EVENTSPACE_DEFINITIONS_MAX);
    name = calloc(1, sizeof(*name) + length + 1);
    if (name) {
        memcpy(name->text, text, length + 1);
        HASH_ADD_KEYPTR(hh, regions.names[kind], name->text, length, name);
    }
    if (!name || !name->hh.tbl) {
        free(name);
        return pastset_no_memory("for a name");
    }
    name->kind = kind;
    name->id =
        regions.base + regions.count++ * regions.processes + regions.rank;
    *out = name;
    return 0;
}

static int define(region_name *name)
{
    eventspace_definition definition = {
        name->kind, name->id, EVENTSPACE_NO_PARENT, name->text, NULL, 0};
    int err = eventspace_definition_write(regions.definitions, &definition);

    name->is_defined = !err;
    if (err && err != PASTSET_ENOSPC)
        return pastset_fail_while(err, "defining the %s %s",
                                  eventspace_definition_named(name->kind),
                                  name->text);
    return 0;
}

static int check_name(uint32_t kind, const char *text)
{
    return text && *text && strlen(text) < EVENTSPACE_REGION_NAME
               ? 0
               : pastset_fail(PASTSET_EINVAL,
                              "a %s needs a name of 1 to %d bytes",
                              eventspace_definition_named(kind),
                              EVENTSPACE_REGION_NAME - 1);
}

/* `*is_defined` false: readers do not know it, as the disk is full. */
static int find(region_name **out, bool *is_defined, uint32_t kind,
                const char *text)
{
    region_name *name;
    int err = check_name(kind, text);

    if (err)
        return err;
    pthread_mutex_lock(&regions.lock);
    HASH_FIND_STR(regions.names[kind], text, name);
    if (!name)
        err = add(&name, kind, text);
    if (!err && !name->is_defined)
        err = define(name);
    if (!err) {
        *out = name;
        *is_defined = name->is_defined;
    }
    pthread_mutex_unlock(&regions.lock);
    return err;
}

/* Finds a name; makes the thread's part if it is not there. */
static int know(const known_name **out, uint32_t kind, const char *text)
{
    known_name *known;
    region_name *name;
    bool is_defined;
    int err = 0;

    if (!own)
        own = calloc(1, sizeof(*own));
    if (!own)
        return pastset_no_memory("for the regions of a thread");
    known = &own->known[((uintptr_t)text >> 3 ^ (uintptr_t)text) % KNOWN];
    if (!text || known->text != text || known->kind != kind ||
        strcmp(known->name->text, text) != 0) {
        err = find(&name, &is_defined, kind, text);
        if (!err)
            *known = (known_name){is_defined ? text : NULL, kind, name};
    }
    *out = known;
    return err;
}

/* --- events --- */

static void leave(const paths_thread *self, const open_region *region,
                  uint64_t end, uint16_t operation)
{
    eventspace_trace event = {.start = region->start,
                              .end = end,
                              .collector = region->name->id,
                              .thread = paths_thread_number(self),
                              .sequence = ++own->count,
                              .bytes = own->depth,
                              .operation = operation};

    if (region->is_defined)
        eventspace__trace_write(regions.trace, &event);
    else
        eventspace__trace_refuse(regions.trace, PASTSET_ENOSPC);
}

/* Streams have a writer each: one of the threads of the map. */
static int check_thread(void)
{
    return paths_executor() > 0
               ? 0
               : pastset_fail(PASTSET_EINVAL,
                              "regions, marks and metrics are of threads of "
                              "the map, and this is none of them");
}

int eventspace_region_begin(paths_thread *self, const char *name)
{
    const known_name *known = NULL;
    int err;

    (void)self;
    if (!regions.trace)
        return 0;
    err = check_thread();
    if (!err)
        err = know(&known, EVENTSPACE_DEFINES_REGION, name);
    if (!err && own->depth == DEPTH)
        err = pastset_fail(PASTSET_ELIMIT, "region %s: more than %d deep", name,
                           DEPTH);
    if (err)
        return err;
    own->open[own->depth++] =
        (open_region){known->name, known->text != NULL, eventspace_ticks()};
    return 0;
}

int eventspace_region_end(paths_thread *self, const char *name)
{
    uint64_t end = eventspace_ticks();

    if (!regions.trace)
        return 0;
    if (!name || !own || own->depth == 0 ||
        strcmp(own->open[own->depth - 1].name->text, name) != 0)
        return pastset_fail(PASTSET_EINVAL,
                            "region %s: it is not the innermost one that has "
                            "begun",
                            name ? name : "without a name");
    own->depth--;
    leave(self, &own->open[own->depth], end, EVENTSPACE_TRACE_REGION);
    return 0;
}

int eventspace_mark(paths_thread *self, const char *name)
{
    uint64_t now = eventspace_ticks();
    const known_name *known = NULL;
    int err;

    if (!regions.trace)
        return 0;
    err = check_thread();
    if (!err)
        err = know(&known, EVENTSPACE_DEFINES_MARK, name);
    if (!err)
        leave(self, &(open_region){known->name, known->text != NULL, now}, now,
              EVENTSPACE_TRACE_MARK);
    return err;
}

/* --- for what else a program names --- */

bool eventspace__program_is_recorded(void)
{
    return regions.trace != NULL;
}

int eventspace__program_name(eventspace__name *out, uint32_t kind,
                             const char *text)
{
    int err = check_thread();

    *out = (eventspace__name){NULL, false};
    if (!err && !regions.trace)
        return check_name(kind, text);
    return err ? err : find(&out->name, &out->is_defined, kind, text);
}

void eventspace__program_event(eventspace__name *name,
                               const eventspace_trace *event)
{
    eventspace_trace own_event = *event;

    if (!regions.trace)
        return;
    if (!name->is_defined)
        (void)find(&name->name, &name->is_defined, name->name->kind,
                   name->name->text);
    own_event.collector = name->name->id;
    if (name->is_defined)
        eventspace__trace_write(regions.trace, &own_event);
    else
        eventspace__trace_refuse(regions.trace, PASTSET_ENOSPC);
}

/* --- life --- */

static int rank_of(uint32_t *out, const paths_map *map, const char *process)
{
    uint32_t *ranked = calloc(map->process_count + 1u, sizeof(*ranked));

    if (!ranked)
        return pastset_no_memory("for the names of processes");
    paths_map_rank_processes(map, ranked);
    for (uint32_t i = 0; i < map->process_count; i++)
        if (strcmp(map->processes[ranked[i]].name, process) == 0)
            *out = i;
    free(ranked);
    return 0;
}

int eventspace__regions_open(paths_process *process, const paths_map *map)
{
    int err;

    if (!eventspace__has_traces(process))
        return 0;
    regions.base = eventspace__collector_ids(map);
    regions.processes = map->process_count;
    err = rank_of(&regions.rank, map, paths_process_name(process));
    if (!err)
        err = definitions_make(process);
    if (!err)
        eventspace__unmade_open(regions.definitions);
    if (!err)
        err = eventspace__trace_of_process(&regions.trace, process, map,
                                           EVENTSPACE_REGIONS_NAME);
    return err;
}

void eventspace__regions_thread_ends(void)
{
    free(own);
    own = NULL;
}

void eventspace__regions_close(void)
{
    eventspace__unmade_close();
    if (regions.trace)
        eventspace__trace_unref(regions.trace);
    regions.trace = NULL;
    for (size_t kind = 0; kind < EVENTSPACE_DEFINITION_KINDS; kind++) {
        region_name *name, *next;
        HASH_ITER(hh, regions.names[kind], name, next)
        {
            HASH_DEL(regions.names[kind], name);
            free(name);
        }
    }
    regions.count = 0;
}
