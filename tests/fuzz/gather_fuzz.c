/* gather_fuzz.c - any bytes as a message of a gather tree, as they come from
 * another process: what is taken from them lies within them, and the mirror
 * takes it or refuses it. */
#include <stdlib.h>
#include <string.h>

#include "pastset/status.h"
#include "scopes/gather/gather_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct walk {
    const uint8_t *begin, *end;
    scopes_mirror *mirror;
    scopes_windows *windows;
} walk;

static int take(const scopes_record *r, void *context)
{
    walk *w = context;
    const uint8_t *body = r->body;
    int err;

    if (!memchr(r->stream, 0, sizeof(r->stream)))
        abort();
    if (body && (body < w->begin || body > w->end ||
                 r->bytes > (size_t)(w->end - body)))
        abort();
    err = scopes_mirror_record(r, w->mirror);
    if (!err)
        err = scopes_windows_record(r, w->windows);
    if (err && !pastset_error()[0])
        abort();
    return err;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static paths_map *app;
    scopes_table *table;
    walk w = {.begin = NULL};
    gather_head head;
    uint8_t *copy = malloc(size ? size : 1); /* aligned, its end watched */
    int err;

    if (!app && (paths_map_create(&app, "app") ||
                 paths_map_add_process(app, "A") == PATHS_NONE ||
                 paths_map_add_process(app, "B") == PATHS_NONE))
        abort();
    if (!copy || scopes_mirror_open(&w.mirror, NULL, app) ||
        scopes_windows_create(&w.windows, 1000, app))
        abort();
    memcpy(copy, data, size);
    w.begin = copy;
    w.end = copy + size;
    err = scopes__gather_deliver(copy, size, &head, take, &w);
    if (err && !pastset_error()[0])
        abort();
    for (table = NULL; !scopes_windows_take(w.windows, true, &table) && table;)
        scopes_table_destroy(table);
    scopes_windows_destroy(w.windows);
    scopes_mirror_close(w.mirror);
    free(copy);
    return 0;
}
