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
    const paths_map *map; /* of which the threads are */
    size_t process, count;
    thread_messages *threads;
};

static size_t threads_of(const paths_map *map, size_t process)
{
    size_t count = 0;

    for (uint32_t i = 0; i < map->node_count; i++)
        count += map->nodes[i].kind == PATHS_THREAD &&
                 map->nodes[i].process == process;
    return count;
}

static void thread_take(leaf_messages *m, const char *number)
{
    thread_messages *t = &m->threads[m->count];

    snprintf(t->name, sizeof(t->name), EVENTSPACE_MESSAGES_PREFIX "%.20s",
             number);
    for (size_t i = 0; i < m->count; i++)
        if (strcmp(m->threads[i].name, t->name) == 0)
            return;
    t->cursor = (pastset_cursor){0};
    m->count++;
}

/* The map may have got more threads; those that were there keep how far they
 * were read. */
static bool threads_renew(leaf_messages *m)
{
    const paths_map *map = eventspace_run_map(m->run);
    thread_messages *more;

    if (m->map == map)
        return true;
    more = realloc(m->threads, (m->count + threads_of(map, m->process) + 1) *
                                   sizeof(*more));
    if (!more)
        return false;
    m->threads = more;
    paths_map_unref(m->map);
    m->map = paths_map_ref(map);
    for (uint32_t i = 0; i < map->node_count; i++) {
        const paths_map_node *node = &map->nodes[i];
        const char *number = paths_node_get(node, "number");
        if (node->kind == PATHS_THREAD && node->process == m->process && number)
            thread_take(m, number);
    }
    return true;
}

leaf_messages *scopes__leaf_messages_make(const eventspace_run *run,
                                          size_t process)
{
    leaf_messages *m = calloc(1, sizeof(*m));

    if (!m)
        return NULL;
    m->run = run;
    m->process = process;
    if (threads_renew(m))
        return m;
    scopes__leaf_messages_destroy(m);
    return NULL;
}

void scopes__leaf_messages_destroy(leaf_messages *m)
{
    if (!m)
        return;
    paths_map_unref(m->map);
    free(m->threads);
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
    /* Without memory those that came lately wait for the next time. */
    (void)threads_renew(m);
    for (size_t i = 0; i < m->count; i++)
        if (!thread_put(m, &m->threads[i], w))
            return false;
    return true;
}
