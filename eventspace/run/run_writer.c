/* run_writer.c - see run_writer.h. */
#include "eventspace/run/run_writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "eventspace/launch/launch_internal.h"
#include "eventspace/run/run.h"
#include "eventspace/run/run_internal.h"
#include "eventspace/run/run_map.h"
#include "pastset/space.h"
#include "pastset/status.h"
#include "pastset/type.h"

struct eventspace_run_writer {
    char *directory;
    const paths_map *map;
    uint32_t process;     /* that was begun */
    pastset_space *space; /* its; NULL: none was */
    bool made;            /* the directory */
};

int eventspace_run_writer_open(eventspace_run_writer **out,
                               const char *directory, const paths_map *map,
                               bool replace)
{
    eventspace_run_writer *w = calloc(1, sizeof(*w));
    int err = 0;

    *out = NULL;
    if (!w)
        return pastset_no_memory("to write a run");
    w->map = map;
    w->directory = strdup(directory);
    if (!w->directory)
        err = pastset_no_memory("to write a run");
    if (!err)
        err = eventspace__directory_prepare(directory, map, NULL, replace,
                                            &w->made);
    if (err) { /* nothing in the directory is ours */
        free(w->directory);
        free(w);
        return err;
    }
    err = eventspace_run_map_save(directory, map);
    if (err) {
        eventspace_run_writer_close(w, false);
        return err;
    }
    *out = w;
    return 0;
}

static int space_file(char *file, size_t bytes, const eventspace_run_writer *w)
{
    return eventspace_run_file(file, bytes, w->directory,
                               w->map->processes[w->process].name, ".space");
}

int eventspace_run_writer_begin(eventspace_run_writer *w, uint32_t process,
                                uint64_t max_bytes)
{
    char file[EVENTSPACE_PATH_BYTES];
    pastset_space_options options = {.path = file, .max_bytes = max_bytes};
    int err;

    w->process = process;
    err = space_file(file, sizeof(file), w);
    return err ? err : pastset_space_create(&w->space, &options);
}

int eventspace_run_writer_end(eventspace_run_writer *w)
{
    char file[EVENTSPACE_PATH_BYTES];
    int err = space_file(file, sizeof(file), w);

    pastset_space_close(w->space);
    w->space = NULL;
    return err ? err : pastset_space_settle(file);
}

int eventspace_run_writer_element(pastset_element **out,
                                  eventspace_run_writer *w, const char *name,
                                  const char *type_text, uint64_t capacity)
{
    pastset_type type;
    pastset_element_options options = {.name = name,
                                       .type = &type,
                                       .policy = PASTSET_GROW,
                                       .capacity = capacity ? capacity : 1,
                                       .single_writer = true,
                                       .on_demand = true};
    int err = pastset_type_parse(&type, type_text);

    return err ? err : pastset_element_create(out, w->space, &options);
}

int eventspace_run_writer_trace(pastset_element *element,
                                const eventspace_trace *event)
{
    uint64_t ticks = event->end - event->start;

    if (ticks >= pastset_element_remark(element))
        pastset_element_set_remark(element,
                                   ticks < UINT64_MAX ? ticks + 1 : ticks);
    return pastset_write(element, event, sizeof(*event), PASTSET_NOWAIT, NULL);
}

int eventspace_run_writer_meta(eventspace_run_writer *w, uint32_t process,
                               eventspace_meta *meta)
{
    const char *name = w->map->processes[process].name;
    char file[EVENTSPACE_PATH_BYTES];
    int err =
        eventspace_run_file(file, sizeof(file), w->directory, name, ".meta");

    if (!err && strlen(name) >= sizeof(meta->process))
        err = pastset_fail(PASTSET_EINVAL,
                           "process %.100s...: its name has more than %zu "
                           "bytes",
                           name, sizeof(meta->process) - 1);
    if (err)
        return err;
    snprintf(meta->process, sizeof(meta->process), "%s", name);
    return eventspace_meta_save(meta, file);
}

static void remove_files(const eventspace_run_writer *w)
{
    static const char *const suffixes[] = {".space", ".meta"};
    char file[EVENTSPACE_PATH_BYTES];

    for (uint32_t i = 0; i < w->map->process_count; i++) {
        for (int k = 0; k < 2; k++) {
            if (eventspace_run_file(file, sizeof(file), w->directory,
                                    w->map->processes[i].name,
                                    suffixes[k]) == 0)
                unlink(file);
        }
    }
    eventspace_run_map_remove(w->directory);
    if (w->made)
        rmdir(w->directory);
}

void eventspace_run_writer_close(eventspace_run_writer *w, bool keep)
{
    if (!w)
        return;
    if (w->space)
        pastset_space_close(w->space);
    if (!keep)
        remove_files(w);
    free(w->directory);
    free(w);
}
