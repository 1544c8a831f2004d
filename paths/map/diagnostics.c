/* diagnostics.c - lists of what is wrong with a map. */
#include <stdio.h>
#include <string.h>

#include "paths/map/map_internal.h"
#include "pastset/status.h"
#include "pastset/array.h"

int paths__diagnose_list(paths_diagnostics *diagnostics, unsigned line,
                         const char *node, const char *format,
                         va_list arguments)
{
    paths_diagnostic item = {.line = line, .node = strdup(node)};
    paths_diagnostic *items = pastset_array_grow(
        diagnostics->items, diagnostics->count, sizeof(item));

    if (items)
        diagnostics->items = items;
    if (vasprintf(&item.text, format, arguments) < 0)
        item.text = NULL;
    if (!items || !item.node || !item.text) {
        free(item.node);
        free(item.text);
        return pastset_no_memory("for a diagnostic");
    }
    items[diagnostics->count++] = item;
    return 0;
}

int paths_diagnose(paths_diagnostics *diagnostics, unsigned line,
                   const char *node, const char *format, ...)
{
    va_list arguments;
    int err;

    va_start(arguments, format);
    err = paths__diagnose_list(diagnostics, line, node, format, arguments);
    va_end(arguments);
    return err;
}

int paths_node_diagnose(paths_diagnostics *diagnostics,
                        const paths_map_node *node, const char *format, ...)
{
    va_list arguments;
    int err;

    va_start(arguments, format);
    err = paths__diagnose_list(diagnostics, node->line, node->name, format,
                               arguments);
    va_end(arguments);
    return err;
}

void paths_diagnostics_clear(paths_diagnostics *diagnostics)
{
    for (size_t i = 0; i < diagnostics->count; i++) {
        free(diagnostics->items[i].node);
        free(diagnostics->items[i].text);
    }
    free(diagnostics->items);
    memset(diagnostics, 0, sizeof(*diagnostics));
}
