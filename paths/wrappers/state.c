/* state.c - memory for the state of stages; and the state of a wrapper type
 * that all of its stages on a process share.
 *
 * That is made with the first of these stages, so only for types of which the
 * process has any, and given back after all stages. */
#include <stdlib.h>
#include <string.h>

#include "paths/engine/process_internal.h"

struct type_state {
    const paths_wrapper_type *type;
    type_state *next;
    void *state; /* NULL: the type has none, only functions */
};

void *paths__state_alloc(size_t bytes)
{
    size_t whole = (bytes + 63) / 64 * 64;
    void *state = aligned_alloc(64, whole);

    return state ? memset(state, 0, whole) : NULL;
}

static void *context_of(const paths_process *process, const char *type)
{
    const paths_wrapper_context *c = process->contexts;

    while (c && c->type && strcmp(c->type, type) != 0)
        c++;
    return c ? c->context : NULL;
}

static int no_memory(const paths_wrapper_type *type)
{
    return pastset_no_memory("for wrapper type \"%s\"", type->name);
}

static void type_state_destroy(type_state *s)
{
    free(s->state);
    free(s);
}

static int type_state_create(type_state **out, paths_process *process,
                             const paths_wrapper_type *type)
{
    type_state *s = calloc(1, sizeof(*s));
    int err = 0;

    *out = NULL;
    if (!s)
        return no_memory(type);
    s->type = type;
    if (type->process_bytes) {
        s->state = paths__state_alloc(type->process_bytes);
        if (!s->state)
            err = no_memory(type);
    }
    if (!err && type->process_init)
        err = type->process_init(s->state, process,
                                 context_of(process, type->name));
    if (err) {
        type_state_destroy(s);
        return pastset_fail_while(err, "wrapper type \"%s\"", type->name);
    }
    *out = s;
    return 0;
}

int paths__type_state_get(paths_process *process,
                          const paths_wrapper_type *type, void **out)
{
    type_state *s = process->type_states;
    int err;

    *out = NULL;
    if (!type->process_bytes && !type->process_init && !type->process_fini)
        return 0;
    while (s && s->type != type)
        s = s->next;
    if (!s) {
        err = type_state_create(&s, process, type);
        if (err)
            return err;
        s->next = process->type_states;
        process->type_states = s;
    }
    *out = s->state;
    return 0;
}

void paths__type_states_fini(paths_process *process)
{
    while (process->type_states) {
        type_state *s = process->type_states;
        process->type_states = s->next;
        if (s->type->process_fini)
            s->type->process_fini(s->state, process);
        type_state_destroy(s);
    }
}
