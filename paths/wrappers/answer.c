/* answer.c - what the stages of all source types have, beside what their own
 * type does: the type of their answers, room for one, and the refusal of what
 * they pass. */
#include <stdlib.h>

#include "paths/engine/process_internal.h"

static const paths_map_node *node_of(const paths_stage *stage)
{
    return &stage->process->map->nodes[stage->node];
}

/* Stands below a source, where it would be an element's turn. */
static int refuse_down(paths_stage *stage, paths_operation *op, uint64_t *note)
{
    (void)note;
    return pastset_fail(
        PASTSET_EINVAL, "source \"%s\" (%s) does not support %s",
        node_of(stage)->name, stage->type->name, pastset_verb_name(op->verb));
}

static bool is_tuple_of(const pastset_type *type, size_t bytes)
{
    return type->variable ? bytes <= type->max_bytes : bytes == type->max_bytes;
}

static int refuse_bytes(const paths_stage *stage, size_t bytes)
{
    return pastset_fail(PASTSET_ETYPE,
                        "source \"%s\" has type \"%s\": a tuple of %zu "
                        "bytes does not fit",
                        node_of(stage)->name, stage->answers->text, bytes);
}

/* A read is answered, unless the source says otherwise. */
int paths__answer_check(operation *o)
{
    const paths_stage *stage = o->stage;

    if (brings_tuple(&o->op))
        return 0;
    if (!o->answered)
        return pastset_fail(PASTSET_ETYPE,
                            "source \"%s\" (%s) completed a %s without an "
                            "answer",
                            node_of(stage)->name, stage->type->name,
                            pastset_verb_name(o->op.verb));
    if (o->op.bytes > o->answer_bytes ||
        !is_tuple_of(stage->answers, o->op.bytes))
        return refuse_bytes(stage, o->op.bytes);
    return 0;
}

static int answer_down(paths_stage *stage, paths_operation *op, uint64_t *note)
{
    operation *o = operation_of(op);
    int r;

    o->answered = false;
    r = stage->type->down ? stage->type->down(stage, op, note) : PATHS_PASS;
    return r == 0 ? paths__answer_check(o) : r; /* held: it may be gone */
}

int paths__source_init(paths_stage *stage)
{
    const paths_map_node *node = node_of(stage);
    const char *type = paths_node_get(node, "type");
    int err;

    stage->answers = malloc(sizeof(*stage->answers));
    stage->next = malloc(sizeof(*stage->next));
    if (!stage->answers || !stage->next)
        return pastset_no_memory("for stage \"%s\"", node->name);
    *stage->next = (paths_stage){.down = refuse_down,
                                 .type = stage->type,
                                 .process = stage->process,
                                 .node = stage->node};
    stage->down = answer_down;
    err = pastset_type_parse(stage->answers, type ? type : "");
    return err ? pastset_fail_while(err, "source \"%s\"", node->name) : 0;
}

void paths__source_fini(paths_stage *stage)
{
    free(stage->answers);
    free(stage->next);
}

int paths_answer_room(paths_operation *op, size_t bytes, void **out)
{
    operation *o = operation_of(op);
    const pastset_type *type = o->stage->answers;
    const char *name = node_of(o->stage)->name;

    *out = NULL;
    if (brings_tuple(op))
        return pastset_fail(PASTSET_EINVAL, "\"%s\": a %s has no answer", name,
                            pastset_verb_name(op->verb));
    if (type && !is_tuple_of(type, bytes))
        return refuse_bytes(o->stage, bytes);
    if (bytes > op->bytes)
        return pastset_fail(PASTSET_EROOM,
                            "\"%s\": a tuple of %zu bytes, but room for %zu",
                            name, bytes, op->bytes);
    if (o->capacity && !o->capacity(o, bytes))
        return pastset_fail(PASTSET_ENOMEM,
                            "\"%s\": no memory for its tuple of %zu bytes",
                            name, bytes);
    op->bytes = o->answer_bytes = bytes;
    o->answered = true;
    *out = op->tuple;
    return 0;
}
