/* executor.c - notes of what each executor is in; see executor.h.
 *
 * Only an executor itself appends to its element, so that a note costs a stamp
 * and 64 bytes. It is made where a thread is about to make a system call
 * anyway, or has looked at a gate for long in vain; the loop makes one for each
 * request, and one when it has nothing more to do. */
#include "paths/engine/executor.h"

#include <stdio.h>
#include <string.h>

#include "paths/engine/process_internal.h"
#include "pastset/append.h"

#define NAME_STEM "~executor."
/* Of an executor: enough that a reader is seldom overtaken. */
#define NOTES 15

_Thread_local executor *paths__current;
extern _Thread_local uint32_t paths__executor_number; /* for wrapper.h */
_Thread_local uint32_t paths__executor_number;

void paths__current_set(executor *e)
{
    paths__current = e;
    paths__executor_number = e ? e->number : 0;
}

static const char *const activity_names[PATHS_ACTIVITIES] = {
    [PATHS_STARTING] = "starting", [PATHS_COMPUTING] = "computing",
    [PATHS_WAITING] = "waiting",   [PATHS_CONNECTING] = "connecting",
    [PATHS_RUNNING] = "running",   [PATHS_ENDED] = "ended",
};

const char *paths_activity_name(uint32_t activity)
{
    return activity < PATHS_ACTIVITIES ? activity_names[activity] : "?";
}

static void name_make(char out[PASTSET_NAME_BYTES], uint32_t number)
{
    snprintf(out, PASTSET_NAME_BYTES, NAME_STEM "%u", number);
}

/* --- reading --- */

static int read_last(pastset_space *space, uint32_t number,
                     paths_executor_note *out, pastset_element **from,
                     uint64_t *index)
{
    char name[PASTSET_NAME_BYTES];
    size_t bytes = sizeof(*out);
    pastset_element *element;
    int err;

    name_make(name, number);
    *from = element = pastset_space_find(space, name);
    if (!element)
        return pastset_fail(PASTSET_ENOENT, "there is no element %s", name);
    if (strcmp(pastset_element_type(element)->text, PATHS_EXECUTOR_TYPE) != 0)
        return pastset_fail(
            PASTSET_EFORMAT, "%s: its tuples are \"%s\", not \"%s\"", name,
            pastset_element_type(element)->text, PATHS_EXECUTOR_TYPE);
    err = pastset_read_last(element, out, &bytes, PASTSET_NOWAIT, index);
    if (err == PASTSET_EAGAIN)
        return pastset_fail(PASTSET_ENOENT, "%s: no note yet", name);
    if (!err && out->activity >= PATHS_ACTIVITIES)
        err = pastset_fail(PASTSET_EFORMAT, "%s: %u is not an activity", name,
                           out->activity);
    return err;
}

int paths_executor_read(pastset_space *space, uint32_t number,
                        paths_executor_note *out)
{
    pastset_element *element;
    uint64_t index;

    return read_last(space, number, out, &element, &index);
}

/* Of a note that is being made, parts may be the newest; those of one that was
 * made meanwhile are not read. */
#define TRIES 100

int paths_executor_read_parts(pastset_space *space, uint32_t number,
                              paths_executor_note *out,
                              paths_executor_note parts[PATHS_NOTE_PARTS],
                              uint32_t *count)
{
    pastset_element *element;
    uint64_t index;
    int err = 0;

    for (int i = 0; i < TRIES; i++) {
        *count = 0;
        err = read_last(space, number, out, &element, &index);
        if (err || (!(out->flags & PATHS_NOTE_PART) && out->parts == 0))
            return err;
        if (out->flags & PATHS_NOTE_PART || out->parts > PATHS_NOTE_PARTS ||
            out->parts > index)
            continue;
        while (*count < out->parts) {
            size_t bytes = sizeof(*parts);
            if (pastset_read(element, index - out->parts + *count,
                             &parts[*count], &bytes, PASTSET_NOWAIT))
                break;
            ++*count;
        }
        if (*count == out->parts)
            return 0;
    }
    *count = 0;
    out->activity = PATHS_COMPUTING;
    return 0;
}

/* --- making --- */

static void append(const executor *e, const paths_executor_note *note)
{
    unsigned char *slot;

    /* What threads were in when the run failed is what matters then, and not
     * that they have come back from it because it did. */
    if (atomic_load_explicit(&e->process->failed, memory_order_relaxed))
        return;
    slot = pastset_append_begin(e->notes);
    if (slot) {
        pastset_append_store(slot, note, sizeof(*note));
        pastset_append_end(e->notes);
    } else { /* somebody in this process waits for it */
        pastset_write(pastset_appender_element(e->notes), note, sizeof(*note),
                      PASTSET_NOWAIT, NULL);
    }
}

static paths_executor_note blank(const executor *e, paths_activity activity)
{
    uint64_t now = e->process->ticks();

    return (paths_executor_note){
        .since = now,
        .at = now,
        .thread = e->thread ? e->thread->number : PATHS_NONE,
        .first = PATHS_NONE,
        .stage = PATHS_NONE,
        .peer = PATHS_NONE,
        .peer_thread = PATHS_NONE,
        .under_way = e->thread ? e->thread->under_way : 0,
        .activity = (uint16_t)activity,
    };
}

static void tell(paths_executor_note *note, const operation *o,
                 const paths_stage *at)
{
    const uint32_t *numbers = at->process->numbers;

    note->thread = o->op.thread;
    note->sequence = o->op.sequence;
    note->stage = numbers[at->node];
    if (o->path)
        note->first = numbers[o->path->first->node];
}

/* Of one that its home has let go of it may look at what does not change only:
 * whoever has it moves it on, and may have it carry a round. */
static void tell_own(paths_executor_note *note, const operation *o)
{
    tell(note, o, o->left ? o->let_go : o->stage);
    note->verb = (uint16_t)o->arguments->verb;
    note->bytes = (uint32_t)o->arguments->bytes;
}

void paths__executor_waits(executor *e, const operation *o)
{
    paths_executor_note note;

    if (!e->notes)
        return;
    note = blank(e, PATHS_WAITING);
    tell_own(&note, o);
    if (o->asynchronous)
        note.since = o->begun;
    else if (e->noted && e->noted_sequence == o->op.sequence)
        note.since = e->noted_since; /* now at another stage */
    append(e, &note);
    e->noted = true;
    e->noted_sequence = o->op.sequence;
    e->noted_since = note.since;
}

void paths__executor_connects(executor *e, uint32_t to)
{
    paths_executor_note note;

    if (!e->notes)
        return;
    note = blank(e, PATHS_CONNECTING);
    note.peer = 0;
    for (uint32_t i = 0; i < e->process->process_count; i++)
        note.peer += strcmp(process_name(e->process, i),
                            process_name(e->process, to)) < 0;
    append(e, &note);
    e->noted = true;
    e->noted_sequence = 0;
}

void paths__executor_runs(executor *e, const operation *o)
{
    paths_executor_note note;

    if (!e->notes)
        return;
    note = blank(e, PATHS_RUNNING);
    tell(&note, o, o->rising ? o->route[o->depth].stage : o->stage);
    note.verb = o->op.verb;
    note.bytes = (uint32_t)o->op.bytes;
    append(e, &note);
    e->noted = true;
}

void paths__executor_is(executor *e, paths_activity activity)
{
    const operation *oldest = e->thread ? e->thread->oldest : NULL;
    paths_executor_note note;

    e->noted = false;
    if (!e->notes)
        return;
    note = blank(e, activity);
    if (oldest) {
        tell_own(&note, oldest);
        note.since = oldest->begun;
    }
    append(e, &note);
}

static int notes_make(paths_process *process, executor *e, uint32_t number)
{
    char name[PASTSET_NAME_BYTES];
    pastset_type type;
    pastset_element_options options = {.name = name,
                                       .type = &type,
                                       .policy = PASTSET_DISCARD,
                                       .capacity = NOTES,
                                       .single_writer = true,
                                       .prefault = true};
    pastset_element *element;
    int err = pastset_type_parse(&type, PATHS_EXECUTOR_TYPE);

    name_make(name, number);
    if (!err)
        err = pastset_element_create(&element, process->space, &options);
    if (err)
        return err;
    e->notes = pastset_element_appender(element);
    paths__executor_is(e, PATHS_STARTING);
    return 0;
}

int paths__executors_make(paths_process *process)
{
    int err;

    if (!process->ticks)
        return 0;
    err = notes_make(process, &process->loop_executor, 0);
    for (uint32_t i = 0; i < process->thread_count && !err; i++)
        err = notes_make(process, &process->threads[i].executor, i + 1);
    return err;
}
