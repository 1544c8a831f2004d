/* run_definitions.c - what the processes of a run have defined.
 *
 * A file may be damaged: an id that is not one of the process's own, or that is
 * there already, is a problem of the process and left out, as is what cannot be
 * decoded. So no two have one id, and ids are below what all processes together
 * can have. */
#include <stdlib.h>
#include <string.h>

#include "eventspace/define/definition_internal.h"
#include "eventspace/define/map_additions.h"
#include "eventspace/run/run_internal.h"
#include "pastset/array.h"
#include "pastset/status.h"

static int compare_ids(const void *left, const void *right)
{
    const eventspace_run_definition *a = left, *b = right;

    return a->id < b->id ? -1 : a->id > b->id;
}

const eventspace_run_definition *
eventspace_run_definition_of(const eventspace_run *run, uint32_t id)
{
    const eventspace_run_definition wanted = {.id = id};

    if (!run->definition_count)
        return NULL;
    return bsearch(&wanted, run->definitions, run->definition_count,
                   sizeof(wanted), compare_ids);
}

/* Which of the ids that this process may give it is; none: what is beyond. */
static uint32_t number_of(const eventspace_run *run, uint32_t rank, uint32_t id)
{
    uint32_t behind = id - run->base_ids;

    return id >= run->base_ids && id < PATHS_NONE &&
                   behind % run->map->process_count == rank
               ? behind / run->map->process_count
               : UINT32_MAX;
}

/* They are ordered later. */
static int add(eventspace_run *run, size_t process,
               const eventspace_definition *definition)
{
    eventspace_run_definition *more = pastset_array_grow(
        run->definitions, run->definition_count, sizeof(*more));
    const char *where = eventspace_definition_get(definition, "file");
    const char *line_text = eventspace_definition_get(definition, "line");
    char *name = strdup(definition->name), *file = where ? strdup(where) : NULL;
    uint64_t line = 0;

    if (more)
        run->definitions = more;
    if (!more || !name || (where && !file)) {
        free(name);
        free(file);
        return pastset_no_memory("for the definitions of a run");
    }
    if (!line_text || paths_parse_number(line_text, &line) || line > UINT32_MAX)
        line = 0;
    more[run->definition_count++] = (eventspace_run_definition){
        definition->kind, definition->id, process, name, file, (uint32_t)line};
    return 0;
}

/* --- what messages go by --- */

static int compare_own(const void *left, const void *right)
{
    const own_definition *a = left, *b = right;

    return a->shown.id < b->shown.id ? -1 : a->shown.id > b->shown.id;
}

static const eventspace_definition *own_find(const process_files *files,
                                             uint32_t id)
{
    const own_definition wanted = {.shown.id = id}, *found = NULL;

    if (files->own_count)
        found = bsearch(&wanted, files->own, files->own_count, sizeof(wanted),
                        compare_own);
    return found ? &found->shown : NULL;
}

size_t eventspace_run_own_count(const eventspace_run *run, size_t process)
{
    return run->processes[process].own_count;
}

const eventspace_definition *eventspace_run_own_at(const eventspace_run *run,
                                                   size_t process, size_t n)
{
    return &run->processes[process].own[n].shown;
}

const eventspace_definition *eventspace_run_own_of(const eventspace_run *run,
                                                   size_t process, uint32_t id)
{
    return own_find(&run->processes[process], id);
}

/* An id of tuples that a process gives: `*out` is to be set by who takes it;
 * NULL: it is not one of its own, or taken. Errors: PASTSET_ENOMEM. */
static int id_look_up(const eventspace_run *run, process_files *files,
                      uint32_t rank, uint32_t id, bool **out)
{
    uint32_t number = number_of(run, rank, id);

    if (!files->defined)
        files->defined =
            calloc(EVENTSPACE_DEFINITIONS_MAX, sizeof(*files->defined));
    if (!files->defined)
        return pastset_no_memory("for the definitions of a run");
    *out = number < EVENTSPACE_DEFINITIONS_MAX && !files->defined[number]
               ? &files->defined[number]
               : NULL;
    return 0;
}

/* The id that tuples of a collector have; PATHS_NONE: it has none. */
static uint32_t id_of_collector(const eventspace_definition *collector)
{
    const char *text = eventspace_definition_get(collector, "id");
    uint64_t id;

    return text && !paths_parse_number(text, &id) && id < PATHS_NONE
               ? (uint32_t)id
               : PATHS_NONE;
}

/* Ids ascend, and what a channel belongs to comes before it. */
static bool is_next_own(const process_files *files,
                        const eventspace_definition *definition)
{
    const eventspace_definition *parent;

    if (files->own_count > 0 &&
        definition->id <= files->own[files->own_count - 1].shown.id)
        return false;
    if (definition->kind != EVENTSPACE_DEFINES_CHANNEL)
        return true;
    parent = own_find(files, definition->parent);
    return parent && parent->kind == EVENTSPACE_DEFINES_COMMUNICATOR;
}

static int keep_own(process_files *files,
                    const eventspace_definition *definition)
{
    own_definition *more =
        pastset_array_grow(files->own, files->own_count, sizeof(*more));
    size_t names = strlen(definition->name) + 1;
    char *texts;

    if (more)
        files->own = more;
    texts = more ? malloc(names + definition->attribute_bytes) : NULL;
    if (!texts)
        return pastset_no_memory("for the definitions of a run");
    memcpy(texts, definition->name, names);
    if (definition->attribute_bytes)
        memcpy(texts + names, definition->attributes,
               definition->attribute_bytes);
    more += files->own_count++;
    *more = (own_definition){*definition, texts, false};
    more->shown.name = texts;
    more->shown.attributes = texts + names;
    return 0;
}

static int take_own(eventspace_run *run, size_t process, uint32_t rank,
                    const eventspace_definition *definition)
{
    process_files *files = &run->processes[process];
    bool is_collector = definition->kind == EVENTSPACE_DEFINES_COLLECTOR;
    uint32_t id = is_collector ? id_of_collector(definition) : 0;
    bool *entry = NULL;
    int err = 0;

    if (is_collector)
        err = id_look_up(run, files, rank, id, &entry);
    if (err)
        return err;
    if (!is_next_own(files, definition) || (is_collector && !entry)) {
        eventspace_definition_damaged(
            &files->definitions,
            "definition %u of kind %u, \"%.60s\": its id is not the next of "
            "its process, or what it belongs to is missing",
            definition->id, definition->kind, definition->name);
        return 0;
    }
    err = keep_own(files, definition);
    if (err)
        return err;
    run->is_outgrown |= eventspace_is_addition(definition->kind);
    if (is_collector) {
        *entry = true;
        if (id >= run->added_ids)
            run->added_ids = id + 1;
    }
    return 0;
}

void eventspace__definitions_drop(process_files *files)
{
    for (size_t i = 0; i < files->own_count; i++)
        free(files->own[i].texts);
    free(files->own);
    free(files->defined);
    eventspace_definition_reader_fini(&files->definitions);
}

/* --- reading --- */

static int take(eventspace_run *run, size_t process, uint32_t rank,
                const eventspace_definition *definition)
{
    process_files *files = &run->processes[process];
    bool *entry = NULL;
    int err;

    if (!eventspace_definition_named(definition->kind) &&
        (definition->kind >= EVENTSPACE_DEFINES_OPERATION ||
         eventspace_is_addition(definition->kind)))
        return take_own(run, process, rank, definition);
    if (!eventspace_definition_named(definition->kind) || !*definition->name) {
        eventspace_definition_damaged(
            &files->definitions,
            "definition %u is of kind %u and named \"%.100s\": none of a "
            "process",
            definition->id, definition->kind, definition->name);
        return 0;
    }
    err = id_look_up(run, files, rank, definition->id, &entry);
    if (!err && !entry)
        eventspace_definition_damaged(&files->definitions,
                                      "definition of \"%.100s\": its id %u is "
                                      "not one of this process's",
                                      definition->name, definition->id);
    if (err || !entry)
        return err;
    err = add(run, process, definition);
    *entry = err == 0;
    return err;
}

/* Nothing more will come. */
static bool is_complete(const eventspace_run_process *process)
{
    return process->space && process->has_meta &&
           process->meta.state != EVENTSPACE_RUNNING;
}

/* What is new of a process. */
static int look(eventspace_run *run, size_t process, uint32_t rank)
{
    process_files *files = &run->processes[process];
    eventspace_definition_reader *reader = &files->definitions;
    eventspace_definition definition;
    pastset_element *element =
        files->shown.side
            ? pastset_space_find(files->shown.side, EVENTSPACE_DEFINITIONS_NAME)
            : NULL;
    int err;

    if (!element || strcmp(pastset_element_type(element)->text,
                           EVENTSPACE_DEFINITIONS_TYPE) != 0)
        return 0;
    do {
        err = eventspace_definition_next(reader, element, &definition);
        if (!err) {
            err = take(run, process, rank, &definition);
            if (err)
                eventspace_definition_again(reader);
        }
    } while (!err);
    if (err == PASTSET_ENOMEM)
        return err;
    if (is_complete(&files->shown))
        eventspace__definition_end(reader);
    if (err != PASTSET_EAGAIN)
        eventspace__problem_note(&files->shown, "its definitions: %s",
                                 pastset_error());
    return 0;
}

static void tell(process_files *files)
{
    const eventspace_definition_reader *reader = &files->definitions;

    if (reader->damaged)
        eventspace__problem_note(&files->shown, "%s", reader->problem);
    if (reader->cursor.lost)
        eventspace__problem_note(&files->shown,
                                 "its definitions: %llu are missing",
                                 (unsigned long long)reader->cursor.lost);
}

int eventspace_run_define(eventspace_run *run)
{
    uint32_t *ranked = calloc(run->map->process_count + 1u, sizeof(*ranked));
    size_t before = run->definition_count;
    int err = 0;

    if (!ranked)
        return pastset_no_memory("for the names of processes");
    paths_map_rank_processes(run->map, ranked);
    for (uint32_t rank = 0; rank < run->map->process_count && !err; rank++)
        err = look(run, ranked[rank], rank);
    if (run->definition_count > before)
        qsort(run->definitions, run->definition_count,
              sizeof(*run->definitions), compare_ids);
    if (!err && run->is_outgrown)
        err = eventspace__run_map_grow(run, ranked);
    for (uint32_t i = 0; i < run->map->process_count && !err; i++)
        tell(&run->processes[i]);
    free(ranked);
    return err;
}
