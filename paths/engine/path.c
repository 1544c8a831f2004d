/* path.c - opening the paths that the map gives a thread. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "paths/engine/process_internal.h"
#include "paths/map/map_internal.h"
#include "paths/net/link_internal.h"
#include "paths/wrappers/collective_tree_internal.h"
#include "pastset/text.h"

static uint32_t path_find(const paths_thread *self, const char *name)
{
    const paths_map *map = self->process->map;

    for (uint32_t i = 0; i < self->node->out_count; i++) {
        if (strcmp(paths__path_name(map, self->node->out[i]), name) == 0)
            return self->node->out[i];
    }
    return PATHS_NONE;
}

#define PATHS_NAMED 8

/* Names the paths that the thread has, for who has written another name. */
static int path_refuse(const paths_thread *self, const char *name)
{
    const paths_map *map = self->process->map;
    uint32_t count = self->node->out_count;
    char text[512];
    size_t used = 0;

    text[0] = '\0';
    for (uint32_t i = 0; i < count && i < PATHS_NAMED; i++)
        used += (size_t)snprintf(text + used, sizeof(text) - used,
                                 "%s\"%.40s\"", i == 0 ? ": it has " : ", ",
                                 paths__path_name(map, self->node->out[i]));
    return pastset_fail(
        PASTSET_ENOENT, "the map gives thread %s no path \"%.100s\"%s%s",
        self->node->name, name, text, count > PATHS_NAMED ? ", ..." : "");
}

/* "t3 -> proxy -> down_3 on h1"; to be freed. NULL: out of memory. */
static char *describe(const paths_map *map, uint32_t edge)
{
    uint32_t nodes[PATHS_PATH_NODES];
    size_t count = paths_map_walk(map, edge, nodes, PATHS_PATH_NODES);
    const paths_map_node *thread = &map->nodes[map->edges[edge].from];
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = pastset_text_begin(&text, &bytes);

    if (!out)
        return NULL;
    fputs(thread->name, out);
    for (size_t i = 0; i < count; i++) {
        const paths_map_node *n = &map->nodes[nodes[i]];
        const paths_wrapper_type *type = paths_wrapper_find(n->type);
        if (!type || !type->observes) /* those are many */
            fprintf(out, " -> %s", paths_node_is_end(n) ? n->name : n->type);
        if (i + 1 == count && n->process != thread->process)
            fprintf(out, " on %s", map->processes[n->process].name);
    }
    if (!pastset_text_end(out)) {
        free(text);
        return NULL;
    }
    return text;
}

void paths__path_destroy(paths_path *path)
{
    free(path->name);
    free(path->description);
    free(path->call.text);
    free((void *)(uintptr_t)path->type); /* const for all others */
    free(path);
}

/* The connection is made now rather than in the first operation. */
static int link_prepare(paths_thread *self, const paths_stage *stage)
{
    for (; stage; stage = stage->next) {
        if (stage->proxy && !self->links[stage->far_process])
            return paths__link_open(self, stage->far_process);
    }
    return 0;
}

static int path_make(paths_path **out, paths_thread *self, uint32_t edge)
{
    const paths_map *map = self->process->map;
    uint32_t nodes[PATHS_PATH_NODES];
    size_t count = paths_map_walk(map, edge, nodes, PATHS_PATH_NODES);
    paths_path *path = calloc(1, sizeof(*path));
    pastset_type *type = malloc(sizeof(*type));
    int err;

    *out = NULL;
    if (!path || !type) {
        free(path);
        free(type);
        return pastset_no_memory("for a path");
    }
    path->type = type;
    path->thread = self;
    path->edge = edge;
    path->verbs = paths__uses_verbs(map, &map->edges[edge], nodes, count);
    path->first = self->process->entries[edge];
    path->name = strdup(paths__path_name(map, edge));
    path->description = describe(map, edge);
    path->call.route = path->route;
    path->call.home = self;
    path->call.path = path;
    path->call.op.thread = self->number;
    err = count ? paths__element_type_of(map, nodes[count - 1], type)
                : pastset_fail(PASTSET_EMAP, "it is longer than %d stages",
                               PATHS_PATH_NODES);
    if (err)
        goto failed;
    err = paths__collective_read_bytes(map, nodes[0], type, &path->read_bytes);
    if (err)
        goto failed;
    if (!path->name || !path->description) {
        err = pastset_no_memory("for a path");
        goto failed;
    }
    err = link_prepare(self, path->first);
    if (err)
        goto failed;
    *out = path;
    return 0;
failed:
    paths__path_destroy(path);
    return err;
}

int paths_open(paths_path **out, paths_thread *self, const char *name)
{
    uint32_t edge = path_find(self, name);
    int err;

    *out = NULL;
    if (edge == PATHS_NONE)
        return path_refuse(self, name);
    for (paths_path *path = self->paths; path; path = path->next) {
        if (path->edge == edge) {
            *out = path;
            return 0;
        }
    }
    err = path_make(out, self, edge);
    if (err)
        return pastset_fail_while(err, "opening path \"%s\"", name);
    (*out)->next = self->paths;
    self->paths = *out;
    return 0;
}

const pastset_type *paths_type(const paths_path *path)
{
    return path->type;
}

const char *paths_describe(const paths_path *path)
{
    return path->description;
}

void paths_reader_ledger(const paths_path *path, uint64_t *read, uint64_t *lost)
{
    *read = path->cursor.read;
    *lost = path->cursor.lost;
}
