/* import_definitions.c - see import_definitions_internal.h. */
#include "viewer/import/import_definitions_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eventspace/define/definition.h"
#include "pastset/status.h"

/* The id that something has in the process that is written. */
typedef struct known_id {
    bool is_known;
    uint32_t process, id;
} known_id;

struct import_definitions {
    const otf2_trace *trace;
    const import_uses *uses;
    const paths_map *map;
    eventspace_run_writer *writer;
    pastset_element *element; /* NULL: nothing is defined yet */
    uint32_t process;
    uint32_t *ranks;            /* by process of the map */
    uint32_t *names;            /* by region: the first one of that name */
    uint32_t *places;           /* by place: the first with its channel */
    known_id *regions;          /* by name */
    known_id *operations;       /* by name */
    known_id *comms;            /* by communicator */
    known_id *channels;         /* by place */
    uint32_t region_count, own; /* that were defined */
    eventspace_attributes attributes;
};

static int no_memory(void)
{
    return pastset_no_memory("for the definitions of a trace");
}

/* --- what is the same --- */

typedef struct named {
    const char *name;
    uint32_t region;
} named;

static int by_name(const void *a, const void *b)
{
    const named *x = a, *y = b;
    int order = strcmp(x->name, y->name);

    return order ? order : x->region < y->region ? -1 : x->region > y->region;
}

/* Tracers define a region once for each process. */
static int names_make(import_definitions *d)
{
    uint32_t count = d->trace->region_count;
    named *sorted = calloc(count + 1u, sizeof(*sorted));

    if (!sorted)
        return no_memory();
    for (uint32_t i = 0; i < count; i++)
        sorted[i] = (named){d->trace->regions[i].name, i};
    qsort(sorted, count, sizeof(*sorted), by_name);
    for (uint32_t i = 0; i < count; i++)
        d->names[sorted[i].region] =
            i > 0 && strcmp(sorted[i - 1].name, sorted[i].name) == 0
                ? d->names[sorted[i - 1].region]
                : sorted[i].region;
    free(sorted);
    return 0;
}

typedef struct placed {
    place_key key;
    uint32_t place;
} placed;

static int by_channel(const void *a, const void *b)
{
    const placed *x = a, *y = b;
    const uint32_t left[] = {x->key.kind, x->key.comm, x->key.from, x->key.to};
    const uint32_t right[] = {y->key.kind, y->key.comm, y->key.from, y->key.to};

    for (size_t i = 0; i < sizeof(left) / sizeof(*left); i++)
        if (left[i] != right[i])
            return left[i] < right[i] ? -1 : 1;
    return 0;
}

/* Places differ in tags, too. */
static int places_make(import_definitions *d)
{
    uint32_t count = viewer__import_uses_places(d->uses);
    placed *sorted = calloc(count + 1u, sizeof(*sorted));

    if (!sorted)
        return no_memory();
    for (uint32_t i = 0; i < count; i++)
        sorted[i] = (placed){viewer__import_uses_place(d->uses, i)->key, i};
    qsort(sorted, count, sizeof(*sorted), by_channel);
    for (uint32_t i = 0; i < count; i++)
        d->places[sorted[i].place] =
            i > 0 && by_channel(&sorted[i - 1], &sorted[i]) == 0
                ? d->places[sorted[i - 1].place]
                : sorted[i].place;
    free(sorted);
    return 0;
}

static int ranks_make(import_definitions *d)
{
    uint32_t *ranked = calloc(d->map->process_count + 1u, sizeof(*ranked));

    if (!ranked)
        return no_memory();
    paths_map_rank_processes(d->map, ranked);
    for (uint32_t i = 0; i < d->map->process_count; i++)
        d->ranks[ranked[i]] = i;
    free(ranked);
    return 0;
}

int viewer__import_definitions_make(import_definitions **out,
                                    const otf2_trace *trace,
                                    const import_uses *uses,
                                    const paths_map *map)
{
    uint32_t places = viewer__import_uses_places(uses);
    import_definitions *d = calloc(1, sizeof(*d));
    int err = 0;

    *out = d;
    if (!d)
        return no_memory();
    d->trace = trace;
    d->uses = uses;
    d->map = map;
    d->ranks = calloc(map->process_count + 1u, sizeof(*d->ranks));
    d->names = calloc(trace->region_count + 1u, sizeof(*d->names));
    d->places = calloc(places + 1u, sizeof(*d->places));
    d->regions = calloc(trace->region_count + 1u, sizeof(*d->regions));
    d->operations = calloc(trace->region_count + 1u, sizeof(*d->operations));
    d->comms = calloc(trace->comm_count + 1u, sizeof(*d->comms));
    d->channels = calloc(places + 1u, sizeof(*d->channels));
    if (!d->ranks || !d->names || !d->places || !d->regions || !d->operations ||
        !d->comms || !d->channels)
        err = no_memory();
    if (!err)
        err = names_make(d);
    if (!err)
        err = places_make(d);
    return err ? err : ranks_make(d);
}

void viewer__import_definitions_destroy(import_definitions *d)
{
    if (!d)
        return;
    free(d->ranks);
    free(d->names);
    free(d->places);
    free(d->regions);
    free(d->operations);
    free(d->comms);
    free(d->channels);
    free(d->attributes.text);
    free(d);
}

/* --- defining --- */

/* Tuples. Names that are long take several. */
static uint64_t capacity(const import_definitions *d)
{
    return EVENTSPACE_DEFINITIONS_MAX +
           4 * ((uint64_t)d->trace->region_count + d->trace->comm_count +
                viewer__import_uses_places(d->uses));
}

uint64_t viewer__import_definitions_room(const import_definitions *d)
{
    return 2 * EVENTSPACE_DEFINITION_BYTES * capacity(d);
}

void viewer__import_definitions_begin(import_definitions *d,
                                      eventspace_run_writer *writer,
                                      uint32_t process)
{
    d->writer = writer;
    d->process = process;
    d->element = NULL;
    d->region_count = d->own = 0;
}

/* With the attributes that were made. */
static int define(import_definitions *d, known_id *known,
                  eventspace_definition definition)
{
    int err = 0;

    if (!d->element)
        err = eventspace_run_writer_element(
            &d->element, d->writer, EVENTSPACE_DEFINITIONS_NAME,
            EVENTSPACE_DEFINITIONS_TYPE, capacity(d));
    definition.attributes = d->attributes.text;
    definition.attribute_bytes = d->attributes.bytes;
    d->attributes.bytes = 0;
    if (!err)
        err = eventspace_definition_write(d->element, &definition);
    *known = (known_id){!err, d->process, definition.id};
    return err;
}

static bool is_known(const import_definitions *d, const known_id *known,
                     uint32_t *id)
{
    *id = known->id;
    return known->is_known && known->process == d->process;
}

static int attribute_number(import_definitions *d, const char *key,
                            uint64_t number)
{
    char text[32];

    snprintf(text, sizeof(text), "%llu", (unsigned long long)number);
    return eventspace_attributes_add(&d->attributes, key, text, false);
}

/* Where it is in the source. */
static int attributes_of(import_definitions *d, const otf2_region *region)
{
    int err;

    if (!region->file || !*region->file)
        return 0;
    err =
        eventspace_attributes_add(&d->attributes, "file", region->file, false);
    return err ? err : attribute_number(d, "line", region->line);
}

int viewer__import_define_region(import_definitions *d, uint32_t region,
                                 uint32_t *id)
{
    uint32_t name = d->names[region];
    int err;

    if (is_known(d, &d->regions[name], id))
        return 0;
    if (d->region_count == EVENTSPACE_DEFINITIONS_MAX)
        return pastset_fail(
            PASTSET_ELIMIT, "process %s has more than %d regions",
            d->map->processes[d->process].name, EVENTSPACE_DEFINITIONS_MAX);
    err = attributes_of(d, &d->trace->regions[name]);
    if (err)
        return err;
    *id = viewer__import_uses_count(d->uses) +
          d->region_count++ * d->map->process_count + d->ranks[d->process];
    return define(
        d, &d->regions[name],
        (eventspace_definition){.kind = EVENTSPACE_DEFINES_REGION,
                                .id = *id,
                                .parent = EVENTSPACE_NO_PARENT,
                                .name = d->trace->regions[name].name});
}

int viewer__import_define_operation(import_definitions *d, uint32_t region,
                                    uint32_t *id)
{
    uint32_t name;

    *id = UINT32_MAX;
    if (region == OTF2_NONE)
        return 0;
    name = d->names[region];
    if (is_known(d, &d->operations[name], id))
        return 0;
    *id = d->own++;
    return define(
        d, &d->operations[name],
        (eventspace_definition){.kind = EVENTSPACE_DEFINES_OPERATION,
                                .id = *id,
                                .parent = EVENTSPACE_NO_PARENT,
                                .name = d->trace->regions[name].name});
}

/* What it is known by in all processes is its number in the trace, and that is
 * the trace's. */
static int define_communicator(import_definitions *d, uint32_t comm,
                               uint32_t *id)
{
    char key[48];
    int err;

    if (is_known(d, &d->comms[comm], id))
        return 0;
    snprintf(key, sizeof(key), "%" PRIx64 " %" PRIu64, d->trace->id,
             d->trace->comms[comm].id);
    err = eventspace_attributes_add(&d->attributes, "key", key, false);
    if (err)
        return err;
    *id = d->own++;
    return define(
        d, &d->comms[comm],
        (eventspace_definition){.kind = EVENTSPACE_DEFINES_COMMUNICATOR,
                                .id = *id,
                                .parent = EVENTSPACE_NO_PARENT,
                                .name = d->trace->comms[comm].name});
}

int viewer__import_define_channel(import_definitions *d, uint32_t place,
                                  uint32_t *id)
{
    const place_key *key;
    uint32_t parent = 0;
    int err;

    place = d->places[place];
    if (is_known(d, &d->channels[place], id))
        return 0;
    key = &viewer__import_uses_place(d->uses, place)->key;
    err = define_communicator(d, key->comm, &parent);
    if (!err)
        err = attribute_number(d, "from", key->from);
    if (!err)
        err = attribute_number(d, "to", key->to);
    if (err)
        return err;
    *id = d->own++;
    return define(d, &d->channels[place],
                  (eventspace_definition){.kind = EVENTSPACE_DEFINES_CHANNEL,
                                          .id = *id,
                                          .parent = parent,
                                          .name = ""});
}
