/* commit.c - steps that threads have committed, and going back to one.
 *
 * In a map with restart=true each thread has an element, of which it alone is
 * the writer: for each of its last steps, a tuple with the step's number and,
 * of each element that it keeps, where the tuples begin and end that it wrote
 * with the last step in which it wrote any. That lies in the space's file, and
 * so outlives the process: whoever starts all of them again looks there for the
 * last step that all have committed (paths_process_committed), and each process
 * takes from its own file what its threads had kept until then. What was
 * written behind that is left out, and a tuple that was being written is none.
 *
 * A thread commits after it has written all of it, by one store. So at any
 * moment a step is either committed with all that belongs to it or not at all.
 * What was restored is committed anew, last: a process that dies before has
 * committed nothing, and its file is not gone back to. commit.pml is a model
 * of that. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "paths/engine/process_internal.h"
#include "pastset/schedule.h"

/* Threads can be so many steps apart. Elements that are kept will rarely have
 * room for more. */
#define STEPS 8
#define NAME_BYTES 32

static void name_make(char name[NAME_BYTES], uint32_t thread)
{
    snprintf(name, NAME_BYTES, "~commits.%" PRIu32, thread);
}

static size_t record_numbers(uint32_t kept)
{
    return 1 + 2 * (size_t)kept;
}

static size_t record_bytes(uint32_t kept)
{
    return record_numbers(kept) * sizeof(uint64_t);
}

/* --- what a thread keeps --- */

static int kept_add(thread_commits *c, pastset_element *element)
{
    pastset_element **more;

    for (uint32_t i = 0; i < c->kept_count; i++) {
        if (c->kept[i] == element)
            return 0;
    }
    more = realloc(c->kept, ((size_t)c->kept_count + 1) * sizeof(*more));
    if (!more)
        return pastset_no_memory("for what a thread keeps");
    c->kept = more;
    more[c->kept_count++] = element;
    return 0;
}

static int kept_find(paths_thread *thread)
{
    const paths_map *map = thread->process->map;
    uint32_t nodes[PATHS_PATH_NODES];
    int err = 0;

    for (uint32_t i = 0; i < thread->node->out_count && !err; i++) {
        uint32_t edge = thread->node->out[i];
        size_t count = paths_map_walk(map, edge, nodes, PATHS_PATH_NODES);
        uint32_t end = count ? nodes[count - 1] : PATHS_NONE;
        if (end != PATHS_NONE && paths_node_is_kept(&map->nodes[end]) &&
            is_allowed(paths__uses_verbs(map, &map->edges[edge], nodes, count),
                       PASTSET_WRITE))
            err = kept_add(&thread->commits,
                           thread->process->stages[end]->element);
    }
    return err;
}

static int commits_create(paths_thread *thread)
{
    thread_commits *c = &thread->commits;
    char name[NAME_BYTES], text[NAME_BYTES];
    pastset_type type;
    pastset_element_options options = {.name = name,
                                       .type = &type,
                                       .policy = PASTSET_DISCARD,
                                       .capacity = STEPS,
                                       .single_writer = true};
    int err;

    name_make(name, thread->number);
    snprintf(text, sizeof(text), "u64[%zu]", record_numbers(c->kept_count));
    c->record = calloc(record_numbers(c->kept_count), sizeof(*c->record));
    if (!c->record)
        return pastset_no_memory("for what a thread keeps");
    err = pastset_type_parse(&type, text);
    if (!err)
        err = pastset_element_create(&c->element, thread->process->space,
                                     &options);
    return err;
}

static uint64_t written(pastset_element *element)
{
    pastset_ledger ledger;

    pastset_element_ledger(element, &ledger);
    return ledger.written;
}

static int record_write(thread_commits *c)
{
    return pastset_write(c->element, c->record, record_bytes(c->kept_count),
                         PASTSET_NOWAIT, NULL);
}

/* --- committing --- */

int paths_commit(paths_thread *self, uint64_t step)
{
    thread_commits *c = &self->commits;

    if (!c->element)
        return 0;
    if (step <= c->record[0])
        return pastset_fail(PASTSET_EINVAL,
                            "thread %s: commits step %" PRIu64
                            " after step %" PRIu64 ": steps go up, from 1",
                            self->node->name, step, c->record[0]);
    c->record[0] = step;
    for (uint32_t i = 0; i < c->kept_count; i++) {
        uint64_t *begin = &c->record[1 + 2 * i], *end = begin + 1;
        uint64_t now = written(c->kept[i]);
        if (now != *end) {
            *begin = *end;
            *end = now;
        }
    }
    PASTSET_POINT("commit.before");
    return record_write(c);
}

uint64_t paths_restored(const paths_thread *self)
{
    return self->commits.restored;
}

/* --- going back --- */

/* The record of a step. Errors: PASTSET_ENOENT: there is none. */
static int record_find(pastset_element *from, uint64_t step, uint64_t *record,
                       uint32_t kept)
{
    pastset_cursor cursor = {0};
    size_t bytes = record_bytes(kept);
    int err = 0;

    if (pastset_element_type(from)->max_bytes != bytes)
        return pastset_fail(PASTSET_EFORMAT, "element \"%s\" is of another map",
                            pastset_element_name(from));
    while (!err && record[0] != step) {
        size_t room = bytes;
        err = pastset_read_next(from, &cursor, record, &room, PASTSET_NOWAIT);
    }
    return err == PASTSET_EAGAIN ? PASTSET_ENOENT : err;
}

/* Copies what there is of an element up to `end`, and says in the record where
 * it is now. */
static int kept_restore(pastset_element *from, pastset_element *to,
                        uint64_t *begin, uint64_t *end)
{
    pastset_cursor cursor = {0};
    size_t capacity = pastset_element_type(to)->max_bytes;
    uint64_t first = UINT64_MAX;
    void *tuple;
    int err = 0;

    if (!pastset_type_equal(pastset_element_type(from),
                            pastset_element_type(to)))
        return pastset_fail(PASTSET_EFORMAT, "element \"%s\" is of another map",
                            pastset_element_name(from));
    if (*begin > *end)
        return pastset_fail(PASTSET_EFORMAT,
                            "what is said of element \"%s\" is damaged",
                            pastset_element_name(from));
    tuple = malloc(capacity + 1);
    if (!tuple)
        return pastset_no_memory("for what a thread keeps");
    while (!err && cursor.next < *end) {
        size_t bytes = capacity;
        err = pastset_read_next(from, &cursor, tuple, &bytes, PASTSET_NOWAIT);
        if (err || cursor.next > *end)
            break;
        if (first == UINT64_MAX)
            first = cursor.next - 1;
        err = pastset_write(to, tuple, bytes, PASTSET_NOWAIT, NULL);
    }
    free(tuple);
    if (err && err != PASTSET_EAGAIN)
        return err;
    if (*begin < *end && first > *begin)
        return pastset_fail(
            PASTSET_ENOENT,
            "element \"%s\" has no room for so many steps: give it a larger "
            "capacity, or see to it that threads are not so far apart",
            pastset_element_name(to));
    *begin = written(to) - (*end - *begin);
    *end = written(to);
    return 0;
}

static int thread_restore(paths_thread *thread, pastset_space *before,
                          uint64_t step)
{
    thread_commits *c = &thread->commits;
    char name[NAME_BYTES];
    pastset_element *from;
    int err;

    name_make(name, thread->number);
    from = pastset_space_find(before, name);
    err = from ? record_find(from, step, c->record, c->kept_count)
               : PASTSET_ENOENT;
    if (err == PASTSET_ENOENT)
        pastset_fail(err, "what it had kept then is not there any more");
    for (uint32_t i = 0; i < c->kept_count && !err; i++) {
        from = pastset_space_find(before, pastset_element_name(c->kept[i]));
        err = from ? kept_restore(from, c->kept[i], &c->record[1 + 2 * i],
                                  &c->record[2 + 2 * i])
                   : pastset_fail(PASTSET_ENOENT,
                                  "element \"%s\" is not there any more",
                                  pastset_element_name(c->kept[i]));
    }
    PASTSET_POINT("commit.restored");
    if (!err)
        err = record_write(c);
    c->restored = step;
    return err ? pastset_fail_while(err,
                                    "thread %s cannot go back to step %" PRIu64,
                                    thread->node->name, step)
               : 0;
}

int paths__commits_make(paths_process *process, const char *before,
                        uint64_t step)
{
    pastset_space *space = NULL;
    int err = 0;

    if (!paths_map_restarts(process->map))
        return 0;
    for (uint32_t i = 0; i < process->thread_count && !err; i++) {
        err = kept_find(&process->threads[i]);
        if (!err)
            err = commits_create(&process->threads[i]);
    }
    if (!err && step)
        err = pastset_space_open(&space, before);
    for (uint32_t i = 0; i < process->thread_count && !err && space; i++)
        err = thread_restore(&process->threads[i], space, step);
    pastset_space_close(space);
    return err;
}

void paths__commits_fini(paths_thread *thread)
{
    free(thread->commits.kept);
    free(thread->commits.record);
}

/* --- for whoever starts it again --- */

static int thread_committed(uint64_t *step, pastset_space *space,
                            uint64_t thread)
{
    char name[NAME_BYTES];
    pastset_element *element;
    uint64_t *record;
    size_t bytes;
    int err;

    *step = 0;
    name_make(name, (uint32_t)thread);
    element = pastset_space_find(space, name);
    if (!element)
        return 0;
    bytes = pastset_element_type(element)->max_bytes;
    record = calloc(1, bytes + sizeof(*record));
    if (!record)
        return pastset_no_memory("for what a thread keeps");
    err = pastset_read_last(element, record, &bytes, PASTSET_NOWAIT, NULL);
    if (!err)
        *step = record[0];
    free(record);
    return err == PASTSET_EAGAIN ? 0 : err;
}

int paths_process_committed(uint64_t *step, const paths_map *map,
                            const char *process, const char *space_file)
{
    uint32_t self = paths_map_find_process(map, process);
    pastset_space *space;
    int err = pastset_space_open(&space, space_file);

    *step = 0;
    if (err == PASTSET_ENOENT)
        return 0;
    if (err)
        return err;
    *step = UINT64_MAX;
    for (uint32_t i = 0; i < map->node_count && !err; i++) {
        const paths_map_node *node = &map->nodes[i];
        uint64_t number = 0, committed = 0;
        if (node->kind != PATHS_THREAD || node->process != self)
            continue;
        err = paths_node_number(map, node, "number", 0, &number);
        if (!err)
            err = thread_committed(&committed, space, number);
        *step = committed < *step ? committed : *step;
    }
    pastset_space_close(space);
    return err;
}
