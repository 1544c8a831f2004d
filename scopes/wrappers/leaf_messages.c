/* leaf_messages.c - see leaf_messages_internal.h. */
#include "scopes/wrappers/leaf_messages_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eventspace/collect/message.h"
#include "pastset/element.h"
#include "pastset/status.h"

#define PIECE 256 /* tuples */

typedef struct thread_messages {
    char name[64]; /* of the element */
    pastset_cursor cursor;
} thread_messages;

struct leaf_messages {
    const eventspace_run *run;
    size_t process, count;
    thread_messages threads[];
};

leaf_messages *scopes__leaf_messages_make(const eventspace_run *run,
                                          size_t process)
{
    const paths_map *map = eventspace_run_map(run);
    leaf_messages *m;
    size_t count = 0;

    for (uint32_t i = 0; i < map->node_count; i++)
        count += map->nodes[i].kind == PATHS_THREAD &&
                 map->nodes[i].process == process;
    m = calloc(1, sizeof(*m) + count * sizeof(m->threads[0]));
    if (!m)
        return NULL;
    m->run = run;
    m->process = process;
    for (uint32_t i = 0; i < map->node_count; i++) {
        const paths_map_node *node = &map->nodes[i];
        const char *number = paths_node_get(node, "number");
        if (node->kind == PATHS_THREAD && node->process == process && number)
            snprintf(m->threads[m->count++].name, sizeof(m->threads[0].name),
                     EVENTSPACE_MESSAGES_PREFIX "%.20s", number);
    }
    return m;
}

void scopes__leaf_messages_destroy(leaf_messages *m)
{
    free(m);
}

static pastset_element *element_of(const leaf_messages *m,
                                   const thread_messages *thread)
{
    const eventspace_run_process *shown =
        eventspace_run_process_at(m->run, m->process);
    pastset_element *element =
        shown->space ? pastset_space_find(shown->space, thread->name) : NULL;

    return element && strcmp(pastset_element_type(element)->text,
                             EVENTSPACE_MESSAGE_TYPE) == 0
               ? element
               : NULL;
}

static bool thread_put(const leaf_messages *m, thread_messages *thread,
                       gather_writer *w)
{
    pastset_element *element = element_of(m, thread);
    eventspace_message tuples[PIECE];
    size_t name = strlen(thread->name), fit, count = 0;
    gather_part part = {.kind = SCOPES_RECORD_MESSAGES,
                        .name_bytes = (uint16_t)name};
    uint64_t capacity;
    int err;

    if (!element)
        return true;
    capacity = pastset_element_capacity(element);
    do {
        fit = scopes__gather_capacity(w, name + w->capacity / 4) /
              sizeof(tuples[0]);
        if (fit == 0)
            return false;
        err = pastset_read_many(element, &thread->cursor, tuples,
                                fit < PIECE ? fit : PIECE, &count);
        part.count = (uint32_t)count;
        part.span = capacity;
        part.bytes = (uint32_t)(count * sizeof(tuples[0]));
        part.index = thread->cursor.next - count;
        if (count)
            scopes__gather_add(w, &part, thread->name, tuples);
    } while (!err || err == PASTSET_EFORMAT);
    return true;
}

bool scopes__leaf_messages_put(leaf_messages *m, gather_writer *w)
{
    for (size_t i = 0; i < m->count; i++)
        if (!thread_put(m, &m->threads[i], w))
            return false;
    return true;
}
