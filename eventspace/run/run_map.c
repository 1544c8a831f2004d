/* run_map.c - the definitions and the map of a run directory. */
#include "eventspace/run/run_map.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "eventspace/define/map_definitions.h"
#include "eventspace/run/run_internal.h"
#include "pastset/space.h"
#include "pastset/status.h"
#include "pastset/type.h"

static int file_name(char *out, const char *directory, const char *name)
{
    int length = snprintf(out, EVENTSPACE_PATH_BYTES, "%s/%s", directory, name);

    if (length < 0 || length >= EVENTSPACE_PATH_BYTES)
        return pastset_fail(PASTSET_EIO, "%.100s...: the name is too long",
                            directory);
    return 0;
}

/* --- writing --- */

/* A file under another name, which others take for none of a run. */
typedef struct draft {
    char file[EVENTSPACE_PATH_BYTES], name[EVENTSPACE_PATH_BYTES];
} draft;

static int draft_name(draft *d, const char *directory, const char *name)
{
    char temporary[64];
    int err = file_name(d->file, directory, name);

    snprintf(temporary, sizeof(temporary), "%s.%ld.tmp", name, (long)getpid());
    return err ? err : file_name(d->name, directory, temporary);
}

static int draft_publish(const draft *d)
{
    if (rename(d->name, d->file) == 0)
        return 0;
    return pastset_fail(pastset_status_from_errno(errno), "%s: %s", d->file,
                        strerror(errno));
}

static int count_tuples(const eventspace_definition *definition, void *context)
{
    uint64_t *count = context;

    *count += eventspace_definition_tuples(definition);
    return 0;
}

static int write_definition(const eventspace_definition *definition,
                            void *context)
{
    return eventspace_definition_write(context, definition);
}

static int definitions_write(const char *file, const paths_map *map)
{
    pastset_type type;
    pastset_space_options space_options = {.path = file, .max_elements = 1};
    pastset_element_options options = {.name = EVENTSPACE_DEFINITIONS_NAME,
                                       .type = &type,
                                       .policy = PASTSET_GROW,
                                       .single_writer = true};
    pastset_space *space = NULL;
    pastset_element *element;
    int err = pastset_type_parse(&type, EVENTSPACE_DEFINITIONS_TYPE);

    if (!err)
        err = eventspace_map_define(map, count_tuples, &options.capacity);
    if (!err)
        err = pastset_space_create(&space, &space_options);
    if (!err)
        err = pastset_element_create(&element, space, &options);
    if (!err)
        err = eventspace_map_define(map, write_definition, element);
    if (space)
        pastset_space_close(space);
    return err;
}

/* The order in which things are defined is that of the file: in it they are
 * shown, whoever made the map. */
static int save(const char *directory, const paths_map *map,
                const draft *map_draft, const draft *definitions)
{
    paths_map *as_read;
    int err = paths_map_save(map, map_draft->name);

    if (err)
        return err;
    err = paths_map_read(&as_read, map_draft->name);
    if (err)
        return err;
    err = definitions_write(definitions->name, as_read);
    paths_map_destroy(as_read);
    if (!err)
        err = draft_publish(definitions);
    if (!err) {
        err = draft_publish(map_draft);
        if (err) /* not with an older map */
            unlink(definitions->file);
    }
    return err ? pastset_fail_while(err, "%s: writing the map of the run",
                                    directory)
               : 0;
}

int eventspace_run_map_save(const char *directory, const paths_map *map)
{
    draft map_draft, definitions;
    int err = draft_name(&map_draft, directory, EVENTSPACE_RUN_MAP);

    if (!err)
        err = draft_name(&definitions, directory, EVENTSPACE_RUN_DEFINITIONS);
    if (err)
        return err;
    err = save(directory, map, &map_draft, &definitions);
    if (err) {
        unlink(map_draft.name);
        unlink(definitions.name);
    }
    return err;
}

int eventspace_run_map_remove(const char *directory)
{
    static const char *const names[] = {EVENTSPACE_RUN_DEFINITIONS,
                                        EVENTSPACE_RUN_MAP};
    char file[EVENTSPACE_PATH_BYTES];
    int err = 0;

    for (size_t i = 0; i < 2 && !err; i++) {
        err = file_name(file, directory, names[i]);
        if (!err && unlink(file) != 0 && errno != ENOENT)
            err = pastset_fail(pastset_status_from_errno(errno), "%s: %s", file,
                               strerror(errno));
    }
    return err;
}

/* --- reading --- */

static bool file_there(const char *directory, const char *name)
{
    char file[EVENTSPACE_PATH_BYTES];

    return file_name(file, directory, name) == 0 && access(file, F_OK) == 0;
}

int eventspace_run_is_there(const char *directory)
{
    struct stat status;

    if (stat(directory, &status) != 0)
        return pastset_fail(errno == ENOENT ? PASTSET_ENOENT : PASTSET_EIO,
                            "%s: %s", directory, strerror(errno));
    if (!S_ISDIR(status.st_mode))
        return pastset_fail(PASTSET_ENOENT,
                            "%s: not a run directory, but a file; if it is a "
                            "packed run, `eventspace unpack` makes a directory "
                            "of it",
                            directory);
    if (!file_there(directory, EVENTSPACE_RUN_MAP) &&
        !file_there(directory, EVENTSPACE_RUN_DEFINITIONS))
        return pastset_fail(
            PASTSET_ENOENT,
            "%s: not a run directory, as it has no " EVENTSPACE_RUN_MAP,
            directory);
    return 0;
}

static int build(eventspace_map_builder *builder,
                 eventspace_definition_reader *reader, pastset_element *element)
{
    eventspace_definition definition;
    int err;

    do {
        err = eventspace_definition_next(reader, element, &definition);
        if (!err)
            err = eventspace_map_builder_take(builder, &definition);
    } while (!err);
    if (err == PASTSET_ENOMEM)
        return err;
    if (err != PASTSET_EAGAIN)
        eventspace_definition_damaged(reader, "%s", pastset_error());
    else if (reader->cursor.lost)
        eventspace_definition_damaged(reader, "%llu tuples cannot be read",
                                      (unsigned long long)reader->cursor.lost);
    return 0;
}

/* What is in the definitions, and what is wrong with them. NULL without an
 * error: nothing can be read of them. */
static int definitions_read(paths_map **out, const char *file,
                            eventspace_definition_reader *reader,
                            uint32_t *nodes)
{
    eventspace_map_builder *builder;
    pastset_space *space;
    pastset_element *element;
    int err = pastset_space_open(&space, file);

    *out = NULL;
    if (err)
        return err;
    err = pastset_space_refresh(space);
    if (err == PASTSET_EFORMAT)
        eventspace_definition_damaged(reader, "%s", pastset_error());
    element = pastset_space_find(space, EVENTSPACE_DEFINITIONS_NAME);
    if (!element || strcmp(pastset_element_type(element)->text,
                           EVENTSPACE_DEFINITIONS_TYPE) != 0)
        err = err ? err
                  : pastset_fail(PASTSET_EFORMAT,
                                 "%s: there are no definitions in it", file);
    else
        err = eventspace_map_builder_create(&builder, reader, file);
    if (!err) {
        err = build(builder, reader, element);
        if (!err)
            eventspace_map_builder_finish(builder, out, nodes);
        eventspace_map_builder_destroy(builder);
    }
    pastset_space_close(space);
    return err;
}

static int dot_read(paths_map **out, const char *directory, uint32_t *nodes)
{
    char file[EVENTSPACE_PATH_BYTES];
    int err = file_name(file, directory, EVENTSPACE_RUN_MAP);

    if (!err)
        err = paths_map_read(out, file);
    if (!err)
        *nodes = (*out)->node_count;
    return err;
}

/* The definitions are damaged: `what` says how. */
static int recover(paths_map **out, const char *directory, uint32_t *nodes,
                   char *problem, size_t problem_bytes, const char *what)
{
    paths_map *rendered;
    uint32_t rendered_nodes;
    int err = dot_read(&rendered, directory, &rendered_nodes);

    if (err && !*out)
        return pastset_fail_while(err, "%s", what);
    snprintf(problem, problem_bytes, "%.560s: %s", what,
             err ? "what belongs to it is left out"
                 : "the map is read from " EVENTSPACE_RUN_MAP);
    if (!err) {
        if (*out)
            paths_map_destroy(*out);
        *out = rendered;
        *nodes = rendered_nodes;
    }
    return 0;
}

/* Of a long name the end says more. */
static void damage_text(char *out, size_t bytes, const char *file,
                        const char *problem)
{
    size_t length = strlen(file), from = length > 100 ? length - 100 : 0;

    snprintf(out, bytes, "%s%.100s: %s", from ? "..." : "", file + from,
             problem);
}

int eventspace_run_map_read(paths_map **out, const char *directory,
                            char *problem, size_t problem_bytes,
                            uint32_t *nodes)
{
    eventspace_definition_reader reader = {0};
    char file[EVENTSPACE_PATH_BYTES], what[560];
    int err = eventspace_run_is_there(directory);

    *out = NULL;
    problem[0] = 0;
    if (err)
        return err;
    if (!file_there(directory, EVENTSPACE_RUN_DEFINITIONS))
        return dot_read(out, directory, nodes);
    err = file_name(file, directory, EVENTSPACE_RUN_DEFINITIONS);
    if (!err)
        err = definitions_read(out, file, &reader, nodes);
    if (err == PASTSET_ENOMEM) {
        eventspace_definition_reader_fini(&reader);
        return err;
    }
    if (err)
        snprintf(what, sizeof(what), "%s", pastset_error());
    else
        damage_text(what, sizeof(what), file, reader.problem);
    if (err || reader.damaged)
        err = recover(out, directory, nodes, problem, problem_bytes, what);
    eventspace_definition_reader_fini(&reader);
    return err;
}
